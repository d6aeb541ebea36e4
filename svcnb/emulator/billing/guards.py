"""Billing guards, which check the credit for a call, the access to credits and payments, and whether billing is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from svcnb.emulator.access.guards import KEY_SCHEMES, Access
from svcnb.emulator.access.wallet_auth import wallet_of_header
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.routing import Call, Guard
from svcnb.protocol.hashes import wallet_lookup_key
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS
from svcnb.protocol.wallet_auth import HEADER

if TYPE_CHECKING:
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.access.signatures import EnvelopeVerifier
    from svcnb.emulator.billing.ledger import Ledger
    from svcnb.emulator.platform.faults import Faults

WALLET_SCHEME: Final = "WalletAuth"


class BillingGuards:
    """Guards that determine the paying account and check whether billing is available.

    Args:
        access: Authentication, which finds the account of a key.
        permissions: Permission cache, which finds the account of a wallet.
        ledger: The ledger of credits.
        faults: Injected faults.
        envelopes: Verifier of the signatures in X-Wallet-Auth.
        enabled: Whether billing is enabled.

    Attributes:
        funded: Requires 1 cent of credit that no other call has reserved, and reserves this cent until the call ends.
            Does nothing if billing is disabled.
        payer: Requires any key of the account, or a signature of the account's admin wallet in X-Wallet-Auth
            (docs/service/signatures.md#x-wallet-auth).
        works: Requires enabled billing without an injected fault.
    """

    def __init__(
        self,
        *,
        access: Access,
        permissions: PermissionCache,
        ledger: Ledger,
        faults: Faults,
        envelopes: EnvelopeVerifier,
        enabled: bool,
    ) -> None:
        self._access = access
        self._permissions = permissions
        self._ledger = ledger
        self._faults = faults
        self._envelopes = envelopes
        self._enabled = enabled
        self.funded = Guard(self._funded, frozenset({402, 503}), KEY_SCHEMES)
        self.payer = Guard(self._payer, frozenset({401, 503}), (*KEY_SCHEMES, WALLET_SCHEME))
        self.works = Guard(self._works, frozenset({503}))

    async def _funded(self, call: Call) -> None:
        if not self._enabled:
            return
        caller = await self._access.identify(call)
        await self._faults.check("billing")
        call.hold = await self._ledger.hold(caller.billing_wallet, MANAGEMENT_COST_CENTS)

    async def _payer(self, call: Call) -> None:
        wallet = await wallet_of_header(call.request.headers.get(HEADER), self._envelopes)
        if wallet is None:
            await self._access.identify(call)
            return
        await self._faults.check("chain")
        caller = await self._permissions.by_hash(wallet_lookup_key(wallet))
        # After a transfer, the contract still contains the entry of the former admin
        # (docs/service/resources.md#states). This entry grants no permission.
        if caller is None or caller.admin_address != wallet:
            owns = "does not own" if caller is None else "no longer owns"
            raise StructuredError(
                401,
                f"the signature in {HEADER} is valid, but the wallet of the signature, {wallet}, {owns} an account",
                fix="Sign with the admin wallet of a ChainSecured account, or send an API key instead.",
                docs="authentication",
            )
        call.caller = caller

    async def _works(self, _call: Call) -> None:
        if not self._enabled:
            raise StructuredError(
                503,
                "billing is disabled on this node; nothing was charged",
                fix="Start the emulator with --billing-enabled true (SVC_BILLING_ENABLED).",
            )
        await self._faults.check("billing")
