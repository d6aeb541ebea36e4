"""Making accounts, and looking whether one exists."""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import Final

from svcnb.emulator.access.guards import KEY_PRESENT, identify
from svcnb.emulator.access.rate import NEW_ACCOUNT_RATE
from svcnb.emulator.accounts.relay import write
from svcnb.emulator.errors import ServiceError, StructuredError, Unavailable
from svcnb.emulator.http.endpoint import API, Call, Endpoint
from svcnb.emulator.keys.secp import address_of
from svcnb.protocol.hashes import key_hash
from svcnb.protocol.wire.accounts import NewAccountRequest, NewAccountResponse

_LOG = logging.getLogger(__name__)
_TAG: Final = "Account"
_ATTEMPTS: Final = 3
_UNAUTHORIZED: Final = 401
MASTER_WALLET_NAME: Final = "AMW"
MASTER_WALLET_DESCRIPTION: Final = "Account Master Wallet"


def endpoints() -> list[Endpoint]:
    """The rows of this noun."""
    return [
        Endpoint(
            "POST",
            f"{API}/new_account",
            new_account,
            request=NewAccountRequest,
            response=NewAccountResponse,
            guards=(NEW_ACCOUNT_RATE,),
            errors=frozenset({400}),
            tag=_TAG,
        ),
        Endpoint("GET", f"{API}/account_exists", account_exists, response=bool, guards=(KEY_PRESENT,), tag=_TAG),
    ]


async def new_account(call: Call, body: NewAccountRequest) -> NewAccountResponse:
    """Creates an account and shows its key, this once.

    The account is a wallet: the key is the base64 of its secret, and the wallet is registered as the Account Master
    Wallet. Takes as long as two transactions.
    """
    service = call.service
    await service.faults.check("chain")
    path = service.custody.new_path()
    secret = service.custody.wallet_secret(path)
    address = address_of(secret)
    api_key = base64.b64encode(secret).decode()
    hashed = key_hash(api_key)
    await write(call, "newAccount", hashed, True, body.account_name, body.account_description or "", address)  # noqa: FBT003 - the contract's arguments have no names
    await _register_master_wallet(call, hashed, address, path)
    try:
        await service.processor.ensure_customer(address, body.email or None)
    except ServiceError:
        # Best effort (reference facts 2.2): the customer is made at the first payment otherwise.
        _LOG.warning("no customer at the payment processor for %s yet", address, exc_info=True)
    if service.settings.starter_credits and service.settings.billing_enabled:
        await service.ledger.starter_credit(address, service.settings.starter_credits)
    return NewAccountResponse(api_key=api_key, wallet_address=address)


async def _register_master_wallet(call: Call, hashed: int, address: str, path: int) -> None:
    # An account without its wallet must not stay behind when the chain stumbles between the two writes.
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            await write(
                call, "registerWalletDerivation", hashed, address, path, MASTER_WALLET_NAME, MASTER_WALLET_DESCRIPTION
            )
        except Unavailable:
            if attempt == _ATTEMPTS:
                raise
            await asyncio.sleep(0.1 * attempt)
        else:
            return


async def account_exists(call: Call, _given: None) -> bool:
    """Tells whether the key resolves to an account that the service may manage.

    False for an unknown key, and for a ChainSecured account.
    """
    try:
        caller = await identify(call)
    except StructuredError as error:
        if error.status != _UNAUTHORIZED:
            raise
        return False
    return caller.managed
