"""Exercises of the lessons. For a wrong answer, a check returns a hint, but never the solution."""

from __future__ import annotations

from svcnb.checked import checked
from svcnb.errors import InvalidArgument
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
"""All exercises, with their names (``<lesson>.<exercise>``) as keys."""


class UnknownExercise(InvalidArgument, LookupError):
    """Error for a name that does not belong to an exercise."""


@checked
def check(name: str, answer: object) -> Verdict:
    """Checks an answer to an exercise. In a workshop, the function also sends the result to the workshop's server.

    Args:
        name: Name of the exercise in the lesson, for example ``"quickstart.length"``.
        answer: Answer of the learner. ``...`` means that there is no answer yet.

    Returns:
        Whether the answer is correct, with a confirmation for a correct answer or a hint for a wrong answer.

    Raises:
        UnknownExercise: No exercise has this name. The message lists the names.
    """
    try:
        exercise = EXERCISES[name]
    except KeyError:
        raise UnknownExercise(
            f"no exercise has the name {name!r}: expected one of {', '.join(sorted(EXERCISES))}"
        ) from None
    verdict = exercise.check(answer)
    if answer is not ...:
        report(name, right=verdict.right)
    return verdict
