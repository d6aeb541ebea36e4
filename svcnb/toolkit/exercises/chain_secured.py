"""Exercises of lesson 6: ChainSecured accounts."""

from __future__ import annotations

import time
from typing import Any, Final

from svcnb.client.errors import SigningError
from svcnb.toolkit.exercises.exercise import Exercise, raised

_DAY_S: Final = 86_400
_LESSON_TIME_S: Final = 1_767_225_600
_LESSON_STEP_S: Final = 30 * _DAY_S
"""Step by which the lesson advances its clock, in seconds (thirty days)."""


def _stopped(answer: SigningError) -> str | None:
    if "stopped before signing" not in answer.message:
        return "this change failed for a different reason: set mine.on_preview to a function that returns False."
    return None


def _weekly(answer: Any) -> str | None:
    if not answer.execute_only:
        return f"the key has more permissions than it needs: {answer.may}. Pass only execute_in_groups."
    if 0 in answer.execute_in_groups or len(answer.execute_in_groups) != 1:
        return "the key must be able to run the actions of exactly one group: pass one group in execute_in_groups."
    if not answer.expiration:
        return "the key never expires: pass expires_in='7d'."
    return None if _lasts_a_week(answer.expiration) else "the key does not expire in seven days: pass expires_in='7d'."


def _lasts_a_week(expiration: int) -> bool:
    """Returns whether the key expires in a week, either by the lesson's clock or by the real time."""
    beyond = expiration - 7 * _DAY_S - _LESSON_TIME_S
    return (beyond >= 0 and beyond % _LESSON_STEP_S == 0) or abs(expiration - time.time() - 7 * _DAY_S) < _DAY_S / 2


EXERCISES = (
    raised(
        "chain-secured.stop",
        SigningError,
        "that your preview causes",
        "the client signed and sent nothing, so you paid no gas.",
        _stopped,
    ),
    Exercise(
        "chain-secured.weekly",
        "a usage key, the result of mine.usage_keys.create(...)",
        "for one week, the key can run the actions of one group, but it cannot change anything.",
        _weekly,
    ),
)
