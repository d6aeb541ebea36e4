"""Command ``svcnb actions``, which lists, registers and deletes actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._service import with_service
from svcnb.files import read_file

if TYPE_CHECKING:
    from svcnb.client import Client


def cid_or_file(text: str) -> str:
    """Returns the CID of a source file. If the text is not the path of a file, the function returns the text unchanged.

    Text with a slash or an extension must be the path of a file.
    """
    path = Path(text)
    if not path.is_file():
        if path.suffix or "/" in text:
            raise click.BadParameter(
                f"{text} is neither a CID nor a file. Pass a CID or the path of a source file.", param_hint="ACTION"
            )
        return text
    from svcnb.protocol.cid import cid

    return cid(read_file(path))


@click.group("actions", cls=CommandGroup)
def command() -> None:
    """List, register and delete actions.

    ACTION is a CID or a source file. The command computes the CID of a file locally.
    """


@command.command("list")
@click.option("--group", help="Number of a group, to list only its actions. Default: all actions.")
@output_options
@with_service
def list_(service: Client, group: str | None, as_json: bool) -> None:
    """List the actions that the account registered. The command is free."""
    show(service.actions.list(group), as_json=as_json)


@command.command("register", epilog=examples("svcnb actions register action.js --name greet"))
@click.argument("action")
@click.option("--name", required=True, help="Name of the action.")
@click.option("--description", default="", help="Description of the action.")
@output_options
@with_service
def register(service: Client, action: str, name: str, description: str, as_json: bool) -> None:
    """Register an action in the account, with a name. The command costs one cent."""
    show(service.actions.register(cid_or_file(action), name=name, description=description), as_json=as_json)


@command.command("delete")
@click.argument("action")
@with_service
def delete(service: Client, action: str) -> None:
    """Delete an action from the account and from all groups of the account. The command costs one cent.

    ACTION is a CID, a source file or a hashed CID.
    """
    service.actions.delete(cid_or_file(action))
