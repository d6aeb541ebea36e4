"""Exercises that ask which sentences of a list are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EXPECTED = 'a set of sentences copied from the list, for example {"this one", "and this one"}'


def choose(truth: Mapping[str, bool], answer: Iterable[str] | str, *, missing: str, extra: str) -> str | None:
    """Compares a choice with the correct one. The hint never contains the solution.

    Args:
        truth: Every sentence, and whether it belongs to the choice.
        answer: The chosen sentences.
        missing: Hint when sentences are missing; ``{count}`` is their number.
        extra: Hint when a sentence does not belong to the choice; ``{one}`` is that sentence.

    Returns:
        A hint, or None when the choice is right.
    """
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - set(truth):
        return f"{min(unknown)!r} is not on the list: copy the sentences letter by letter."
    right = {text for text, holds in truth.items() if holds}
    if wrong := given - right:
        return extra.format(one=min(wrong))
    if left := right - given:
        return missing.format(count=len(left))
    return None
