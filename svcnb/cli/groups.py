"""Command ``svcnb groups``, which manages groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._service import with_service
from svcnb.cli.actions import cid_or_file

if TYPE_CHECKING:
    from svcnb.client import Client


@click.group("groups", cls=CommandGroup)
def command() -> None:
    """Manage groups, which define the actions and wallets that keys can use.

    ACTION is a CID or a source file, WALLET is an address, and GROUP is a number.
    """


@command.command("list")
@output_options
@with_service
def list_(service: Client, as_json: bool) -> None:
    """List the account's groups. The command is free."""
    show(service.groups.list(), as_json=as_json)


@command.command("show")
@click.argument("group")
@output_options
@with_service
def show_(service: Client, group: str, as_json: bool) -> None:
    """Show the actions and the wallets of a group. The command is free."""
    show(service.groups.contents(group), as_json=as_json)


@command.command("create", epilog=examples("svcnb groups create signers --wallet 0x93ab... --action action.js"))
@click.argument("name")
@click.option("--description", default="", help="Description of the group.")
@click.option(
    "--wallet", "wallets", multiple=True, help="Address of a wallet that the group's actions can use; repeatable."
)
@click.option(
    "--action", "actions", multiple=True, help="Action that the group permits, as a CID or a file; repeatable."
)
@output_options
@with_service
def create(
    service: Client, name: str, description: str, wallets: tuple[str, ...], actions: tuple[str, ...], as_json: bool
) -> None:
    """Create a group with the name NAME, and print its number.

    The command costs one cent, plus one cent for each action and each wallet beyond the first ten.
    """
    group = service.groups.create(
        name, description=description, wallets=list(wallets), actions=[cid_or_file(action) for action in actions]
    )
    show(group if as_json else group.id, as_json=as_json)


@command.command("delete")
@click.argument("group")
@with_service
def delete(service: Client, group: str) -> None:
    """Delete a group permanently. The service never reuses the group's number. The command costs one cent."""
    service.groups.delete(group)


command.rename("remove", delete)


@command.command("add-action", epilog=examples("svcnb groups add-action 1 action.js"))
@click.argument("group")
@click.argument("action")
@with_service
def add_action(service: Client, group: str, action: str) -> None:
    """Permit an action in a group. The command costs one cent."""
    service.groups.add_action(group, cid_or_file(action))


@command.command("remove-action")
@click.argument("group")
@click.argument("action")
@with_service
def remove_action(service: Client, group: str, action: str) -> None:
    """Remove an action from a group. The command costs one cent."""
    service.groups.remove_action(group, cid_or_file(action))


@command.command("add-wallet")
@click.argument("group")
@click.argument("wallet")
@with_service
def add_wallet(service: Client, group: str, wallet: str) -> None:
    """Permit the actions of a group to use a wallet. The command costs one cent."""
    service.groups.add_wallet(group, wallet)


@command.command("remove-wallet")
@click.argument("group")
@click.argument("wallet")
@with_service
def remove_wallet(service: Client, group: str, wallet: str) -> None:
    """Remove a wallet from a group. The command costs one cent."""
    service.groups.remove_wallet(group, wallet)
