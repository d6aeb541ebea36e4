"""Contract ABI codec of the emulator for all types except fixed-point types and function types.

The import of eth-abi takes 0.2 s, which delays the start. Therefore, the emulator has its own codec, and only the
client uses eth-abi. The module compiles each type to a coder once and caches the coder. Decoding checks lengths and
offsets, and padding must be zero. The decoder replaces invalid UTF-8 in strings.

Source: Solidity documentation, "Contract ABI Specification".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from svcnb.protocol.contract import AbiError
from svcnb.protocol.errors import shown

WORD: Final = 32
_INT_BITS: Final = range(8, 257, 8)
_ARRAY: Final = re.compile(r"(.*)\[(\d*)\]\Z", re.DOTALL)
_SIZED: Final = re.compile(r"(u?int|bytes)(\d+)\Z")
_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")


def encode(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Encodes values, such as the arguments of a call or a constructor.

    Args:
        types: ABI type names. A tuple has the form ``(uint256,string)``.
        values: One value per type. Numbers are int, and strings are str. Addresses are str with the prefix 0x. Arrays
            and tuples are lists or tuples. The other types are bool and bytes.

    Returns:
        The encoded values, without a function selector.

    Raises:
        AbiError: A value does not match its type, or a type is unknown.
    """
    return _tuple_of(tuple(types)).encode(values)


def decode(types: Sequence[str], data: bytes) -> tuple[Any, ...]:
    """Decodes ABI-encoded values.

    Args:
        types: See `encode`.
        data: The encoded values.

    Returns:
        One value per type. Addresses are lowercase strings with the prefix 0x. Arrays and tuples are tuples.

    Raises:
        AbiError: The bytes are not a valid encoding of these types, or a type is unknown.
    """
    decoded: tuple[Any, ...] = _tuple_of(tuple(types)).decode(memoryview(data), 0)
    return decoded


class _Coder(Protocol):
    @property
    def head(self) -> int | None:
        """Size of an encoded value in bytes. None for a dynamic type, which is encoded as an offset to the value."""

    def encode(self, value: Any) -> bytes: ...

    def decode(self, data: memoryview, at: int) -> Any: ...


@lru_cache(maxsize=256)
def _tuple_of(types: tuple[str, ...]) -> _Tuple:
    return _Tuple(tuple(_coder(name) for name in types))


@lru_cache(maxsize=256)
def _coder(name: str) -> _Coder:
    if name in _PLAIN:
        return _PLAIN[name]
    if match := _ARRAY.match(name):
        item, length = match.groups()
        return _Array(_coder(item), int(length) if length else None)
    if name.startswith("(") and name.endswith(")"):
        return _tuple_of(split_types(name[1:-1]))
    if match := _SIZED.match(name):
        kind, size = match.group(1), int(match.group(2))
        if kind == "bytes" and 1 <= size <= WORD:
            return _FixedBytes(size)
        if kind != "bytes" and size in _INT_BITS:
            return _Int(size, signed=kind == "int")
    raise AbiError(f"unknown type {name!r}: expected an ABI type, for example uint256 or address[]")


