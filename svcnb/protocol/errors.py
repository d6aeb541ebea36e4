"""What the pure functions raise when a value cannot be what it is taken for."""

from __future__ import annotations

from typing import Any


class MalformedValue(ValueError):
    """A value has the right type and cannot be read.

    Args:
        message: What was seen and what is allowed.
        hint: What to do next.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nNext step: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # `hint` is keyword-only, which the default pickling of exceptions cannot pass.
        return type(self), (self.message,), {"hint": self.hint}


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
