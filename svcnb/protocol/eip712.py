"""EIP-712 digest of any flat envelope, with all intermediate results, for lessons and explanations of rejections.

An envelope is the typed data that a wallet signs. It is flat if no field is an array or a struct.

`svcnb.protocol.typed_data` is faster, but supports only the four canonical envelopes. This module hashes any envelope,
including an invalid envelope. The module can therefore show *why* a signature over a changed envelope does not match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.hashes import normal_address, parse_hex
from svcnb.protocol.keccak import keccak256

_INTEGER: Final = re.compile(r"(u?)int([0-9]{0,3})\Z")
_FIXED_BYTES: Final = re.compile(r"bytes([1-9]|[12][0-9]|3[0-2])\Z")
_WORD: Final = 32
_BITS: Final = 256
_HINT: Final = "Pass an envelope with the members types, primaryType, domain and message."


@dataclass(frozen=True)
class DigestParts:
    """Intermediate results and result of the computation of an envelope's digest.

    Attributes:
        type_string: Canonical text of the primary type.
        type_hash: keccak256 of ``type_string``.
        domain_separator: Struct hash of the domain, with the type ``EIP712Domain``.
        struct_hash: Struct hash of the message, with the primary type.
        digest: The signed bytes: keccak256 of 0x1901, the domain separator and the struct hash.
    """

    type_string: str
    type_hash: bytes
    domain_separator: bytes
    struct_hash: bytes
    digest: bytes

    def _rows(self) -> list[tuple[str, str]]:
        hashes = ("type_hash", "domain_separator", "struct_hash", "digest")
        return [("type_string", self.type_string), *((name, f"0x{getattr(self, name).hex()}") for name in hashes)]

    def __str__(self) -> str:
        return "\n".join(f"{name:<17} {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th scope='row' style='text-align:left'>{name}</th><td style='text-align:left'><code>{escape(value)}"
            "</code></td></tr>"
            for name, value in self._rows()
        )
        return f"<table>{body}</table>"


def digest_parts(typed_data: dict[str, Any]) -> DigestParts:
    """Returns the hashes of an envelope. The function does not check the envelope against the canonical structure.

    Args:
        typed_data: Envelope with the members types, primaryType, domain and message. Fields have an atomic type, string
            or bytes.

    Raises:
        MalformedValue: A member, a type or a value is missing, or a type is an array or a struct.
    """
    try:
        types, primary = _member(typed_data, "types"), _member(typed_data, "primaryType")
        fields = _member(types, primary, "types")
        type_string = _type_string(primary, fields)
        separator = _struct_hash(
            "EIP712Domain", _member(types, "EIP712Domain", "types"), _member(typed_data, "domain"), "domain"
        )
        message = _struct_hash(primary, fields, _member(typed_data, "message"), "message")
    except (TypeError, AttributeError) as error:
        raise MalformedValue(f"the envelope has an invalid structure: {error}", hint=_HINT) from None
    digest = keccak256(b"\x19\x01" + separator + message)
    return DigestParts(type_string, keccak256(type_string.encode()), separator, message, digest)


def _member(values: Any, name: Any, of: str = "") -> Any:
    try:
        return values[name]
    except KeyError:
        where = f" in {of!r}" if of else ""
        raise MalformedValue(f"the envelope has no member {shown(name)}{where}", hint=_HINT) from None


def _type_string(name: str, fields: list[dict[str, str]]) -> str:
    listed = ",".join(f"{_member(field, 'type', 'types')} {_member(field, 'name', 'types')}" for field in fields)
    return f"{name}({listed})"


def _struct_hash(name: str, fields: list[dict[str, str]], values: dict[str, Any], where: str) -> bytes:
    words = [
        _word(_member(field, "type", "types"), _member(values, _member(field, "name", "types"), where), field["name"])
        for field in fields
    ]
    return keccak256(keccak256(_type_string(name, fields).encode()) + b"".join(words))


def _word(kind: str, value: Any, name: str) -> bytes:
    if kind == "string":
        if not isinstance(value, str):
            raise MalformedValue(f"the field {name} is {shown(value)}: expected a string")
        return keccak256(value.encode())
    if kind == "bytes":
        return keccak256(_bytes(value, name))
    if kind == "address":
        return bytes.fromhex(normal_address(value)[2:]).rjust(_WORD, b"\0")
    if kind == "bool":
        if not isinstance(value, bool):
            raise MalformedValue(f"the field {name} is {shown(value)}: expected a boolean", hint="Pass True or False.")
        return int(value).to_bytes(_WORD, "big")
    if found := _INTEGER.match(kind):
        return _integer(value, int(found[2] or _BITS), signed=not found[1], name=name)
    if found := _FIXED_BYTES.match(kind):
        data = _bytes(value, name)
        if len(data) != int(found[1]):
            raise MalformedValue(
                f"the field {name} has {len(data)} bytes, but the type {kind} requires {found[1]}",
                hint=f"Pass {found[1]} bytes.",
            )
        return data.ljust(_WORD, b"\0")
    raise MalformedValue(
        f"the field {name} has the type {shown(kind)}, which is not supported",
        hint="Use a type without arrays and structs.",
    )


def _integer(value: Any, bits: int, *, signed: bool, name: str) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise MalformedValue(f"the field {name} is {shown(value)}: expected an integer of at most {bits} bits")
    try:
        number = int(value, 0) if isinstance(value, str) else value
        # Sign-extend a signed number that is narrower than a word.
        number.to_bytes(bits // 8, "big", signed=signed)
        return number.to_bytes(_WORD, "big", signed=signed)
    except (ValueError, TypeError, OverflowError):
        raise MalformedValue(
            f"the field {name} is {shown(value)}: expected an integer of at most {bits} bits"
        ) from None


def _bytes(value: Any, name: str) -> bytes:
    return value if isinstance(value, bytes) else parse_hex(value, what=name)
