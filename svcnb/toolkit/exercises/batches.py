"""Exercises of the lesson on batch runs."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise

_UNLUCKY = 13
_SQUARES = range(21)
_WHOLE = range(10, 16)


def _numbers(batch: Any) -> list[Any]:
    return [params["n"] for params in batch.params]


def _squares(answer: Any) -> str | None:
    if _numbers(answer) != list(_SQUARES):
        return "let n go from 0 to 20, one set of parameters for each."
    if not answer.done:
        return f"{len(answer.pending)} have not run yet: resume() goes on."
    wanted = [None if n == _UNLUCKY else n * n for n in _SQUARES]
    return None if answer.responses() == wanted else "these answers are not those of square."


def _whole(answer: Any) -> str | None:
    if _numbers(answer) != list(_WHOLE):
        return "let n go from 10 to 15."
    if answer.failed:
        return f"{len(answer.failed)} failed: {answer.failed[0].error}"
    return None if answer.responses() == [n * n for n in _WHOLE] else "each answer is the square of its n."


EXERCISES = (
    Exercise("batches.squares", "one failed, twenty answered, and the batch is done.", _squares),
    Exercise("batches.whole", "another source is another action, with a permission of its own.", _whole),
)
