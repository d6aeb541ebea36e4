"""Who may ask about credits and payments, and whether billing is there to answer."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.access.guards import KEY_SCHEMES, identify
from svcnb.emulator.access.wallet_auth import wallet_of_header
from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.http.endpoint import Call, Guard
from svcnb.protocol.hashes import wallet_lookup_key
from svcnb.protocol.wallet_auth import HEADER

WALLET_SCHEME: Final = "WalletAuth"


async def _payer(call: Call) -> None:
    service = call.service
    wallet = await wallet_of_header(
        call.request.headers.get(HEADER),
        chain_id=service.chain.chain_id,
        clock=service.clock,
        vocabulary=service.vocabulary,
        is_valid_contract_signature=service.chain.is_valid_signature,
    )
    if wallet is None:
        await identify(call)
        return
    await service.faults.check("chain")
    caller = await service.directory.by_hash(wallet_lookup_key(wallet))
    # The contract keeps a former admin's lookup entry after a transfer (specification 3); it is history, not a right.
    if caller is None or caller.admin_address != wallet:
        raise StructuredError(
            401,
            f"The wallet {wallet} of {HEADER} signed well and owns no account{'' if caller is None else ' any more'}.",
            fix="Sign with the admin wallet of a ChainSecured account, or send an API key instead.",
            docs="authentication",
        )
    call.caller = caller._replace(account_wallet=True)


async def _billing_works(call: Call) -> None:
    if not call.service.settings.billing_enabled:
        raise Unavailable("Billing", "it is switched off on this node (setting billing_enabled)")
    await call.service.faults.check("billing")


PAYER: Final = Guard(_payer, frozenset({401, 503}), (*KEY_SCHEMES, WALLET_SCHEME))
"""Any key of the account, or its admin wallet by X-Wallet-Auth (reference facts G21)."""

BILLING_WORKS: Final = Guard(_billing_works, frozenset({503}))
"""Billing is switched on and no fault is injected into it."""
