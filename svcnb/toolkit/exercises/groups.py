"""Exercises of the lesson on groups and least privilege."""

from __future__ import annotations

from typing import Any

from svcnb.client.models.explanation import Explanation
from svcnb.toolkit.exercises.exercise import Exercise

STATUS = {
    "a key that was removed yesterday": 401,
    "a run by the account key of an account without credit": 402,
    "a usage key runs an action of somebody else's group": 403,
    "a mistyped key, and no credit either": 401,
    "a usage key without credit runs an action it may not run": 402,
}
"""Situations and the first "no" that answers them (specification 7, reference facts 2.1)."""


def _status(answer: Any) -> str | None:
    if set(answer) != set(STATUS):
        return "keep the five situations as they are, and fill in their numbers."
    if open_ := [text for text, status in answer.items() if status is ...]:
        return f"{len(open_)} still have no number."
    wrong = [text for text, status in answer.items() if int(status) != STATUS[text]]
    if not wrong:
        return None
    return f"{len(wrong)} of them, such as {wrong[0]!r}: who are you, can you pay, may you; the first 'no' ends it."


def _least(answer: Any) -> str | None:
    if not isinstance(answer, Explanation):
        return "put what me.explain(key, sign, wallet) returns."
    if answer.wallet is None:
        return "ask about the wallet, too: me.explain(key, sign, wallet)."
    if not answer.allowed:
        return f"it cannot run yet: {answer.reason}"
    if answer.every_group:
        return "this key may run every group, also those to come: give it one."
    if answer.warnings:
        return f"it works, and for more than it should: {answer.warnings[0].text}"
    return None


EXERCISES = (
    Exercise("groups.status", "who, then money, then rights.", _status),
    Exercise("groups.least", "stolen, this key does what your program does, and nothing more.", _least),
)
