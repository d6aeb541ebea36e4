"""Exercises of the lesson for teachers."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise


def _add(answer: Any) -> str | None:
    if answer.name != "edsger":
        return f"that is {answer.name}: room.add takes the name."
    return None if answer.wallet_address else "edsger has no account yet: room.add gives one."


def _board(answer: Any) -> str | None:
    solved = {name for name, done in answer.as_dict().items() if done.get("cids.changes", {}).get("right")}
    if "grace" in solved:
        return None
    return "grace has not solved it yet on this board: answer as her, then ask for the board again."


EXERCISES = (
    Exercise("workshop.add", "one more place, with an account and credit.", _add),
    Exercise("workshop.board", "the desk knows that it was solved, and not how.", _board),
)
