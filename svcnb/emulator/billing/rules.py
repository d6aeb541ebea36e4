"""Pure functions for prices and for the display of amounts, in whole US cents."""

from __future__ import annotations

import math

from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND, MAX_PAYMENT_CENTS, MIN_PAYMENT_CENTS


def dollars(cents: int) -> str:
    """Returns an amount in cents as text in dollars, for example ``$5.00`` or ``-$0.03``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100}.{abs(cents) % 100:02d}"


def display(credit_cents: int) -> str:
    """Returns a credit as text: ``$5.00 credit``, ``No credits`` or ``$0.03 owed`` (docs/service/billing.md#prices)."""
    if credit_cents > 0:
        return f"{dollars(credit_cents)} credit"
    return f"{dollars(-credit_cents)} owed" if credit_cents < 0 else "No credits"


def execution_cost_cents(elapsed_s: float) -> int:
    """Returns the price of a run: 1 cent per whole second, at least 1 cent (docs/service/billing.md#prices)."""
    return max(1, math.floor(elapsed_s)) * EXECUTION_COST_CENTS_PER_SECOND


def payment_required(needed_cents: int, credit_cents: int) -> StructuredError:
    """Returns the 402 error for an account whose credit does not cover a call.

    Args:
        needed_cents: The credit that the call needs, in cents.
        credit_cents: The available credit of the account (neither spent nor held for other calls), in cents.
    """
    return StructuredError(
        402,
        f"this call needs {dollars(needed_cents)}, but the available credit of the account is {dollars(credit_cents)}",
        fix=(
            f"Add credits by card or crypto, at least {dollars(MIN_PAYMENT_CENTS)}: POST billing/create_payment_intent "
            "creates a payment. Pay it, then call POST billing/confirm_payment. GET billing/balance shows the credit."
        ),
        docs="pricing",
    )


def check_payment_amount(amount_cents: int) -> None:
    """Rejects an amount outside the limits for one payment.

    Raises:
        EndpointFailure: 400 if the amount is below the minimum (docs/service/billing.md#prices) or above the maximum.
    """
    if amount_cents < MIN_PAYMENT_CENTS:
        raise EndpointFailure(
            400,
            f"amount_cents is {amount_cents}, but the minimum payment is {MIN_PAYMENT_CENTS} cents "
            f"({dollars(MIN_PAYMENT_CENTS)}): send a larger amount",
        )
    if amount_cents > MAX_PAYMENT_CENTS:
        raise EndpointFailure(
            400,
            f"amount_cents is {amount_cents}, but the maximum payment is {MAX_PAYMENT_CENTS} cents "
            f"({dollars(MAX_PAYMENT_CENTS)}): send a smaller amount, in cents",
        )
