"""Descriptions of mismatches between a value and a schema in JSON terms, for clients in any language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

SHOWN: Final = 3
"""Maximum number of mismatches in one error message."""
_LONGEST: Final = 80
_WORDS: Final = {
    "missing": "is missing",
    "string_type": "expected a string",
    "list_type": "expected a list",
    "bool_type": "expected true or false",
    "int_type": "expected an integer",
    "int_from_float": "expected an integer",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
}
"""Message for each of pydantic's error types. For other types, the message is pydantic's own message."""


def sentence(problems: Iterable[ErrorDetails], what: str) -> str:
    """Returns a description of the first mismatches, with the number of further mismatches, but without values.

    Args:
        problems: Validation errors from pydantic.
        what: Name of the checked value, for errors that apply to the whole value.
    """
    texts = [_text(problem, what) for problem in problems]
    more = f" (and {len(texts) - SHOWN} more)" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def told(value: Any) -> str:
    """Returns a value as JSON text. The function shortens a long text to 80 characters, with an ellipsis at the end."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(problem: ErrorDetails, what: str) -> str:
    path = ".".join(str(part) for part in problem["loc"]) or what
    return f"{path}: {_WORDS.get(problem['type'], problem['msg'])}"
