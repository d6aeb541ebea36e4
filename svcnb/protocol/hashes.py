"""Hashes that the service and its contract use as identifiers, and their hex formats.

Source: docs/service/keys.md#identifiers; EIP-55 for addresses.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from svcnb.errors import InvalidType
from svcnb.protocol.errors import MalformedAddress, MalformedHex, MalformedValue, shown
from svcnb.protocol.keccak import keccak256

__all__ = [
    "ADDRESS_BYTES",
    "HASH_BYTES",
    "ZERO_ADDRESS",
    "api_key_hash",
    "checksum_address",
    "event_topic",
    "function_selector",
    "hashed_cid",
    "keccak256",
    "key_hash",
    "normal_address",
    "parse_hex",
    "uint256_hex",
    "usage_key_bytes",
    "usage_key_hash",
    "wallet_lookup_key",
]

HASH_BYTES: Final = 32
ADDRESS_BYTES: Final = 20
ZERO_ADDRESS: Final = "0x" + "0" * 40

_HEX: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]*)\Z")
_ADDRESS: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]{40})\Z")
_HASH: Final = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")


# --- hex ----------------------------------------------------------------------------------------------------------


def parse_hex(text: str, size: int | None = None, what: str = "value") -> bytes:
    """Parses hex text.

    Args:
        text: Hex digits in either case, with or without ``0x``. The function ignores surrounding whitespace.
        size: Expected number of bytes. None allows any number.
        what: Name of the value for the error message.

    Returns:
        The bytes.

    Raises:
        InvalidType: ``text`` is not a string.
        MalformedHex: The text is not hex, has an odd number of digits, or has the wrong number of bytes. The message
            does not contain the text, because it can be a secret.
    """
    if not isinstance(text, str):
        raise InvalidType(f"the {what} must be a hex string, not {type(text).__name__}")
    found = _HEX.match(text.strip())
    if not found:
        raise MalformedHex(f"the {what} is not hex: expected only the digits 0-9 and a-f, optionally after 0x")
    if len(found[1]) % 2:
        wanted = "an even number" if size is None else f"{2 * size}"
        raise MalformedHex(f"the {what} has {len(found[1])} hex digits: expected {wanted}")
    data = bytes.fromhex(found[1])
    if size is not None and len(data) != size:
        given = f"{len(data)} byte{'' if len(data) == 1 else 's'}"
        raise MalformedHex(f"the {what} has {given}: expected {size}, as 0x followed by {2 * size} hex digits")
    return data


def uint256_hex(number: int) -> str:
    """Formats a number like the hashes of the contract.

    Args:
        number: A number from 0 to 2**256 - 1.

    Returns:
        ``0x`` and 64 lowercase hex digits.

    Raises:
        MalformedValue: The number is out of range.
    """
    if not 0 <= number < 1 << 256:
        raise MalformedValue(f"the number {shown(number)} is out of range: expected 0 to 2**256 - 1")
    return f"0x{number:064x}"


# --- addresses ----------------------------------------------------------------------------------------------------


def normal_address(address: str) -> str:
    """Converts an address to the format that the service uses.

    Args:
        address: 40 hex digits in either case, with or without ``0x``. The function ignores surrounding whitespace.

    Returns:
        ``0x`` and 40 lowercase hex digits.

    Raises:
        InvalidType: The argument is not a string.
        MalformedAddress: The address is not 20 bytes of hex.
    """
    if not isinstance(address, str):
        raise InvalidType(f"an address must be a string of 0x and 40 hex digits, not {type(address).__name__}")
    found = _ADDRESS.match(address.strip())
    if not found:
        raise MalformedAddress(f"invalid address {shown(address)}", hint="Write 0x followed by 40 hex digits.")
    return "0x" + found[1].lower()


def checksum_address(address: str) -> str:
    """Returns an address with its checksum in mixed case (EIP-55).

    Args:
        address: An address in one case, or with a correct checksum.

    Returns:
        ``0x`` and 40 hex digits in mixed case.

    Raises:
        InvalidType: The argument is not a string.
        MalformedAddress: The text is not an address, or has mixed case and a wrong checksum.
    """
    digits = normal_address(address)[2:]
    # Each half byte of the hash determines the case of one letter.
    nibbles = keccak256(digits.encode()).hex()
    mixed = "".join(digit.upper() if nibble >= "8" else digit for digit, nibble in zip(digits, nibbles, strict=False))
    given = address.strip()[-40:]
    if given not in {mixed, digits, digits.upper()}:
        raise MalformedAddress(
            f"the checksum of {shown(address)} is wrong, so a digit is probably mistyped",
            hint="Compare the address with the original, or write the address in lower case to skip the check.",
        )
    return "0x" + mixed


def wallet_lookup_key(address: str) -> int:
    """Returns the number that identifies an admin wallet's account in the contract.

    Args:
        address: The wallet's address.

    Returns:
        ``uint256(keccak256(abi.encodePacked(address)))``.

    Raises:
        InvalidType: The argument is not a string.
        MalformedAddress: The text is not an address.

    Source: docs/service/keys.md#identifiers.
    """
    return int.from_bytes(keccak256(bytes.fromhex(normal_address(address)[2:])), "big")


# --- keys and actions ---------------------------------------------------------------------------------------------


def key_hash(text: str) -> int:
    """Returns the number that identifies an account key or a usage key in the contract.

    Args:
        text: Text of the key, as in the header of a request. The function ignores surrounding whitespace.

    Returns:
        keccak256 of the UTF-8 bytes of the text, as a number.

    Raises:
        InvalidType: The argument is not a string.

    Source: docs/service/keys.md#identifiers.
    """
    return int.from_bytes(_text_hash(text, "a key"), "big")


def api_key_hash(text: str) -> str:
    """Returns `key_hash` as ``0x`` and 64 hex digits. The hash is public and identifies the key permanently."""
    return "0x" + _text_hash(text, "a key").hex()


def usage_key_hash(secret: bytes) -> int:
    """Returns the number that identifies a ChainSecured usage key in the contract.

    Args:
        secret: The key's 32 secret bytes, decoded from its base64 text.

    Returns:
        keccak256 of the bytes, as a number.

    Raises:
        MalformedValue: The secret does not have 32 bytes.

    Source: docs/service/keys.md#identifiers.
    """
    if len(secret) != HASH_BYTES:
        raise MalformedValue(
            f"the secret of the ChainSecured usage key has {len(secret)} bytes: expected {HASH_BYTES}",
            hint="Decode the text of the key first: usage_key_bytes(text).",
        )
    return int.from_bytes(keccak256(secret), "big")


def usage_key_bytes(text: str) -> bytes | None:
    """Decodes the text of a key to its 32 secret bytes.

    Args:
        text: Text of the key, as in the header of a request: standard base64 (RFC 4648, section 4).

    Returns:
        The bytes. None if the text is not the base64 of exactly 32 bytes. The last digit before ``=`` contains four
        bits of the key and two bits that must be zero (section 3.5). Without a check of these two bits, four texts
        would represent the same key.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == HASH_BYTES and base64.b64encode(raw).decode() == text else None


