"""Decoding of Solidity's ABI, strict: bytes that are not exactly an encoding are refused.

Strictness is the point. It is how the indexed arguments of an event are told from the others when nobody marked them,
and it keeps a wrong signature from turning into wrong values.

Source: Solidity ABI specification, types and "formal specification of the encoding".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from svcnb.protocol.errors import MalformedValue, shown

WORD: Final = 32
_ELEMENTARY: Final = re.compile(
    r"(address|bool|string|bytes|function|u?int|u?int[1-9]\d{0,2}|bytes[1-9]\d?)\Z", re.ASCII
)
_ARRAY: Final = re.compile(r"(.*)\[(\d{0,5})\]\Z", re.ASCII | re.DOTALL)
_MAX_DEPTH: Final = 16
_BITS: Final = 256


class NotEncoded(ValueError):
    """Bytes are not the encoding of the types."""


@dataclass(frozen=True)
class Type:
    """An ABI type.

    Attributes:
        base: Elementary name with full width, ``()`` for a tuple, ``[]`` for an array.
        members: Types of a tuple's members, or the one element type of an array.
        length: Length of an array, None when it is dynamic (or no array).
    """

    base: str
    members: tuple[Type, ...] = ()
    length: int | None = None

    @classmethod
    def parse(cls, text: str, depth: int = 0) -> Type:
        """Reads a type such as ``uint256``, ``(address,bytes)[]`` or ``tuple(bool)``.

        Raises:
            MalformedValue: Not a type.
        """
        trimmed = text.strip()
        if depth > _MAX_DEPTH:
            raise MalformedValue(f"a type nests deeper than {_MAX_DEPTH} levels")
        if found := _ARRAY.match(trimmed):
            return cls("[]", (cls.parse(found[1], depth + 1),), int(found[2]) if found[2] else None)
        if trimmed.startswith(("(", "tuple(")) and trimmed.endswith(")"):
            inside = trimmed.removeprefix("tuple")[1:-1]
            # Members of a tuple may carry names in human-readable form; they are not part of the type.
            return cls("()", tuple(cls.parse(_without_name(part), depth + 1) for part in split(inside)))
        if not _ELEMENTARY.match(trimmed) or not _width_is_legal(trimmed):
            raise MalformedValue(
                f"{shown(trimmed)} is no ABI type",
                hint="use address, bool, string, bytes, bytes1 to bytes32, uint8 to uint256, int8 to int256, [] and ()",
            )
        return cls(trimmed + "256" if trimmed in {"uint", "int"} else trimmed)

    def __str__(self) -> str:
        if self.is_array:
            return f"{self.element}[{'' if self.length is None else self.length}]"
        return f"({','.join(map(str, self.members))})" if self.base == "()" else self.base

    @property
    def is_array(self) -> bool:
        """Whether it is an array, of fixed length or not."""
        return self.base == "[]"

    @property
    def element(self) -> Type:
        """The element type of an array."""
        return self.members[0]

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the encoding holds an offset to the value instead of the value."""
        if self.is_array:
            return self.length is None or self.element.is_dynamic
        return self.base in {"string", "bytes"} or any(member.is_dynamic for member in self.members)

    @property
    def is_hashed_when_indexed(self) -> bool:
        """Whether a topic can only hold this type's hash."""
        return self.is_array or self.base in {"()", "string", "bytes"}

    @cached_property
    def head_bytes(self) -> int:
        """Bytes in the head part of an encoding."""
        if self.is_dynamic:
            return WORD
        if self.is_array:
            return (self.length or 0) * self.element.head_bytes
        return sum(member.head_bytes for member in self.members) if self.base == "()" else WORD


def decode(types: Sequence[Type], data: bytes) -> list[Any]:
    """Decodes a sequence of values.

    Args:
        types: Their types.
        data: The whole encoding, as a compiler lays it out: heads first, tails in order without gaps.

    Returns:
        ``int``, ``bool``, ``str`` (addresses in lower case, and strings), ``bytes``, lists for arrays and tuples.
        Bytes of a string that are no UTF-8 become replacement characters.

    Raises:
        NotEncoded: The bytes are not such an encoding.
    """
    reader = _Reader(data)
    values = reader.sequence(types, 0)
    if reader.end != len(data):
        raise NotEncoded(f"{len(data)} bytes given, {reader.end} used")
    return values


