"""Command ``svcnb billing``, which shows and adds credit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._service import with_service

if TYPE_CHECKING:
    from svcnb.client import Client


@click.group("billing", cls=CommandGroup)
def command() -> None:
    """Show the credit, and add credit."""


@command.command("balance")
@output_options
@with_service
def balance(service: Client, as_json: bool) -> None:
    """Print the credit that all keys of the account share. The command is free."""
    found = service.billing.balance()
    shown = {"available_cents": found.available_cents, "balance_cents": found.balance_cents}
    show(shown | {"balance_display": found.balance_display} if as_json else found.balance_display, as_json=as_json)


@command.command("top-up", epilog=examples("svcnb billing top-up 500 --method card"))
@click.argument("cents", type=int)
@click.option("--method", type=click.Choice(["card", "crypto"]), default="card", help="Payment method. Default: card.")
@output_options
@with_service
def top_up(service: Client, cents: int, method: Literal["card", "crypto"], as_json: bool) -> None:
    """Buy CENTS of credit, at least 500 cents.

    On an emulator, the command pays immediately with test money. On a live service, a person must pay. After the
    payment, `svcnb billing confirm` adds the amount to the credit.
    """
    payment = service.billing.top_up(cents, method=method)
    shown = {"status": payment.status, "amount_cents": payment.amount_cents, "payment": payment.payment_intent_id}
    if payment.balance is not None:
        shown["balance_display"] = payment.balance.balance_display
    show(shown, as_json=as_json)


@command.command("confirm")
@click.argument("payment")
@output_options
@with_service
def confirm(service: Client, payment: str, as_json: bool) -> None:
    """Add a completed payment to the credit, and print the new credit. PAYMENT is the id of the payment (pi_...)."""
    found = service.billing.confirm(payment)
    show({"balance_display": found.balance_display} if as_json else found.balance_display, as_json=as_json)
