"""Exercises of lesson 15: batch runs."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise

_FAILS = 13
_SQUARES = range(21)
_WHOLE = range(10, 16)
_BATCH = "a Batch, the result of runner.map(...)"


def _numbers(batch: Any) -> list[Any]:
    return [params.get("n") for params in batch.params]


def _squares(answer: Any) -> str | None:
    if _numbers(answer) != list(_SQUARES):
        return "run the action for every n from 0 to 20, in order: [{'n': n} for n in range(21)]."
    if not answer.done:
        return f"{len(answer.pending)} runs are missing: call batch.resume() to run them."
    expected = [None if n == _FAILS else n * n for n in _SQUARES]
    return (
        None
        if answer.responses() == expected
        else "these are not the results of the action square: run square for every n."
    )


def _whole(answer: Any) -> str | None:
    if _numbers(answer) != list(_WHOLE):
        return "run the action for every n from 10 to 15, in order: [{'n': n} for n in range(10, 16)]."
    if answer.failed:
        return f"{len(answer.failed)} runs failed: {answer.failed[0].error}"
    if not answer.done:
        return f"{len(answer.pending)} runs are missing: call batch.resume() to run them."
    return None if answer.responses() == [n * n for n in _WHOLE] else "each response must be the square of its n."


EXERCISES = (
    Exercise("batches.squares", _BATCH, "one run failed, twenty succeeded, and the batch is complete.", _squares),
    Exercise(
        "batches.whole", _BATCH, "a different source is a different action, which needs its own permission.", _whole
    ),
)
