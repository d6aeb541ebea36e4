"""Exercises of lesson 4: groups and least privilege."""

from __future__ import annotations

from typing import Any

from svcnb.client.models.explanation import Explanation
from svcnb.client.models.usage_keys import UsageKey
from svcnb.toolkit.exercises.exercise import Exercise

STATUS = {
    "a key that was deleted yesterday": 401,
    "a run by the account key of an account without credit": 402,
    "a usage key runs an action that only a group of another account permits": 403,
    "a mistyped key, and no credit": 401,
    "an account without credit, and a usage key that is not allowed to run the action": 402,
}
"""Situations, with the status of each response. The service checks the key, then the credit, then the permissions."""


def _status(answer: Any) -> str | None:
    if set(answer) != set(STATUS):
        return "keep the 5 situations unchanged, and replace each ... with a status."
    if missing := sum(status is ... for status in answer.values()):
        return f"{missing} of the 5 situations {'does' if missing == 1 else 'do'} not have a status yet."
    if bad := [status for status in answer.values() if status not in (401, 402, 403)]:
        return f"{bad[0]!r} is not one of the three statuses: write 401, 402 or 403 as a number."
    wrong = [text for text, status in answer.items() if status != STATUS[text]]
    if not wrong:
        return None
    verb = "is" if len(wrong) == 1 else "are"
    return (
        f"{len(wrong)} of the 5 statuses {verb} wrong, for example the status of {wrong[0]!r}. "
        "The service checks the key first, then the credit, then the permissions, and stops at the first failure."
    )


def _least(answer: Any) -> str | None:
    key, explanation = answer
    if not isinstance(key, UsageKey) or not isinstance(explanation, Explanation):
        raise TypeError
    if key.api_key_hash[:8] not in explanation.key:
        return "the explanation is for a different key: call me.explain(key, sign, wallet) with this key."
    if explanation.wallet is None:
        return "the explanation does not include the wallet: call me.explain(key, sign, wallet)."
    if not explanation.allowed:
        return f"the key cannot run the action yet: {explanation.reason}"
    return _excess(key, explanation)


def _excess(key: UsageKey, explanation: Explanation) -> str | None:
    if explanation.every_group:
        return "this key can execute in every group, including future groups: pass one group."
    if not key.execute_only or len(key.execute_in_groups) != 1:
        return f"this key has more permissions than it needs: {key.may}. Pass only execute_in_groups, with one group."
    if explanation.warnings:
        return f"the key can run the action, but it has more permissions than it needs: {explanation.warnings[0].text}"
    return None


EXERCISES = (
    Exercise(
        "groups.status",
        "the dictionary of the exercise, with a status in place of each ...",
        "the service checks the key first, then the credit, then the permissions.",
        _status,
    ),
    Exercise(
        "groups.least",
        "a pair: your usage key, and the result of me.explain(key, sign, wallet)",
        "if this key is stolen, the thief can do only what your program can do.",
        _least,
    ),
)
