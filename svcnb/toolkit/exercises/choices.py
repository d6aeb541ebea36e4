"""Exercises in which learners choose sentences from a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EXPECTED = 'a set of sentences copied from the list, for example {"this one", "and this one"}'


def choose(
    sentences: Mapping[str, bool], answer: Iterable[str] | str, *, missing: tuple[str, str], extra: str
) -> str | None:
    """Compares a choice of sentences with the correct choice. The hint never contains the solution.

    Args:
        sentences: All sentences, and whether each sentence belongs to the correct choice.
        answer: The chosen sentences.
        missing: Hints for one missing sentence and for several. The number of missing sentences replaces ``{count}``.
        extra: Hint for a sentence that does not belong to the choice. The sentence replaces ``{one}``.

    Returns:
        A hint, or None if the choice is correct.
    """
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - set(sentences):
        return f"{min(unknown)!r} is not on the list: copy the sentences exactly."
    right = {text for text, belongs in sentences.items() if belongs}
    if wrong := given - right:
        return extra.format(one=min(wrong))
    if left := right - given:
        return missing[len(left) > 1].format(count=len(left))
    return None
