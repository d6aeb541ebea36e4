"""Describes a mismatch between a value and a schema in JSON terms, for callers in any language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

SHOWN: Final = 3
"""How many mismatches one error lists."""
_LONGEST: Final = 80
_WORDS: Final = {
    "missing": "is missing",
    "string_type": "a text is wanted",
    "list_type": "a list is wanted",
    "bool_type": "true or false is wanted",
    "int_type": "a whole number is wanted",
    "int_from_float": "a whole number is wanted",
    "dict_type": "an object is wanted",
    "model_type": "an object is wanted",
    "model_attributes_type": "an object is wanted",
}
"""By type of pydantic's errors; other types keep pydantic's text."""


def sentence(problems: Iterable[ErrorDetails], what: str) -> str:
    """Names the first mismatches, and says how many more there are. No value is repeated.

    Args:
        problems: The errors of the validation.
        what: The name of the checked value, for errors that concern it as a whole.
    """
    texts = [_text(problem, what) for problem in problems]
    more = f" (and {len(texts) - SHOWN} more)" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def told(value: Any) -> str:
    """A value as it was sent, shortened with an ellipsis."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(problem: ErrorDetails, what: str) -> str:
    path = ".".join(str(part) for part in problem["loc"]) or what
    return f"{path}: {_WORDS.get(problem['type'], problem['msg'])}"
