"""Recursive Length Prefix (RLP), the encoding of transactions.

Source: Ethereum Yellow Paper, appendix B.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

Item: TypeAlias = "bytes | Sequence[Item]"

_SHORT: Final = 55
_TEXT: Final = 0x80
_LIST: Final = 0xC0
_DEPTH: Final = 16


class RlpError(ValueError):
    """Error for bytes that are not a canonical encoding."""


def encode(item: Item) -> bytes:
    """Returns the RLP encoding of bytes or of a nested list of bytes."""
    if isinstance(item, bytes):
        if len(item) == 1 and item[0] < _TEXT:
            return item
        return _prefix(len(item), _TEXT) + item
    body = b"".join(encode(part) for part in item)
    return _prefix(len(body), _LIST) + body


def decode(data: bytes) -> Item:
    """Returns the decoded item. The encoding of the item must use all of the data.

    Raises:
        RlpError: The data is truncated, has extra bytes, is nested too deeply, or is not in the shortest form.
    """
    item, end = _read(data, 0, 0)
    if end != len(data):
        raise RlpError(f"there are {len(data) - end} extra bytes after the item")
    return item


def number(value: int) -> bytes:
    """Returns the bytes of a number: big-endian without leading zeros. The result is empty for 0."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def read_number(item: Item, bits: int = 256) -> int:
    """Returns the number that a decoded item encodes.

    Raises:
        RlpError: The item is a list, has leading zeros, or has more than ``bits`` bits.
    """
    if not isinstance(item, bytes) or item[:1] == b"\0" or len(item) * 8 > bits:
        given = "0x" + item[:40].hex() if isinstance(item, bytes) else "a list"
        raise RlpError(f"expected a number of at most {bits} bits without leading zeros, got {given}")
    return int.from_bytes(item, "big")


def _prefix(length: int, kind: int) -> bytes:
    if length <= _SHORT:
        return bytes([kind + length])
    size = number(length)
    return bytes([kind + _SHORT + len(size)]) + size


def _read(data: bytes, at: int, depth: int) -> tuple[Item, int]:
    if at >= len(data) or depth > _DEPTH:
        deep = f"the data has more than {_DEPTH} levels of nesting"
        raise RlpError(deep if depth > _DEPTH else f"the data is truncated at byte {at}")
    first = data[at]
    if first < _TEXT:
        return data[at : at + 1], at + 1
    kind = _LIST if first >= _LIST else _TEXT
    start, length = at + 1, first - kind
    is_long = length > _SHORT
    if is_long:
        size = length - _SHORT
        start, length = at + 1 + size, int.from_bytes(data[at + 1 : at + 1 + size], "big")
    end = start + length
    if end > len(data):
        raise RlpError(
            f"the data has {len(data)} bytes, but the item at byte {at} needs at least {end}: the data is truncated"
        )
    if is_long and (length <= _SHORT or data[at + 1] == 0):
        raise RlpError(f"the length at byte {at} does not have the shortest encoding")
    if kind == _TEXT:
        if length == 1 and data[start] < _TEXT:
            raise RlpError(f"the item at byte {at} does not have the shortest encoding")
        return data[start:end], end
    parts = []
    while start < end:
        part, start = _read(data, start, depth + 1)
        parts.append(part)
    if start != end:
        raise RlpError(f"an item ends at byte {start}, after the end of its list at byte {end}")
    return parts, end
