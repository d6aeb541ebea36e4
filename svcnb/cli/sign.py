"""Command ``svcnb sign``, which signs the typed data of a ChainSecured flow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples, show
from svcnb.cli._service import base_url_option, read_secret

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary

SECRET_BYTES = 32
_UINT256 = click.IntRange(0, (1 << 256) - 1)
FLOWS = {
    "create-wallet": "CreateWallet",
    "convert-account": "ConvertAccount",
    "add-usage-api-key": "AddUsageApiKey",
    "billing-auth": "BillingAuth",
}


@click.command("sign", epilog=examples("svcnb sign create-wallet --wallet-key-file owner.key"))
@click.argument("flow", metavar="FLOW", type=click.Choice(list(FLOWS)))
@click.option(
    "--wallet-key-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="File that contains the wallet's private key in hex. Use - for standard input.",
)
@click.option("--chain-id", type=_UINT256, help="The node's chain id. Default: read from the service.")
@click.option(
    "--issued-at",
    type=_UINT256,
    metavar="SECONDS",
    help=("Time of the signature, in Unix seconds. Default: the service's current time."),
)
@base_url_option
def command(
    flow: str, wallet_key_file: Path, chain_id: int | None, issued_at: int | None, base_url: str | None
) -> None:
    """Sign the typed data of a ChainSecured flow.

    FLOW is create-wallet, convert-account, add-usage-api-key or billing-auth. The command prints address, typed_data
    and signature as JSON for the endpoint of the flow. A signature is valid only for its own flow, from 300 seconds
    before to 300 seconds after the time in the typed data (--issued-at). With --chain-id and --issued-at, the command
    sends no request to a service.
    """
    from svcnb.client.config import vocabulary as configured
    from svcnb.protocol.signature import sign_digest
    from svcnb.protocol.typed_data import envelope, envelope_digest, flow_of

    if chain_id is None or issued_at is None:
        seen_chain, seen_time, words = _ask(base_url)
        chain_id = seen_chain if chain_id is None else chain_id
        issued_at = seen_time if issued_at is None else issued_at
    else:
        words = configured()
    wanted = flow_of(FLOWS[flow])
    secret, address = _wallet(read_secret(wallet_key_file))
    digest = envelope_digest(wanted, address, chain_id, issued_at, vocabulary=words)
    typed_data = envelope(wanted, address, chain_id, issued_at, vocabulary=words)
    signature = f"0x{sign_digest(digest, secret).hex()}"
    show({"address": address, "typed_data": typed_data, "signature": signature}, as_json=True)


def _ask(base_url: str | None) -> tuple[int, int, Vocabulary]:
    """Returns the chain id, the time and the vocabulary of the service."""
    from svcnb.client import Client

    with Client(base_url) as service:
        return int(service.node.chain_config().chain_id), int(service.now()), service.vocabulary


def _wallet(text: str) -> tuple[bytes, str]:
    """Parses a private key in hex. Returns its 32 bytes, and the address of the wallet."""
    from svcnb.protocol.hashes import checksum_address
    from svcnb.protocol.signature import address_of_secret

    secret = _bytes_of(text)
    if secret is None or len(secret) != SECRET_BYTES:
        raise click.BadParameter(
            "invalid private key: expected 64 hex digits, with or without 0x", param_hint="--wallet-key-file"
        )
    try:
        return secret, checksum_address(address_of_secret(secret))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--wallet-key-file") from None


def _bytes_of(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:  # the original message would contain the key
        return None
