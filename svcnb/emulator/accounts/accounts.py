"""Endpoints that create an account or check whether an account exists."""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from svcnb.emulator.access.guards import KEY_PRESENT, Access
from svcnb.emulator.accounts.contract_calls import ContractCalls
from svcnb.emulator.errors import ServiceError, StructuredError, Unavailable
from svcnb.emulator.http.routing import API, Call, Endpoint, Guard
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.faults import Faults
from svcnb.emulator.platform.rate_limiter import RateLimiter
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol.hashes import key_hash
from svcnb.protocol.signature import address_of_secret
from svcnb.protocol.wire.accounts import NewAccountRequest, NewAccountResponse

if TYPE_CHECKING:
    from svcnb.emulator.billing.ledger import Ledger
    from svcnb.emulator.billing.processor import Processor

_LOG = logging.getLogger(__name__)
_TAG: Final = "Account"
_ATTEMPTS: Final = 3
_UNAUTHORIZED: Final = 401
MASTER_WALLET_NAME: Final = "AMW"
MASTER_WALLET_DESCRIPTION: Final = "Account Master Wallet"


@dataclass(frozen=True, eq=False, repr=False)
class Accounts:
    """Endpoints that create an account or check whether an account exists.

    Attributes:
        contract: Client of the contract.
        custody: Custody that derives keys.
        processor: Payment processor, which creates the customer of a new account.
        ledger: Ledger, which adds starter credits.
        access: Authentication, which finds the account of a key.
        faults: Injected faults of the chain.
        store: The database, which counts new accounts for all servers that share it.
        settings: Settings with the starter credits, and with the rate limit for new accounts per IP address.
    """

    contract: ContractCalls
    custody: Custody
    processor: Processor
    ledger: Ledger
    access: Access
    faults: Faults
    store: Store
    settings: Settings

    @cached_property
    def _limiter(self) -> RateLimiter:
        return RateLimiter("new_account", self.settings.new_account_burst, self.store)

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints ``new_account`` and ``account_exists``."""
        return [
            Endpoint(
                "POST",
                f"{API}/new_account",
                self.new_account,
                request=NewAccountRequest,
                response=NewAccountResponse,
                guards=(Guard(self._within_rate, frozenset({429})),),
                errors=frozenset({400}),
                tag=_TAG,
            ),
            Endpoint(
                "GET", f"{API}/account_exists", self.account_exists, response=bool, guards=(KEY_PRESENT,), tag=_TAG
            ),
        ]

    async def new_account(self, _call: Call, body: NewAccountRequest) -> NewAccountResponse:
        """Creates an account and returns its key, which the service never returns again.

        The service creates a wallet and registers this wallet as the Account Master Wallet. The account key is the
        private key of the wallet in base64. The call sends two transactions in sequence.
        """
        await self.faults.check("chain")
        path = self.custody.new_path()
        secret = self.custody.wallet_secret(path)
        address = address_of_secret(secret)
        api_key = base64.b64encode(secret).decode()
        hashed = key_hash(api_key)
        managed = True
        await self.contract.write(
            "newAccount", hashed, managed, body.account_name, body.account_description or "", address
        )
        await self._register_master_wallet(hashed, address, path)
        try:
            await self.processor.ensure_customer(address, body.email or None)
        except ServiceError:
            # A failure here is not an error, because the first payment creates a missing customer
            # (docs/service/endpoints.md#account-and-keys).
            _LOG.warning("the payment processor has no customer for %s yet", address, exc_info=True)
        if self.settings.starter_credits and self.settings.billing_enabled:
            await self.ledger.add_credit(
                address,
                self.settings.starter_credits,
                reason="starter credits",
                reference=address,
                kind="starter",
            )
        return NewAccountResponse(api_key=api_key, wallet_address=address)

    async def _register_master_wallet(self, hashed: int, address: str, path: int) -> None:
        # Retry the write, because the account has no wallet if the chain fails between the two writes.
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                await self.contract.write(
                    "registerWalletDerivation", hashed, address, path, MASTER_WALLET_NAME, MASTER_WALLET_DESCRIPTION
                )
            except Unavailable:
                if attempt == _ATTEMPTS:
                    raise
                await asyncio.sleep(0.1 * attempt)
            else:
                return

    async def account_exists(self, call: Call, _given: None) -> bool:
        """Returns whether the key belongs to an account that the service can manage.

        Returns false for an unknown key and for the key of a ChainSecured account.
        """
        try:
            caller = await self.access.identify(call)
        except StructuredError as error:
            if error.status != _UNAUTHORIZED:
                raise
            return False
        return caller.managed

    async def _within_rate(self, call: Call) -> None:
        """Limits how often one IP address creates accounts (docs/service/http.md#overload-and-transport)."""
        client = call.request.client
        # Use the machine's time. With a frozen emulator clock, the window of the limit would never end.
        wait_s = await self._limiter.admit(client.host if client else "", time.time())
        if wait_s is not None:
            raise StructuredError(
                429,
                f"at most {self.settings.new_account_burst} accounts per minute can be created from one IP address",
                fix="Wait for the number of seconds in Retry-After, or use an existing account.",
                headers={"Retry-After": str(math.ceil(wait_s))},
            )
