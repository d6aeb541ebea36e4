"""``svcnb account``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svcnb.cli._output import json_option, show
from svcnb.cli._service import tell_secret, with_service

if TYPE_CHECKING:
    from svcnb.client import Client


@click.group("account")
def command() -> None:
    """Make accounts and look at them."""


@command.command("create")
@click.argument("name")
@click.option("--description", default="", help="What it is for.")
@click.option("--email", help="Handed on to the payment processor.")
@json_option
@with_service
def create(service: Client, name: str, description: str, email: str | None, as_json: bool) -> None:
    """Make an account called NAME and print its key, this once.

    Free. On a live service the first call takes about 15 seconds, because it waits for the chain.
    """
    account = service.accounts.create(name, description=description, email=email)
    beside = {"wallet_address": account.wallet_address}
    tell_secret("api_key", account.api_key.reveal(), as_json=as_json, beside=beside)


@command.command("exists")
@json_option
@click.pass_context
@with_service
def exists(service: Client, ctx: click.Context, as_json: bool) -> None:
    """Say whether the key belongs to an account; ends with 1 if not."""
    found = service.accounts.exists()
    show({"exists": found} if as_json else ("yes" if found else "no"), as_json=as_json)
    if not found:
        ctx.exit(1)
