"""Exercises of lesson 17: workshops, for instructors."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise


def _add(answer: Any) -> str | None:
    if answer.name != "edsger":
        return f"this learner is {answer.name}: add the learner of the exercise with workshop.add('edsger')."
    return None


def _board(answer: Any) -> str | None:
    solved = {name for name, done in answer.as_dict().items() if done.get("cids.changes", {}).get("right")}
    if "grace" in solved:
        return None
    if solved:
        return (
            f"{min(solved)} has solved cids.changes, but grace has not solved it: solve the exercise as "
            "grace, then get the board again."
        )
    return "no one has solved cids.changes on this board: solve the exercise as grace, then get the board again."


EXERCISES = (
    Exercise(
        "workshop.add",
        "a learner, the result of workshop.learner('edsger')",
        "the new learner has an emulator, which starts with the first request.",
        _add,
    ),
    Exercise(
        "workshop.board",
        "a board, the result of workshop.board()",
        "the board shows that grace solved the exercise, but it does not show the answer.",
        _board,
    ),
)
