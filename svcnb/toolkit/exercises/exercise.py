"""One exercise and the result of checking an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Verdict:
    """Result of checking an answer.

    Attributes:
        right: True when the answer does what the exercise asks.
        words: Text for the learner: praise, or a hint for the next attempt.
    """

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.words}"

    def _repr_html_(self) -> str:
        # A mark in addition to the colour, so that the result is readable without colour.
        mark, colour = ("✓ Right", "#1a7f37") if self.right else ("→ Not yet", "#9a6700")
        return f'<p style="border-left:4px solid {colour};padding-left:.6em"><b>{mark}:</b> {escape(self.words)}</p>'


@dataclass(frozen=True)
class Exercise:
    """A task whose answer can be checked.

    Attributes:
        name: ``<lesson>.<exercise>``.
        expects: The expected answer, in a phrase such as "a string, for example ...". It is the hint for an answer of
            another type.
        praise: Text for a right answer.
        hint: Function that takes an answer and returns a hint, or None when the answer is right. It may raise an error
            for an answer of another type.
    """

    name: str
    expects: str
    praise: str
    hint: Callable[[object], str | None]

    def check(self, answer: object) -> Verdict:
        """Checks one answer.

        Returns:
            The verdict. The method never raises, whatever the answer is.
        """
        if answer is ...:
            return Verdict(right=False, words="replace the three dots with your answer, then run this cell again.")
        try:
            hint = self.hint(answer)
        except Exception:  # noqa: BLE001 - an answer is anything at all, and its own code may raise anything
            hint = f"the answer must be {self.expects}, but this is {kind(answer)}."
        return Verdict(right=hint is None, words=hint or self.praise)


def kind(answer: object) -> str:
    """Returns the type of an answer in words, with its article."""
    if answer is None:
        return "None: does the last line of your cell return a value?"
    if isinstance(answer, tuple):
        return f"a tuple of {len(answer)}: ({', '.join(type(each).__name__ for each in answer[:4])})"
    name = type(answer).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"
