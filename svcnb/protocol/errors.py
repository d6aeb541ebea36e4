"""Errors that the pure functions raise for malformed values."""

from __future__ import annotations

from svcnb.errors import InvalidArgument


class MalformedValue(InvalidArgument):
    """Error for a value that has the correct type but cannot be parsed."""


class MalformedHex(MalformedValue):
    """Error for a string that is not hex or has the wrong number of bytes."""


class MalformedAddress(MalformedValue):
    """Error for a string that is not an Ethereum address, or whose mixed-case checksum (EIP-55) is wrong."""


class MalformedCid(MalformedValue):
    """Error for a string that is not a CID, or for a CID whose version, encoding or hash function is not supported."""


class MalformedSignature(MalformedValue):
    """Error for bytes that are not a secp256k1 signature, or that do not allow the recovery of a signer."""


def shown(value: object, limit: int = 80) -> str:
    """Returns the repr of a value for an error message. An ellipsis ends a text that exceeds ``limit`` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
