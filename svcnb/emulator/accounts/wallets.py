"""Wallets that the service keeps."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.access.guards import FUNDED, KEY
from svcnb.emulator.accounts.relay import write
from svcnb.emulator.http.endpoint import API, Call, Endpoint
from svcnb.emulator.keys.secp import address_of
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS
from svcnb.protocol.wire.wallets import CreateWalletResponse

_TAG: Final = "Wallets"
NAME: Final = "Wallet"


def endpoints() -> list[Endpoint]:
    """The rows of this noun."""
    path = f"{API}/create_wallet"
    row = Endpoint(
        "POST",
        path,
        create_wallet,
        response=CreateWalletResponse,
        guards=(KEY, FUNDED),
        price_cents=MANAGEMENT_COST_CENTS,
        errors=frozenset({400, 403}),
        tag=_TAG,
    )
    old = Endpoint(
        "GET",
        path,
        create_wallet,
        response=CreateWalletResponse,
        guards=(KEY, FUNDED),
        price_cents=MANAGEMENT_COST_CENTS,
        errors=frozenset({400, 403}),
        headers={"Deprecation": "true", "Link": f'<{path}>; rel="successor-version"'},
        deprecated=True,
        tag=_TAG,
    )
    return [row, old]


async def create_wallet(call: Call, _given: None) -> CreateWalletResponse:
    """Creates a wallet in the account. A usage key needs can_create_pkps."""
    custody = call.service.custody
    path = custody.new_path()
    address = address_of(custody.wallet_secret(path))
    await write(call, "registerWalletDerivation", call.caller.key_hash, address, path, NAME, NAME)
    return CreateWalletResponse(wallet_address=address)
