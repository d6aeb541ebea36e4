"""Who may ask about credits and payments, and whether billing is there to answer."""

from __future__ import annotations

from svcnb.emulator.access.guards import KEY_SCHEMES, identify
from svcnb.emulator.errors import Unavailable
from svcnb.emulator.http.endpoint import Call, Guard


async def _payer(call: Call) -> None:
    await identify(call)


async def _billing_works(call: Call) -> None:
    if not call.service.settings.billing_enabled:
        raise Unavailable("Billing", "it is switched off on this node (setting billing_enabled)")
    await call.service.faults.check("billing")


PAYER = Guard(_payer, frozenset({401, 503}), KEY_SCHEMES)
"""Any key of the account."""

BILLING_WORKS = Guard(_billing_works, frozenset({503}))
"""Billing is switched on and no fault is injected into it."""
