"""Secret strings, which every display masks.

Saved notebooks, logs, tracebacks and files often contain the values of variables. A `Secret` shows a mask there instead
of the secret string. Only `reveal()` returns the string, so each use of the string is easy to find in the code.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from svcnb.errors import InvalidType

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

MASK: Final = "********"
"""Text that displays show instead of a secret."""


@final
class Secret:
    """Secret string, which every display masks. Pickle and JSON reject a secret. Comparisons take constant time.

    Args:
        value: The string to protect.

    Raises:
        TypeError: The value is not a string.

    Example:
        >>> key = Secret("c2VjcmV0")
        >>> key
        Secret('********')
        >>> key.reveal()
        'c2VjcmV0'
    """

    __slots__ = ("_value",)

    _value: str

    def __init__(self, value: str | Secret) -> None:
        if isinstance(value, Secret):
            value = value.reveal()
        if not isinstance(value, str):
            raise InvalidType(f"invalid secret of type {type(value).__name__}: expected str")
        object.__setattr__(self, "_value", value)

    def reveal(self) -> str:
        """Returns the secret string itself. Do not print this string or write it to a file."""
        return self._value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a secret is immutable: create a new secret")

    def __repr__(self) -> str:
        return f"Secret('{MASK}')"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def _repr_html_(self) -> str:
        return f"<code>{MASK}</code>"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Secret):
            other = other.reveal()
        if isinstance(other, str):
            return hmac.compare_digest(self._value.encode(), other.encode())
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled: pass secret.reveal() to send the text of the secret")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns the schema for pydantic models. The schema accepts a string or a secret, and rejects JSON output."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls._accept,
            serialization=core_schema.plain_serializer_function_ser_schema(_refuse_json, when_used="json"),
        )

    @classmethod
    def _accept(cls, value: object) -> Secret:
        if isinstance(value, (str, Secret)):
            return cls(value)
        raise ValueError(f"a secret must be a string, not {type(value).__name__}")


def _refuse_json(_value: Secret) -> NoReturn:
    # A masked value in a file would look like a saved secret, although the secret is lost. Therefore, the encoding
    # fails.
    raise ValueError("a secret cannot be encoded as JSON: pass secret.reveal(), or omit the field")
