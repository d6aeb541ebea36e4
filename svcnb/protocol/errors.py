"""Errors of the pure functions for malformed values."""

from __future__ import annotations

from svcnb.errors import InvalidArgument


class MalformedValue(InvalidArgument):
    """A value has the right type but cannot be read."""


class MalformedHex(MalformedValue):
    """A string is not hex, or has another number of bytes than expected."""


class MalformedAddress(MalformedValue):
    """A string is not an Ethereum address, or its mixed-case checksum (EIP-55) is wrong."""


class MalformedCid(MalformedValue):
    """A string is not a content identifier of the expected kind."""


class MalformedSignature(MalformedValue):
    """Bytes are not a secp256k1 signature from which a signer can be recovered."""


def shown(value: object, limit: int = 80) -> str:
    """Returns a value for an error message: its repr, shortened with an ellipsis."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
