"""Hashes that the service and its contract use as identifiers, and their hex form.

Source: specification 2; reference facts 4.1; EIP-55 for addresses.
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
    """Reads hex.

    Args:
        text: Hex digits in either case, ``0x`` optional, white space around them ignored.
        size: Expected number of bytes, or None for any.
        what: Name of the value for the error message.

    Returns:
        The bytes.

    Raises:
        InvalidType: Not a string.
        MalformedHex: Not hex, an odd number of digits, or another number of bytes. The message does not contain the
            string, since it can be a secret.
    """
    if not isinstance(text, str):
        raise InvalidType(f"the {what} is hex text, not {type(text).__name__}")
    found = _HEX.match(text.strip())
    if not found or len(found[1]) % 2:
        raise MalformedHex(
            f"the {what} is no hex: {len(text.strip())} characters, want an even number of the digits 0-9 and a-f, "
            "0x in front or not"
        )
    data = bytes.fromhex(found[1])
    if size is not None and len(data) != size:
        raise MalformedHex(f"the {what} holds {len(data)} bytes, {size} are wanted: 0x and {2 * size} hex digits")
    return data


def uint256_hex(number: int) -> str:
    """Writes a number in the form of the contract's hashes.

    Args:
        number: 0 to 2**256 - 1.

    Returns:
        ``0x`` and 64 lower-case hex digits.

    Raises:
        MalformedValue: The number does not fit.
    """
    if not 0 <= number < 1 << 256:
        raise MalformedValue(f"{shown(number)} does not fit 256 bits: it lies between 0 and 2**256 - 1")
    return f"0x{number:064x}"


# --- addresses ----------------------------------------------------------------------------------------------------


def normal_address(address: str) -> str:
    """Returns an address in the service's form.

    Args:
        address: 40 hex digits in any case, ``0x`` optional, white space around them ignored.

    Returns:
        ``0x`` and 40 lower-case hex digits.

    Raises:
        InvalidType: Not a string.
        MalformedAddress: Not 20 bytes of hex.
    """
    if not isinstance(address, str):
        raise InvalidType(f"an address is a text, 0x and 40 hex digits, not {type(address).__name__}")
    found = _ADDRESS.match(address.strip())
    if not found:
        raise MalformedAddress(
            f"{shown(address)} is no address", hint="write 0x and 40 hex digits, as wallet_address shows them"
        )
    return "0x" + found[1].lower()


def checksum_address(address: str) -> str:
    """Returns an address with the capital letters that detect typing errors (EIP-55).

    Args:
        address: An address in one case, or with a correct checksum.

    Returns:
        ``0x`` and 40 hex digits in mixed case.

    Raises:
        InvalidType: Not a string.
        MalformedAddress: Not an address, or mixed case with a wrong checksum.
    """
    digits = normal_address(address)[2:]
    # Half a byte of the hash determines each letter.
    nibbles = keccak256(digits.encode()).hex()
    mixed = "".join(digit.upper() if nibble >= "8" else digit for digit, nibble in zip(digits, nibbles, strict=False))
    given = address.strip()[-40:]
    if given not in {mixed, digits, digits.upper()}:
        raise MalformedAddress(
            f"the checksum of {shown(address)} is wrong, so a digit was probably mistyped",
            hint="compare it with its source, or write it in lower case to skip the check",
        )
    return "0x" + mixed


def wallet_lookup_key(address: str) -> int:
    """Returns the number under which the contract stores the account of an admin wallet.

    Args:
        address: The wallet's address.

    Returns:
        ``uint256(keccak256(abi.encodePacked(address)))``.

    Raises:
        InvalidType: Not a string.
        MalformedAddress: Not an address.

    Source: specification 2, Account.
    """
    return int.from_bytes(keccak256(bytes.fromhex(normal_address(address)[2:])), "big")


# --- keys and actions ---------------------------------------------------------------------------------------------


def key_hash(text: str) -> int:
    """Returns the number under which the contract stores an account key or a usage key.

    Args:
        text: The key as it is sent in the header; white space around it is ignored.

    Returns:
        keccak256 of its UTF-8 bytes, as a number.

    Raises:
        InvalidType: Not a string.

    Source: reference facts 4.1.
    """
    return int.from_bytes(_text_hash(text, "a key"), "big")


def api_key_hash(text: str) -> str:
    """`key_hash` as ``0x`` and 64 hex digits: the public, stable identity of a key."""
    return "0x" + _text_hash(text, "a key").hex()


def usage_key_hash(secret: bytes) -> int:
    """Returns the number under which a ChainSecured usage key is stored on the contract.

    Args:
        secret: The key's 32 secret bytes (its base64 text decoded).

    Returns:
        keccak256 of the bytes, as a number.

    Raises:
        MalformedValue: Another number of bytes.

    Source: specification 2, Usage API key.
    """
    if len(secret) != HASH_BYTES:
        raise MalformedValue(
            f"a ChainSecured usage key has {HASH_BYTES} secret bytes, not {len(secret)}", hint="decode its base64 text"
        )
    return int.from_bytes(keccak256(secret), "big")


def usage_key_bytes(text: str) -> bytes | None:
    """Returns the 32 secret bytes behind a key's text.

    Args:
        text: The key as it is presented: standard base64 (RFC 4648, section 4).

    Returns:
        None when the string is not the base64 of exactly 32 bytes. The last digit before ``=`` has four bits of the key
        and two that must be zero (section 3.5). Without that check, four strings would mean the same key.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == HASH_BYTES and base64.b64encode(raw).decode() == text else None


def hashed_cid(cid: str) -> str:
    """Returns the hash that identifies an action on the contract.

    Args:
        cid: The raw CID as text, for example ``Qm…``. Its syntax is not checked, as the service does not check it.

    Returns:
        ``0x`` and 64 lower-case hex digits: keccak256 of the text's UTF-8 bytes.

    Raises:
        InvalidType: Not a string.
        MalformedValue: The string is already such a hash, or empty.

    Example:
        >>> hashed_cid("QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH")
        '0x46d1c74d168a4d3e6e61ae1937aeed3c103095e05af39f9f4aa38f96d651b5a1'

    Source: specification 2, Action.
    """
    digest = _text_hash(cid, "a CID", trim=False)
    if _HASH.match(cid.strip()):
        raise MalformedValue(f"{cid.strip()} is a hashed CID already", hint="use it as it is")
    if not cid:
        raise MalformedValue("the CID is empty", hint="compute it: svcnb.cid(source)")
    return "0x" + digest.hex()


def _text_hash(text: str, what: str, *, trim: bool = True) -> bytes:
    if not isinstance(text, str):
        raise InvalidType(f"{what} is a text, not {type(text).__name__}")
    return keccak256((text.strip() if trim else text).encode("utf-8", "surrogatepass"))


# --- contract interface -------------------------------------------------------------------------------------------


def function_selector(signature: str) -> bytes:
    """Returns the first four bytes of a call.

    Args:
        signature: Name and argument types without spaces, for example ``transfer(address,uint256)``. Custom errors also
            have selectors.
    """
    return keccak256(signature.encode())[:4]


def event_topic(signature: str) -> bytes:
    """Returns the first topic of an event's log, 32 bytes.

    Args:
        signature: Name and argument types without spaces, for example ``Transfer(address,address,uint256)``.
    """
    return keccak256(signature.encode())
