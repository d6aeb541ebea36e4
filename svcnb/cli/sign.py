"""``svcnb sign``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import show
from svcnb.cli._service import read_secret

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary

SECRET_BYTES = 32
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
    help="File that holds the wallet's private key in hex; - is standard input.",
)
@click.option("--chain-id", type=int, help="The node's chain id. Default: asked of the service.")
@click.option("--issued-at", type=int, metavar="SECONDS", help="Unix seconds. Default: the service's present time.")
@click.option("--base-url", help="Address of the service, the part before /core/v1. Default: SVC_BASE_URL.")
def command(
    flow: str, wallet_key_file: Path, chain_id: int | None, issued_at: int | None, base_url: str | None
) -> None:
    """Sign the typed data of a ChainSecured flow.

    FLOW is create-wallet, convert-account, add-usage-api-key or billing-auth. Prints address, typed_data and signature
    as JSON, as the endpoint of the flow takes them. A signature is accepted for 300 seconds before and after the time
    that stands in it, and for its own flow only. With --chain-id and --issued-at nothing is asked of a service.
    """
    from svcnb.protocol.signature import sign_digest
    from svcnb.protocol.typed_data import envelope, envelope_digest, flow_of

    if chain_id is None or issued_at is None:
        seen_chain, seen_time, words = _ask(base_url)
        chain_id = seen_chain if chain_id is None else chain_id
        issued_at = seen_time if issued_at is None else issued_at
    else:
        words = _words()
    wanted = flow_of(FLOWS[flow])
    secret, address = _wallet(read_secret(wallet_key_file))
    digest = envelope_digest(wanted, address, chain_id, issued_at, vocabulary=words)
    typed_data = envelope(wanted, address, chain_id, issued_at, vocabulary=words)
    signature = f"0x{sign_digest(digest, secret).hex()}"
    show({"address": address, "typed_data": typed_data, "signature": signature}, as_json=True)


def _ask(base_url: str | None) -> tuple[int, int, Vocabulary]:
    """Chain id, time and names of the service."""
    from svcnb.client import Client

    with Client(base_url) as service:
        return int(service.node.chain_config().chain_id), int(service.now()), service.vocabulary


def _words() -> Vocabulary:
    import os

    from svcnb.protocol.vocabulary import Vocabulary

    return Vocabulary(service=os.environ.get("SVC_SERVICE_NAME") or "svc")


def _wallet(text: str) -> tuple[bytes, str]:
    """The 32 secret bytes, and the address that belongs to them."""
    from svcnb.protocol.hashes import checksum_address
    from svcnb.protocol.signature import address_of_secret

    secret = _bytes_of(text)
    if secret is None or len(secret) != SECRET_BYTES:
        raise click.BadParameter("not a private key: expected 64 hex digits.", param_hint="--wallet-key-file")
    try:
        return secret, checksum_address(address_of_secret(secret))
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--wallet-key-file") from None


def _bytes_of(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:  # its text would quote the key
        return None
