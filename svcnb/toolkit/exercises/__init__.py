"""The lessons' exercises: an answer is checked, a wrong one gets a hint and never the solution."""

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
        answer: What the reader made; ``...`` counts as not tried yet.

    Returns:
        Whether the answer is right, and a hint when it is not.

    Raises:
        LookupError: There is no such exercise; the message lists those there are.
    """
    try:
        exercise = EXERCISES[name]
    except KeyError:
        raise LookupError(f"no exercise is called {name!r}; there are: {', '.join(sorted(EXERCISES))}") from None
    verdict = exercise.check(answer)
    if answer is not ...:
        report(name, right=verdict.right)
    return verdict