def hashed_cid(cid: str) -> str:
    """Returns the hash that identifies an action in the contract.

    Args:
        cid: The raw CID as text, for example ``Qm…``. Like the service, the function does not check the syntax.

    Returns:
        keccak256 of the UTF-8 bytes of the text, as ``0x`` and 64 lowercase hex digits.

    Raises:
        InvalidType: The argument is not a string.
        MalformedValue: The text is already such a hash, or is empty.

    Example:
        >>> hashed_cid("QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH")
        '0x46d1c74d168a4d3e6e61ae1937aeed3c103095e05af39f9f4aa38f96d651b5a1'

    Source: docs/service/keys.md#identifiers.
    """
    digest = _text_hash(cid, "a CID", trim=False)
    if _HASH.match(cid.strip()):
        raise MalformedValue(
            f"expected a CID, but {cid.strip()} is already a hashed CID", hint="Use the hashed CID unchanged."
        )
    if not cid:
        raise MalformedValue("the CID is empty", hint="Compute the CID: svcnb.cid(source).")
    return "0x" + digest.hex()


def _text_hash(text: str, what: str, *, trim: bool = True) -> bytes:
    if not isinstance(text, str):
        raise InvalidType(f"{what} must be a string, not {type(text).__name__}")
    return keccak256((text.strip() if trim else text).encode("utf-8", "surrogatepass"))


# --- contract interface -------------------------------------------------------------------------------------------


def function_selector(signature: str) -> bytes:
    """Returns the first four bytes of a function's call data.

    Args:
        signature: Name and argument types without spaces, for example ``transfer(address,uint256)``. The signature can
            also be that of a custom error.
    """
    return keccak256(signature.encode())[:4]


def event_topic(signature: str) -> bytes:
    """Returns the first topic of an event's log, 32 bytes.

    Args:
        signature: Name and argument types without spaces, for example ``Transfer(address,address,uint256)``.
    """
    return keccak256(signature.encode())
