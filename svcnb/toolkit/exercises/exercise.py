"""One exercise and the verdict on an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Verdict:
    """What the check of an answer says.

    Attributes:
        right: Whether the answer does what the exercise asks.
        words: Praise, or a hint at the next step.
    """

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.words}"

    def _repr_html_(self) -> str:
        # A mark besides the colour, so that it is readable without colour too.
        mark, colour = ("✓ Right", "#1a7f37") if self.right else ("→ Not yet", "#9a6700")
        return f'<p style="border-left:4px solid {colour};padding-left:.6em"><b>{mark}:</b> {escape(self.words)}</p>'


@dataclass(frozen=True)
class Exercise:
    """A task with a checkable answer.

    Attributes:
        name: ``<lesson>.<exercise>``.
        praise: Words for a right answer.
        hint: Looks at an answer and returns a hint, or None when the answer is right.
    """

    name: str
    praise: str
    hint: Callable[[object], str | None]

    def check(self, answer: object) -> Verdict:
        """The verdict on one answer; never raises, whatever the answer is."""
        if answer is ...:
            return Verdict(right=False, words="put your answer where the three dots stand, then run this cell again.")
        try:
            hint = self.hint(answer)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
            hint = (
                f"the task asks for something else than {_kind(answer)} like this one; read again what to put here "
                f"({type(error).__name__}: {error})."
            )
        return Verdict(right=hint is None, words=hint or self.praise)


def _kind(answer: object) -> str:
    name = type(answer).__name__
    return f"an {name}" if name[0] in "aeioAEIO" else f"a {name}"
