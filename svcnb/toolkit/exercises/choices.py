"""Exercises that ask which sentences of a list hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def choose(truth: Mapping[str, bool], answer: Iterable[str] | str, *, missing: str, extra: str) -> str | None:
    """Compares a choice with what is true; a hint counts or names, and never tells what is right.

    Args:
        truth: Every sentence, and whether it belongs to the choice.
        answer: The sentences chosen.
        missing: Hint when some are left out; ``{count}`` says how many.
        extra: Hint when one too many is chosen; ``{one}`` is that one.

    Returns:
        A hint, or None when the choice is right.
    """
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - set(truth):
        return f"{min(unknown)!r} is not on the list."
    right = {text for text, holds in truth.items() if holds}
    if wrong := given - right:
        return extra.format(one=min(wrong))
    if left := right - given:
        return missing.format(count=len(left))
    return None