def split(inside: str) -> list[str]:
    """Parts of a list at its commas, those inside brackets left alone; empty for blank text.

    Raises:
        MalformedValue: Brackets do not match.
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
        raise MalformedValue("its brackets do not match")
    return [*parts, inside[start:]]


class _Reader:
    """Reads values and remembers how far the tails reached: gaps and overlaps are no canonical encoding."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.end = 0

    def sequence(self, types: Sequence[Type], base: int) -> list[Any]:
        heads = sum(kind.head_bytes for kind in types)
        self._reached(base + heads)
        values, at = [], base
        for kind in types:
            if kind.is_dynamic:
                offset = self._number(at)
                if base + offset != self.end:
                    raise NotEncoded("a tail does not follow the one before it")
                values.append(self._value(kind, base + offset))
            else:
                values.append(self._value(kind, at))
            at += kind.head_bytes
        return values

    def _value(self, kind: Type, at: int) -> Any:
        if kind.is_array:
            length, start = kind.length, at
            if length is None:
                length, start = self._number(at), at + WORD
                # An element takes at least a word or nothing at all, so a longer array cannot be there.
                if length * max(kind.element.head_bytes, 1) > len(self._data):
                    raise NotEncoded("an array is longer than the data")
                self._reached(start)
            return self.sequence([kind.element] * length, start)
        if kind.base == "()":
            return self.sequence(kind.members, at)
        if kind.base in {"string", "bytes"}:
            return self._text(at, is_string=kind.base == "string")
        return _elementary(kind.base, self._word(at))

    def _text(self, at: int, *, is_string: bool) -> str | bytes:
        length = self._number(at)
        padded = -(-length // WORD) * WORD
        start = at + WORD
        if length > len(self._data):
            raise NotEncoded("a text is longer than the data")
        self._reached(start + padded)
        value = self._data[start : start + length]
        if any(self._data[start + length : start + padded]):
            raise NotEncoded("padding is not zero")
        return value.decode("utf-8", "replace") if is_string else value

    def _number(self, at: int) -> int:
        return int.from_bytes(self._word(at), "big")

    def _word(self, at: int) -> bytes:
        self._reached(at + WORD)
        return self._data[at : at + WORD]

    def _reached(self, end: int) -> None:
        if end > len(self._data):
            raise NotEncoded(f"{len(self._data)} bytes given, {end} needed")
        self.end = max(self.end, end)


def _elementary(base: str, word: bytes) -> Any:
    if base.startswith("bytes") or base == "function":
        size = 24 if base == "function" else int(base[5:])
        return _padded(word[:size], word[size:])
    number = int.from_bytes(word, "big")
    if base == "address":
        return "0x" + _padded(word[12:], word[:12]).hex()
    if base == "bool":
        return bool(_below(number, 2))
    if base.startswith("uint"):
        return _below(number, 1 << int(base[4:]))
    bits = int(base[3:])
    signed = number - (1 << _BITS) if number >> (_BITS - 1) else number
    if not -(1 << (bits - 1)) <= signed < 1 << (bits - 1):
        raise NotEncoded(f"no {base}")
    return signed


def _padded(value: bytes, padding: bytes) -> bytes:
    if any(padding):
        raise NotEncoded("padding is not zero")
    return value


def _below(number: int, limit: int) -> int:
    if number >= limit:
        raise NotEncoded("a number is out of range")
    return number


def _without_name(text: str) -> str:
    trimmed = text.strip()
    close = trimmed.rfind(")")
    tail = trimmed[close + 1 :].split()
    return trimmed[: close + 1] + (tail[0] if tail and (close < 0 or tail[0].startswith("[")) else "")


def _width_is_legal(text: str) -> bool:
    if text.startswith(("uint", "int")):
        bits = int(text.lstrip("uint") or _BITS)
        return bits % 8 == 0 and bits <= _BITS
    return not text.startswith("bytes") or text == "bytes" or int(text[5:]) <= WORD
