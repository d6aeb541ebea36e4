"""Command ``svcnb apply``, which changes an account to match its description file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples
from svcnb.cli._service import with_service
from svcnb.cli.plan import plan_options, triggers_of

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command("apply", epilog=examples("svcnb apply account.toml --secrets new-keys.json"))
@plan_options
@click.option(
    "--secrets",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the secrets of new keys, readable only by you. Required if the plan creates keys, or if a trigger "
    "uses a key that an earlier plan created.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_service
def command(
    service: Client,
    file: Path,
    state: Path | None,
    token_file: Path | None,
    secrets: Path | None,
    *,
    prune: bool,
    yes: bool,
) -> None:
    """Change the account to match its description file.

    The command shows the necessary changes (the plan) and their cost, requests confirmation, and makes the changes.
    After an interruption, run the command again to continue.
    """
    from svcnb.toolkit.plan import plan

    with triggers_of(token_file) as triggers:
        found = plan(service, file, state=state, prune=prune, triggers=triggers)
        click.echo(repr(found))
        if not len(found):
            return
        if not yes:
            click.confirm("Continue?", abort=True)
        found.apply(secrets=secrets)
    click.echo(f"Completed steps: {len(found)}.")
