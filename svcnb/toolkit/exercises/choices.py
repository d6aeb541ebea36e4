"""Exercises in which learners choose sentences from a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from svcnb.toolkit.exercises.exercise import Exercise


def choice(name: str, sentences: Mapping[str, bool], praise: str, *, missing: tuple[str, str], extra: str) -> Exercise:
    """Returns an exercise in which learners choose sentences. The hint never contains the solution.

    Args:
        name: See `Exercise`.
        sentences: All sentences, and whether each sentence belongs to the correct choice.
        praise: See `Exercise`.
        missing: Hints for one missing sentence and for several. The number of missing sentences replaces ``{count}``.
        extra: Hint for a sentence that does not belong to the choice. The sentence replaces ``{one}``.
    """
    expects = 'a set of sentences copied from the list, for example {"this one", "and this one"}'
    return Exercise(name, expects, praise, lambda answer: _hint(sentences, answer, missing, extra))


def _hint(
    sentences: Mapping[str, bool], answer: Iterable[str] | str, missing: tuple[str, str], extra: str
) -> str | None:
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - set(sentences):
        return f"{min(unknown)!r} is not on the list: copy the sentences exactly."
    right = {text for text, belongs in sentences.items() if belongs}
    if wrong := given - right:
        return extra.format(one=min(wrong))
    if left := right - given:
        return missing[len(left) > 1].format(count=len(left))
    return None
