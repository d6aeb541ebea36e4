"""Command ``svcnb account``, which creates, checks, converts, transfers and audits accounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._service import (
    ask_secret,
    name_of,
    new_key_file,
    print_secret,
    read_secret,
    save_option,
    with_service,
)
from svcnb.errors import InvalidArgument

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.signing import Signer


@click.group("account", cls=CommandGroup)
def command() -> None:
    """Create, check, convert, transfer and audit accounts."""


def _wallet_options(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    file = click.option(
        "--wallet-key-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        required=required,
        help="File that contains the wallet's private key, in hex or as an encrypted key file. Use - for standard "
        "input.",
    )
    contract = click.option(
        "--contract-wallet",
        metavar="ADDRESS",
        help="Address of a contract wallet. The key file then contains the key of the owner of that wallet.",
    )
    return lambda function: file(contract(function))


def with_wallet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds ``--wallet-key-file`` and ``--contract-wallet``, and passes a signer to the command."""

    @_wallet_options(required=True)
    @wraps(function)
    def inner(*given: Any, wallet_key_file: Path, contract_wallet: str | None, **options: Any) -> Any:
        return function(*given, owner=_signer(wallet_key_file, contract_wallet), **options)

    return inner


@command.command(
    "create",
    epilog=examples(
        "svcnb account create demo --save demo.key",
        "svcnb account create treasury --chain-secured --wallet-key-file owner.key",
    ),
)
@click.argument("name")
@click.option("--description", default="", help="Description of the account.")
@click.option("--email", help="E-mail address for the payment processor.")
@click.option(
    "--chain-secured",
    is_flag=True,
    help="Create an account that a wallet owns. Requires --wallet-key-file, and ETH for gas in this wallet.",
)
@_wallet_options(required=False)
@save_option
@output_options
@with_service
def create(
    service: Client,
    name: str,
    description: str,
    email: str | None,
    chain_secured: bool,
    wallet_key_file: Path | None,
    contract_wallet: str | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Create an account with the name NAME, and print its key. The command shows the key only once.

    The command is free. On a live service, it takes about 15 seconds, because the service waits for two transactions.
    With --chain-secured, the account has no key: the wallet owns the account and pays the gas.
    """
    if not chain_secured:
        if wallet_key_file is not None or contract_wallet is not None:
            raise click.UsageError(
                "--wallet-key-file and --contract-wallet require --chain-secured: add --chain-secured, or omit "
                "these options"
            )
        with new_key_file(save) as into:
            account = service.accounts.create(name, description=description, email=email)
            beside = {"wallet_address": account.wallet_address}
            print_secret("api_key", account.api_key.reveal(), as_json=as_json, beside=beside, into=into)
        return
    if save is not None:
        raise click.UsageError("--save saves a key, but a ChainSecured account has no key: omit --save")
    if wallet_key_file is None:
        raise click.UsageError(
            "--chain-secured requires a wallet that will own the account: pass a file with the private key of this "
            "wallet, for example --wallet-key-file owner.key"
        )
    owner = _signer(wallet_key_file, contract_wallet)
    mine = service.chain_secured.create(owner, name, description=description)
    show({"owner": owner.address, "api_key_hash": mine.api_key_hash}, as_json=as_json)


@command.command("exists")
@output_options
@click.pass_context
@with_service
def exists(service: Client, ctx: click.Context, as_json: bool) -> None:
    """Check whether the key belongs to an account in API mode.

    The exit code is 1 for an unknown key, and for a key of a ChainSecured account.
    """
    found = service.accounts.exists()
    show({"exists": found} if as_json else ("yes" if found else "no"), as_json=as_json)
    if not found:
        ctx.exit(1)


@command.command("convert", epilog=examples("svcnb account convert --key-file demo.key --wallet-key-file owner.key"))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@output_options
@with_wallet
@with_service
def convert(service: Client, owner: Signer, yes: bool, as_json: bool) -> None:
    """Convert the account of the key to ChainSecured: a wallet then owns the account. The conversion is irreversible.

    The command shows the consequences and requests confirmation.
    """
    mine = _confirmed(lambda confirm: service.accounts.convert(owner, confirm=confirm), yes=yes)
    show({"owner": owner.address, "api_key_hash": mine.api_key_hash}, as_json=as_json)


@command.command("transfer", epilog=examples("svcnb account transfer 0x93ab... --wallet-key-file owner.key"))
@click.argument("to", metavar="ADDRESS")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@output_options
@with_wallet
@with_service
def transfer(service: Client, to: str, owner: Signer, yes: bool, as_json: bool) -> None:
    """Transfer the ChainSecured account of a wallet to the wallet at ADDRESS, irreversibly.

    The command shows the consequences and requests confirmation. The current owner cannot get the account back.
    """
    mine = service.chain_secured.open(owner)
    handed = _confirmed(lambda confirm: mine.transfer_ownership(to, confirm=confirm), yes=yes)
    show(handed, as_json=as_json)


@command.command("audit")
@click.argument("api_key_hash", metavar="HASH")
@output_options
@with_service
def audit(service: Client, api_key_hash: str, as_json: bool) -> None:
    """List all changes of an account, oldest first. HASH is the hash of the account key (api_key_hash).

    The chain is public, so the command needs no key and no wallet.
    """
    entries = service.chain_secured.look(api_key_hash).audit()
    show(entries if as_json else [entry.summary() for entry in entries], as_json=as_json)


def _confirmed(work: Callable[[bool], Any], *, yes: bool) -> Any:
    from svcnb.client.errors import NotConfirmed

    if not yes:
        try:
            return work(False)  # noqa: FBT003 - `work` has only this argument
        except NotConfirmed as error:
            click.echo(error.message.replace(_PYTHON, "This command", 1) + ":", err=True)
            for sentence in error.consequences:
                click.echo(f"- {sentence}", err=True)
            click.confirm("Continue?", abort=True, err=True)
    return work(True)  # noqa: FBT003 - `work` has only this argument


_PYTHON: Final = "this call requires confirm=True, because it"
"""First words of `NotConfirmed.message`. A command replaces them, because it has ``--yes`` instead of ``confirm``."""


def _signer(file: Path, contract_wallet: str | None) -> Signer:
    from svcnb.client.errors import SigningError
    from svcnb.client.signing import ContractWallet, LocalSigner

    text = read_secret(file)
    try:
        if text.startswith("{"):
            owner = LocalSigner.from_json(text, ask_secret("Password of the key file"), name=name_of(file))
        else:
            owner = LocalSigner.from_key(text)
        return owner if contract_wallet is None else ContractWallet(contract_wallet, owner)
    except SigningError as error:  # the options are invalid, and nothing was signed
        raise InvalidArgument(error.message, hint=error.hint) from None
