"""Exercises of lesson 14: run history and charts."""

from __future__ import annotations

from typing import Any, Final

from svcnb.toolkit.exercises.exercise import Exercise

_TROUBLE: Final = (8, 14)
_TROUBLED_PERCENT: Final = 90
"""Limit of a success rate, in percent. In the correct chart, at least one rate is below the limit.

In the second week, the success rate of the action ``rates`` was below the limit. The success rate of all actions
together was above the limit."""


def _days(answer: Any) -> str | None:
    first, last = (int(day) for day in answer)
    if (first, last) == _TROUBLE:
        return None
    if not (1 <= first <= 28 and 1 <= last <= 28):  # noqa: PLR2004 - the month of the lesson
        return "the days must be from 1 to 28, because the month has 28 days."
    if last < first:
        return "the first day is after the last day: swap the two days."
    if first == _TROUBLE[0] or last == _TROUBLE[1]:
        return "one of the two days is correct: check the failed runs of the action rates for each day."
    return "check the failed runs of the action rates: charts.run_timeline(month[month.action == 'rates'])."


def _drawn(answer: Any) -> str | None:
    drawn = answer.to_dict()
    rows = [row for rows in drawn["datasets"].values() for row in rows]
    if not rows or "rate" not in rows[0]:
        return "this chart does not show a success rate: use charts.success_rate(...)."
    if "at" not in rows[0]:
        return "this chart compares actions: omit by='action' to see the rate over time."
    if min(row["rate"] for row in rows if row["rate"] is not None) >= _TROUBLED_PERCENT:
        return "this chart includes other actions. Select the rows of the action rates: month[month.action == 'rates']."
    return None


EXERCISES = (
    Exercise(
        "history.days",
        "a pair of numbers, for example (1, 28)",
        "the action failed often in the second week, and the average hides this problem.",
        _days,
    ),
    Exercise(
        "history.rates",
        "a chart, the result of charts.success_rate(...)",
        "a chart of only this action shows the problem clearly.",
        _drawn,
    ),
)
