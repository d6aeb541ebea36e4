"""Exercises of the lessons. A wrong answer gets a hint, never the solution."""

from __future__ import annotations

from svcnb.toolkit.exercises import (
    actions_and_cids,
    audit,
    batches,
    chain_secured,
    contract_wallets,
    convert_and_transfer,
    credits_and_cost,
    groups,
    history,
    keys,
    primer,
    quickstart,
    testing,
    triggers,
    typed_data,
    workshop,
)
from svcnb.toolkit.exercises.exercise import Exercise, Verdict
from svcnb.toolkit.exercises.report import report

__all__ = ["EXERCISES", "Exercise", "Verdict", "check"]

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for lesson in (
        primer,
        quickstart,
        actions_and_cids,
        keys,
        groups,
        typed_data,
        chain_secured,
        contract_wallets,
        convert_and_transfer,
        audit,
        credits_and_cost,
        triggers,
        history,
        batches,
        testing,
        workshop,
    )
    for exercise in lesson.EXERCISES
}
"""Every exercise by its name, ``<lesson>.<exercise>``."""


def check(name: str, answer: object) -> Verdict:
    """Checks an answer to an exercise.

    Args:
        name: The exercise, as the lesson names it, for example ``"quickstart.length"``.
        answer: The reader's answer; ``...`` means that there is none yet.

    Returns:
        Whether the answer is right, and a hint when it is not.

    Raises:
        LookupError: No exercise has this name; the message lists the names.
    """
    try:
        exercise = EXERCISES[name]
    except KeyError:
        raise LookupError(
            f"no exercise is called {name!r}; the exercises are: {', '.join(sorted(EXERCISES))}"
        ) from None
    verdict = exercise.check(answer)
    if answer is not ...:
        report(name, right=verdict.right)
    return verdict
