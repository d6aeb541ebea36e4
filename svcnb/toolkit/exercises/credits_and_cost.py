"""Exercises of lesson 10: credits and cost."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import PaymentFailed
from svcnb.client.models.billing import Balance
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND, MANAGEMENT_COST_CENTS
from svcnb.toolkit.exercises.exercise import Exercise, raised

# One group, two usage keys and three wallets; a hundred short runs, five failed runs, and one run of seven seconds.
_FORECAST_CENTS = 6 * MANAGEMENT_COST_CENTS + (100 + 7) * EXECUTION_COST_CENTS_PER_SECOND
_FIVE_RUNS_CENTS = 5 * EXECUTION_COST_CENTS_PER_SECOND
_ROUND_CENTS = 1_000


def _forecast(answer: Any) -> str | None:
    cents = getattr(answer, "cents", answer)
    if isinstance(cents, bool) or not isinstance(cents, int):
        raise TypeError
    if cents == _FORECAST_CENTS:
        return None
    if cents == _FORECAST_CENTS + _FIVE_RUNS_CENTS:
        return "this amount is too high: runs that throw an error cost nothing."
    if cents > _FORECAST_CENTS:
        return (
            "this amount is too high: reads and failed runs cost nothing. A run costs one cent for each "
            "whole second, and at least one cent."
        )
    return (
        "this amount is too low: each change costs one cent. A run costs one cent for each "
        "whole second, and at least one cent."
    )


def _round(answer: Balance) -> str | None:
    if answer.available_cents == _ROUND_CENTS:
        return None
    return (
        f"the balance is {answer.balance_display}, not $10.00: top_up accepts any integer "
        "number of cents, at least 500."
    )


EXERCISES = (
    Exercise(
        "credits.forecast",
        "an integer number of cents",
        "changes and successful runs cost credit. Reads and failed runs cost nothing.",
        _forecast,
    ),
    Exercise(
        "credits.round",
        "a Balance, the result of poor.billing.balance()",
        "the balance is exactly ten dollars.",
        _round,
        Balance,
    ),
    raised(
        "credits.declined",
        PaymentFailed,
        "of a payment that the processor declined",
        "no money was collected, and no credit was added.",
    ),
)
