"""Exercises of the lesson on converting and handing over."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import ChainError
from svcnb.toolkit.exercises.choices import choose
from svcnb.toolkit.exercises.exercise import Exercise

AFTER = {
    "list the groups": True,
    "run an action": True,
    "create a group": False,
    "read the balance": True,
    "remove a usage key": False,
    "convert the account back": False,
}
"""What the old account key may still do after conversion (specification 3)."""


def _after(answer: Any) -> str | None:
    return choose(
        AFTER,
        answer,
        missing="{count} more on the list still work.",
        extra="{one!r} changes something, and the account key changes nothing any more.",
    )


def _never_again(answer: Any) -> str | None:
    if not isinstance(answer, ChainError):
        return "keep the exception itself: write `except svcnb.ChainError as error: answer = error`."
    if answer.name == "NoAccountAccess":
        return "the wallet that tried does not own the account: let the present owner hand it back."
    return None if answer.name == "AccountAlreadyExists" else f"that is {answer.name}: offer it to a former owner."


EXERCISES = (
    Exercise("convert-and-transfer.after", "it reads and runs, and that is all.", _after),
    Exercise("convert-and-transfer.never-again", "a wallet that was ever admin is no target again.", _never_again),
)
