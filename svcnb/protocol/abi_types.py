"""Parser for ABI types, such as ``uint256`` or ``(address,bytes)[]``, in event signatures.

Source: Solidity documentation, section "Contract ABI Specification".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from svcnb.protocol.errors import MalformedValue, shown

_ELEMENTARY: Final = re.compile(r"(address|bool|string|function|bytes([1-9]\d?)?|u?int([1-9]\d{0,2})?)\Z", re.ASCII)
_ARRAY: Final = re.compile(r"(.*)\[(\d{0,5})\]\Z", re.ASCII | re.DOTALL)
_MAX_DEPTH: Final = 16
_WORD_BYTES: Final = 32
_WORD_BITS: Final = 256


class Type(NamedTuple):
    """An ABI type.

    Attributes:
        base: Elementary name with its full width, ``()`` for a tuple, ``[]`` for an array.
        members: Types of a tuple's members, or the element type of an array.
        length: Length of a fixed-length array. None for a dynamic array and for every other type.
    """

    base: str
    members: tuple[Type, ...] = ()
    length: int | None = None

    @classmethod
    def parse(cls, text: str, depth: int = 0) -> Type:
        """Returns the type that a text describes, such as ``uint256``, ``(address,bytes)[]`` or ``tuple(bool)``.

        Args:
            text: Text of the type. The function ignores surrounding whitespace, and the names of a tuple's members.
            depth: Number of types that contain this type.

        Raises:
            MalformedValue: The text is not an ABI type.
        """
        trimmed = text.strip()
        if depth > _MAX_DEPTH:
            raise MalformedValue(f"the type has too many levels of nesting: at most {_MAX_DEPTH} are allowed")
        if found := _ARRAY.match(trimmed):
            return cls("[]", (cls.parse(found[1], depth + 1),), int(found[2]) if found[2] else None)
        if trimmed.startswith(("(", "tuple(")) and trimmed.endswith(")"):
            inside = trimmed.removeprefix("tuple")[1:-1]
            # In human-readable form, members of a tuple can have names, which are not part of the type.
            return cls("()", tuple(cls.parse(_without_name(part), depth + 1) for part in split(inside)))
        if not _ELEMENTARY.match(trimmed) or not _is_valid_width(trimmed):
            raise MalformedValue(
                f"invalid ABI type {shown(trimmed)}",
                hint=(
                    "Use address, bool, string, bytes, bytes1 to bytes32, uint8 to uint256, "
                    "int8 to int256, arrays or tuples."
                ),
            )
        return cls(trimmed + "256" if trimmed in {"uint", "int"} else trimmed)

    def __str__(self) -> str:
        return _written(self, {})

    @property
    def encoded_as(self) -> str:
        """Type name that the encoder of the contract ABI uses for a value of this type.

        This name is ``bytes`` for a string, so that the decoder preserves text that is not valid UTF-8.
        """
        return _written(self, {"string": "bytes", "function": "bytes24"})

    @property
    def is_array(self) -> bool:
        """Whether the type is an array, of fixed or dynamic length."""
        return self.base == "[]"

    @property
    def element(self) -> Type:
        """The element type of an array."""
        return self.members[0]

    @property
    def is_hashed_when_indexed(self) -> bool:
        """Whether a topic contains only the hash of a value of this type."""
        return self.is_array or self.base in {"()", "string", "bytes"}


def split(inside: str) -> list[str]:
    """Splits a text at the commas that are outside of brackets. For blank text, the result is an empty list.

    Raises:
        MalformedValue: The brackets do not match.
    """
    if not inside.strip():
        return []
    parts, depth, start = [], 0, 0
    for place, character in enumerate(inside):
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append(inside[start:place])
            start = place + 1
    if depth != 0:
        raise MalformedValue(
            f"the brackets of {shown(inside)} do not match", hint="Write one closing bracket for each opening bracket."
        )
    return [*parts, inside[start:]]


def _written(kind: Type, other_names: Mapping[str, str]) -> str:
    if kind.is_array:
        return f"{_written(kind.element, other_names)}[{'' if kind.length is None else kind.length}]"
    if kind.base == "()":
        return f"({','.join(_written(member, other_names) for member in kind.members)})"
    return other_names.get(kind.base, kind.base)


def _without_name(text: str) -> str:
    trimmed = text.strip()
    close = trimmed.rfind(")")
    tail = trimmed[close + 1 :].split()
    return trimmed[: close + 1] + (tail[0] if tail and (close < 0 or tail[0].startswith("[")) else "")


def _is_valid_width(text: str) -> bool:
    if text.startswith(("uint", "int")):
        bits = int(text.lstrip("uint") or _WORD_BITS)
        return bits % 8 == 0 and bits <= _WORD_BITS
    return not text.startswith("bytes") or text == "bytes" or int(text[5:]) <= _WORD_BYTES
