"""Exercises of the lesson on ChainSecured accounts."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import SigningError
from svcnb.toolkit.exercises.exercise import Exercise

_DAY_S = 86_400
_LESSON_TIME_S = 1_767_225_600


def _stopped(answer: Any) -> str | None:
    if not isinstance(answer, SigningError):
        return "keep the exception itself: write `except svcnb.SigningError as error: answer = error`."
    if "stopped before signing" not in answer.message:
        return "that is another refusal: let on_preview answer False."
    return None


def _weekly(answer: Any) -> str | None:
    if not answer.execute_only:
        return f"the key may {answer.may}: give it execute_in_groups and nothing else."
    if 0 in answer.execute_in_groups or len(answer.execute_in_groups) != 1:
        return "the key may run more than one group."
    if not answer.expiration:
        return "the key never expires: expires_in='7d'."
    # The lesson's clock stands still; beside a live service the present counts.
    import time

    left = {answer.expiration - _LESSON_TIME_S, round((answer.expiration - time.time()) / _DAY_S) * _DAY_S}
    return None if 7 * _DAY_S in left else "the key does not end in seven days."


EXERCISES = (
    Exercise("chain-secured.stop", "nothing was signed, nothing was sent, and no gas was paid.", _stopped),
    Exercise("chain-secured.weekly", "it can run one group's actions for a week, and change nothing.", _weekly),
)
