"""Model of an exercise, and the result of checking an answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from inspect import isroutine
from typing import Any, Final

from svcnb.brief import NO_MATH

_WORDS: Final = {"str": "string", "int": "integer", "float": "number", "dict": "dictionary", "bool": "truth value"}


@dataclass(frozen=True)
class Verdict:
    """Result of checking an answer.

    Attributes:
        right: Whether the answer is correct.
        words: Text for the learner: a confirmation, or a hint for the next attempt.
    """

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.words}"

    def _repr_html_(self) -> str:
        # Show a symbol in addition to the colour, so that the result does not depend on colour.
        mark, colour = ("✓ Right", "#1a7f37") if self.right else ("→ Not yet", "#9a6700")
        style = f"border-left:4px solid {colour};padding-left:.6em"
        return f'<p class="{NO_MATH}" style="{style}"><b>{mark}:</b> {escape(self.words)}</p>'


@dataclass(frozen=True)
class Exercise:
    """Task with a function that checks the answer.

    Attributes:
        name: ``<lesson>.<exercise>``.
        expects: Description of the expected answer, such as "a string, for example ...". The hint for an answer of
            another type contains this description.
        praise: Text for a correct answer.
        hint: Function that takes an answer and returns a hint, or None if the answer is correct. The function can
            raise an error for an answer of another type.
        accepts: Type of the answer. The method `check` calls `hint` only for answers of this type.
    """

    name: str
    expects: str
    praise: str
    hint: Callable[[Any], str | None]
    accepts: type = object

    def check(self, answer: object) -> Verdict:
        """Checks one answer.

        Returns:
            The verdict. The method never raises an error.
        """
        if answer is ...:
            return Verdict(right=False, words="replace the three dots with your answer, then run this cell again.")
        try:
            hint = self.hint(answer) if isinstance(answer, self.accepts) else self._other_kind(answer)
        except Exception:  # noqa: BLE001 - an answer can be any object, and its code can raise any error
            hint = self._other_kind(answer)
        return Verdict(right=hint is None, words=hint or self.praise)

    def _other_kind(self, answer: object) -> str:
        found = kind(answer)
        if re.search(rf"\b{re.escape(found)}\b", self.expects):
            return f"the answer is {found}, but its content is wrong. Expected: {self.expects}."
        return f"the answer is {found}. Expected: {self.expects}."


def raised(
    name: str, error: type[Exception], of: str, praise: str, hint: Callable[[Any], str | None] = lambda _: None
) -> Exercise:
    """Returns an exercise whose answer is an error that the learner's code raised.

    Args:
        name: See `Exercise`.
        error: Class of the error.
        of: Words that follow the name of the class in a hint, for example ``of the transfer``.
        praise: See `Exercise`.
        hint: Function that checks an error of this class, as in `Exercise`. By default, every error of this class is
            correct.
    """
    named = f"svcnb.{error.__name__}"

    def check(answer: Exception) -> str | None:
        if isinstance(answer, error):
            return hint(answer)
        return f"the answer must be the {named} {of}, but the answer is {kind(answer)}."

    expects = f"the error that was raised: write `except {named} as error: answer = error`"
    return Exercise(name, expects, praise, check, Exception)


def kind(answer: object) -> str:
    """Returns the type of an answer as text, with an indefinite article, for example ``a string``."""
    if answer is None:
        return "None. Check that the last line of your cell returns a value"
    if isinstance(answer, type):
        return f"the class {answer.__name__}"
    if isroutine(answer):
        return f"the function {answer.__name__}. Write parentheses after its name to call it"
    if isinstance(answer, tuple):
        return f"a tuple of {len(answer)}: ({', '.join(map(_name, answer[:4]))})"
    name = _name(answer)
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _name(answer: object) -> str:
    name = "None" if answer is None else type(answer).__name__
    return _WORDS.get(name, name)
