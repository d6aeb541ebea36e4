"""Errors for rejected values inside requests.

A value of the wrong JSON type does not match the schema (422). If the type is right but the value cannot be parsed, the
endpoint itself rejects the value (400). An example is the group id ``"seven"``. Errors with status 400 have the type
`UNUSABLE`.

Source: docs/service/http.md#value-formats.
"""

from __future__ import annotations

from typing import Final

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

UNUSABLE: Final = "unusable_value"
"""Type of validation errors with status 400: the value matches the schema, but the endpoint rejects it."""

STRICT_TYPES: Final = "strict_types"
"""Name of the validation-context member that enables the exact JSON types of the live service."""

TOLERATED: Final = "tolerated"
"""Name of the validation-context member that collects formats that only strict types would reject."""
_SHOWN: Final = 80
_LITERALS: Final = {"None": "null", "True": "true", "False": "false"}


def is_refused(info: ValidationInfo, what: str) -> bool:
    """Returns whether to reject a value in a format that the live service does not accept.

    If the result is False, the function records the use of the format.

    Args:
        info: Validation information. Its context determines whether types are strict.
        what: Name of the format, for use in a sentence.
    """
    context = info.context if isinstance(info.context, dict) else {}
    if context.get(STRICT_TYPES):
        return True
    if (tolerated := context.get(TOLERATED)) is not None:
        tolerated.add(what)
    return False


def unusable(message: str) -> PydanticCustomError:
    """Returns the error with which the endpoint itself rejects a value (400)."""
    return PydanticCustomError(UNUSABLE, "{message}", {"message": message})


def mismatch(message: str) -> PydanticCustomError:
    """Returns the error for a value that does not match the schema (422)."""
    return PydanticCustomError("wrong_type", "{message}", {"message": message})


def shown(value: object) -> str:
    """Returns a JSON value as shortened text for a message. The text of a list or dictionary is only its JSON type."""
    if isinstance(value, list | dict):  # its text can be as large as the body
        return "an array" if isinstance(value, list) else "an object"
    text = _LITERALS.get(str(value), "") if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def at_most(limit: int, what: str, instead: str) -> BeforeValidator:
    """Returns a validator that rejects a list with too many entries.

    Args:
        limit: Maximum number of entries.
        what: Name of the entries, for the message.
        instead: Alternative for the caller, for the message.
    """

    def check(entries: object) -> object:
        # Check the length before the entries, because errors for 100,000 entries take a second and 250 MB.
        if isinstance(entries, list) and len(entries) > limit:
            raise unusable(f"the list has {len(entries)} {what}, but the maximum in one call is {limit}: {instead}")
        return entries

    return BeforeValidator(check)
