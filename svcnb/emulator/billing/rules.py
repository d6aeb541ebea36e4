"""Prices and the display of amounts. Pure functions; amounts are whole cents of US dollars."""

from __future__ import annotations

import math
from typing import Final

from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND, MIN_PAYMENT_CENTS

MAX_PAYMENT_CENTS: Final = 99_999_999
"""Largest single payment, as with card processors: eight digits of cents."""


def dollars(cents: int) -> str:
    """An amount for people: ``$5.00``, ``-$0.03``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100}.{abs(cents) % 100:02d}"


def display(credit_cents: int) -> str:
    """A balance for people: ``$5.00 credit``, ``No credits`` or ``$0.03 owed`` (reference facts 7)."""
    if credit_cents > 0:
        return f"{dollars(credit_cents)} credit"
    return f"{dollars(-credit_cents)} owed" if credit_cents < 0 else "No credits"


def execution_cost_cents(elapsed_s: float) -> int:
    """Price of an execution: one cent per whole second, at least one second (specification 8, reference facts 7)."""
    return max(1, math.floor(elapsed_s)) * EXECUTION_COST_CENTS_PER_SECOND


def payment_required(needed_cents: int, credit_cents: int) -> StructuredError:
    """The 402 of an account whose credits cannot cover a call.

    Args:
        needed_cents: The credit that the call needs.
        credit_cents: The credit of the account.
    """
    return StructuredError(
        402,
        f"This call needs {dollars(needed_cents)} and the account has "
        f"{display(credit_cents) if credit_cents else f'{dollars(0)} (no credits)'}.",
        fix=(
            f"Add credits by card or crypto, at least {dollars(MIN_PAYMENT_CENTS)}: POST billing/create_payment_intent "
            "for a payment, pay it, then POST billing/confirm_payment. GET billing/balance shows what is there."
        ),
        docs="pricing",
    )


def check_payment_amount(amount_cents: int) -> None:
    """Refuses an amount outside the limits of one payment.

    Raises:
        EndpointFailure: 400, below the minimum (specification 8) or above the maximum of a processor.
    """
    if amount_cents < MIN_PAYMENT_CENTS:
        raise EndpointFailure(
            400,
            f"amount_cents is {amount_cents}, the smallest payment is {MIN_PAYMENT_CENTS} cents "
            f"({dollars(MIN_PAYMENT_CENTS)})",
        )
    if amount_cents > MAX_PAYMENT_CENTS:
        raise EndpointFailure(
            400,
            f"amount_cents is {amount_cents}, the largest single payment is {MAX_PAYMENT_CENTS} cents "
            f"({dollars(MAX_PAYMENT_CENTS)}); amounts are in cents, not dollars",
        )
