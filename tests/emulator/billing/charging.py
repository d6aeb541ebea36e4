"""Charges without a check of the credit, so that tests can charge any account."""

from __future__ import annotations

from svcnb.emulator.billing.ledger import Hold, Ledger


async def charge(ledger: Ledger, wallet: str, cents: int, *, reason: str, request_id: str) -> int:
    """Settles a hold of 0 cents. Returns the new credit."""
    hold = Hold(wallet.lower(), 0, batcher=ledger._batcher, clock=ledger._clock)
    return await hold.settle(cents, reason=reason, request_id=request_id)
