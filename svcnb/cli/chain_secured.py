"""Command ``svcnb chain-secured``, which manages ChainSecured accounts, and creates their wallets and keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._service import new_key_file, print_usage_key, save_option, with_service
from svcnb.cli.account import audit, with_wallet

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.signing import Signer


@click.group("chain-secured", cls=CommandGroup)
def command() -> None:
    """Create, show and audit ChainSecured accounts, and create their wallets and keys.

    The wallet of --wallet-key-file owns the account, signs each change, and pays the gas on the chain.
    """


@command.command("create", epilog=examples("svcnb chain-secured create treasury --wallet-key-file owner.key"))
@click.argument("name")
@click.option("--description", default="", help="Description of the account.")
@output_options
@with_wallet
@with_service
def create(service: Client, owner: Signer, name: str, description: str, as_json: bool) -> None:
    """Create an account with the name NAME, and make the wallet its owner."""
    mine = service.chain_secured.create(owner, name, description=description)
    show({"api_key_hash": mine.api_key_hash, "owner": owner.address}, as_json=as_json)


@command.command("open", epilog=examples("svcnb chain-secured open --wallet-key-file owner.key"))
@output_options
@with_wallet
@with_service
def open_(service: Client, owner: Signer, as_json: bool) -> None:
    """Show the on-chain state of the account that the wallet owns."""
    show(service.chain_secured.open(owner).describe(), as_json=as_json)


@command.command("mint-wallet")
@click.option("--name", default="Wallet", show_default=True, help="Name of the wallet.")
@click.option("--description", default="", help="Description of the wallet.")
@output_options
@with_wallet
@with_service
def mint_wallet(service: Client, owner: Signer, name: str, description: str, as_json: bool) -> None:
    """Create a wallet in the account, and register it on the chain."""
    made = service.chain_secured.open(owner).wallets.create(name, description=description)
    show(made if as_json else made.address, as_json=as_json)


@command.command(
    "mint-key", epilog=examples("svcnb chain-secured mint-key runner --execute-in-group 1 --wallet-key-file owner.key")
)
@click.argument("name")
@click.option("--description", default="", help="Description of the usage key.")
@click.option(
    "--execute-in-group",
    "execute",
    multiple=True,
    help="Number of a group in which the key can run actions, or 0 for all groups; repeatable.",
)
@save_option
@output_options
@with_wallet
@with_service
def mint_key(
    service: Client,
    owner: Signer,
    name: str,
    description: str,
    execute: tuple[str, ...],
    save: Path | None,
    as_json: bool,
) -> None:
    """Create a usage key called NAME, register it on the chain, and print it. The command shows the key only once."""
    with new_key_file(save) as into:
        key = service.chain_secured.open(owner).usage_keys.create(
            name, description=description, execute_in_groups=list(execute)
        )
        print_usage_key(key, as_json=as_json, into=into)


@command.command("pending")
@output_options
@with_service
def pending(service: Client, as_json: bool) -> None:
    """List wallets and keys that were created but are not registered on the chain, with their ids for `resume`."""
    records = service.chain_secured.pending()
    short = [{"id": each.id, "kind": each.kind, "name": each.name, "wallet": each.wallet_address} for each in records]
    show(records if as_json else short, as_json=as_json)


@command.command("resume", epilog=examples("svcnb chain-secured resume ID --wallet-key-file owner.key"))
@click.argument("mint", metavar="ID")
@save_option
@output_options
@with_wallet
@with_service
def resume(service: Client, owner: Signer, mint: str, save: Path | None, as_json: bool) -> None:
    """Finish the interrupted creation of a wallet or usage key, without repeating completed steps.

    `svcnb chain-secured pending` shows the ID.
    """
    from svcnb.client.models.usage_keys import UsageKey

    with new_key_file(save) as into:
        made = service.chain_secured.resume(mint, owner)
        if isinstance(made, UsageKey) and made.usage_api_key is not None:
            print_usage_key(made, as_json=as_json, into=into)
            return
    show(made, as_json=as_json)


command.add_command(audit)