def split_types(text: str) -> tuple[str, ...]:
    """Returns the types of a tuple's content, split at commas that are not inside inner tuples."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return (*found, text[start:]) if text else ()


# --- one word -------------------------------------------------------------------------------------------------------


class _Int(NamedTuple):
    bits: int
    signed: bool
    head: int | None = WORD

    def encode(self, value: Any) -> bytes:
        low, high = (-(1 << self.bits - 1), 1 << self.bits - 1) if self.signed else (0, 1 << self.bits)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
            raise AbiError(f"{shown(value)} is not a valid {self.name}: expected an integer from {low} to {high - 1}")
        return value.to_bytes(WORD, "big", signed=self.signed)

    def decode(self, data: memoryview, at: int) -> int:
        value = int.from_bytes(_word(data, at), "big", signed=self.signed)
        limit = 1 << (self.bits - 1 if self.signed else self.bits)
        if not (-limit if self.signed else 0) <= value < limit:
            raise AbiError(f"the word at byte {at} contains {value}, which is out of range for {self.name}")
        return value

    @property
    def name(self) -> str:
        return f"{'int' if self.signed else 'uint'}{self.bits}"


class _Address(NamedTuple):
    head: int | None = WORD

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, str) or not _ADDRESS.match(value):
            raise AbiError(f"{shown(value)} is not an address: expected 0x followed by 40 hex digits")
        return bytes(12) + bytes.fromhex(value[2:])

    def decode(self, data: memoryview, at: int) -> str:
        word = _word(data, at)
        if any(word[:12]):
            raise AbiError(f"the word at byte {at} is 0x{word.hex()}, not an address: the first 12 bytes must be zero")
        return "0x" + word[12:].hex()


class _Bool(NamedTuple):
    head: int | None = WORD

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, bool):
            raise AbiError(f"{shown(value)} is not a bool: expected True or False")
        return value.to_bytes(WORD, "big")

    def decode(self, data: memoryview, at: int) -> bool:
        number = int.from_bytes(_word(data, at), "big")
        if number > 1:
            raise AbiError(f"the word at byte {at} contains {number}: expected a bool (0 or 1)")
        return number == 1


class _FixedBytes(NamedTuple):
    size: int
    head: int | None = WORD

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, bytes) or len(value) != self.size:
            given = f"{len(value)} bytes" if isinstance(value, bytes) else _kind(value)
            raise AbiError(f"expected a bytes object with {self.size} bytes, got {given}")
        return value.ljust(WORD, b"\0")

    def decode(self, data: memoryview, at: int) -> bytes:
        word = bytes(_word(data, at))
        if any(word[self.size :]):
            raise AbiError(
                f"the word at byte {at} is 0x{word.hex()}: all bytes after the first {self.size} must be zero"
            )
        return word[: self.size]


# --- any length -----------------------------------------------------------------------------------------------------


class _Bytes(NamedTuple):
    text: bool
    head: int | None = None

    def encode(self, value: Any) -> bytes:
        raw = _utf8(value) if self.text else value
        if not isinstance(raw, bytes):
            raise AbiError(f"expected a bytes object, got {_kind(value)}")
        return len(raw).to_bytes(WORD, "big") + raw + bytes(-len(raw) % WORD)

    def decode(self, data: memoryview, at: int) -> str | bytes:
        length = _length(data, at)
        raw = bytes(data[at + WORD : at + WORD + length])
        if len(raw) != length:
            raise AbiError(
                f"the length at byte {at} is {length}, but only {len(raw)} bytes follow: the data is truncated"
            )
        # A contract can store any bytes as a string. A malformed name from another user must not cause an error.
        return raw.decode(errors="replace") if self.text else raw


def _utf8(value: Any) -> bytes:
    if not isinstance(value, str):
        raise AbiError(f"expected a string, got {_kind(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise AbiError(
            f"character {error.start} of the string is an unpaired surrogate, which UTF-8 cannot encode: remove it"
        ) from error


class _Array(NamedTuple):
    item: _Coder
    length: int | None

    @property
    def head(self) -> int | None:
        return None if self.length is None or self.item.head is None else self.length * self.item.head

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
            raise AbiError(f"expected a list or a tuple, got {_kind(value)}")
        if self.length is None:
            return len(value).to_bytes(WORD, "big") + _Tuple((self.item,) * len(value)).encode(value)
        return _Tuple((self.item,) * self.length).encode(value)

    def decode(self, data: memoryview, at: int) -> tuple[Any, ...]:
        length = self.length
        if length is None:
            length, at = _length(data, at), at + WORD
        # Count an item without bytes, such as an empty tuple, as one byte. Otherwise, the size of the data does not
        # limit the number of items.
        if length * (self.item.head or WORD if self.item.head != 0 else 1) > len(data) - at:
            raise AbiError(f"{length} items must follow byte {at}, but the data ends at byte {len(data)}")
        return _Tuple((self.item,) * length).decode(data, at)


class _Tuple(NamedTuple):
    items: tuple[_Coder, ...]

    @property
    def head(self) -> int | None:
        sizes = [item.head for item in self.items]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or len(value) != len(self.items):
            raise AbiError(f"expected a list or a tuple of {len(self.items)} values, got {_kind(value)}")
        offset = sum(item.head or WORD for item in self.items)
        heads, tails = [], []
        for item, part in zip(self.items, value, strict=True):
            encoded = item.encode(part)
            if item.head is None:
                heads.append(offset.to_bytes(WORD, "big"))
                tails.append(encoded)
                offset += len(encoded)
            else:
                heads.append(encoded)
        return b"".join((*heads, *tails))

    def decode(self, data: memoryview, at: int) -> tuple[Any, ...]:
        found, cursor = [], at
        for item in self.items:
            if item.head is None:
                found.append(item.decode(data, at + _length(data, cursor)))
                cursor += WORD
            else:
                found.append(item.decode(data, cursor))
                cursor += item.head
        return tuple(found)


_PLAIN: Final[dict[str, _Coder]] = {
    "address": _Address(),
    "bool": _Bool(),
    "bytes": _Bytes(text=False),
    "string": _Bytes(text=True),
}


def _word(data: memoryview, at: int) -> memoryview:
    word = data[at : at + WORD]
    if len(word) != WORD:
        raise AbiError(f"the data ends at byte {len(data)}, before the word at byte {at}")
    return word


def _length(data: memoryview, at: int) -> int:
    """Reads a length or an offset from the data.

    Raises:
        AbiError: The number exceeds the size of the data, or the data ends before the number does.
    """
    number = int.from_bytes(_word(data, at), "big")
    if number > len(data):
        raise AbiError(f"the length or offset at byte {at} is {number}, but the data has only {len(data)} bytes")
    return number


def _kind(value: Any) -> str:
    size = f" of length {len(value)}" if isinstance(value, (str, bytes, Sequence)) else ""
    return f"{type(value).__name__}{size}"
