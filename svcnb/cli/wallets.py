"""Command ``svcnb wallets``, which lists and creates wallets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svcnb.cli._output import CommandGroup, output_options, show
from svcnb.cli._service import with_service

if TYPE_CHECKING:
    from svcnb.client import Client


@click.group("wallets", cls=CommandGroup)
def command() -> None:
    """Manage wallets, whose private keys the service derives."""


@command.command("list")
@click.option("--group", help="Number of a group, to list only its wallets. Default: all wallets.")
@output_options
@with_service
def list_(service: Client, group: str | None, as_json: bool) -> None:
    """List the account's wallets. The command is free."""
    show(service.wallets.list(group), as_json=as_json)


@command.command("create")
@output_options
@with_service
def create(service: Client, as_json: bool) -> None:
    """Create a wallet and print its address. The command costs one cent."""
    wallet = service.wallets.create()
    show(wallet if as_json else wallet.address, as_json=as_json)
