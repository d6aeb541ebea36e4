"""What the pure functions raise when a value cannot be what it is taken for."""

from __future__ import annotations

from svcnb.errors import InvalidArgument


class MalformedValue(InvalidArgument):
    """A value has the right type and cannot be read."""


class MalformedHex(MalformedValue):
    """A text is no hex, or holds another number of bytes than wanted."""


class MalformedAddress(MalformedValue):
    """A text is no Ethereum address, or its mixed-case checksum (EIP-55) does not fit."""


class MalformedCid(MalformedValue):
    """A text is no content identifier of the kind wanted."""


class MalformedSignature(MalformedValue):
    """Bytes are no secp256k1 signature from which a signer can be recovered."""


def shown(value: object, limit: int = 80) -> str:
    """A value for an error text: its repr, cut with an ellipsis."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
