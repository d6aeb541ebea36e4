"""Exercises of the lesson on credits and cost."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import PaymentFailed
from svcnb.client.models.billing import Balance
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND, MANAGEMENT_COST_CENTS
from svcnb.toolkit.exercises.exercise import Exercise

# A group, two usage keys, three wallets; a hundred quick runs, five that fail, one of seven seconds.
_FORECAST_CENTS = 6 * MANAGEMENT_COST_CENTS + (100 + 7) * EXECUTION_COST_CENTS_PER_SECOND
_ROUND_CENTS = 1_000


def _forecast(answer: Any) -> str | None:
    cents = getattr(answer, "cents", answer)
    if isinstance(cents, bool) or not isinstance(cents, int):
        return "a whole number of cents is wanted, without a sign."
    if cents == _FORECAST_CENTS:
        return None
    return "that is too much: what fails costs nothing." if cents > _FORECAST_CENTS else "that is too little."


def _round(answer: Any) -> str | None:
    if not isinstance(answer, Balance):
        return "put what me.billing.balance() returns."
    if answer.available_cents == _ROUND_CENTS:
        return None
    return f"the credit is {answer.balance_display}: top_up takes any whole number of cents from 500 on."


def _declined(answer: Any) -> str | None:
    return None if isinstance(answer, PaymentFailed) else "keep the exception itself, a svcnb.PaymentFailed."


EXERCISES = (
    Exercise("credits.forecast", "successes and whole seconds cost; reading and failing do not.", _forecast),
    Exercise("credits.round", "ten dollars to the cent.", _round),
    Exercise("credits.declined", "nothing was collected, and nothing was credited.", _declined),
)
