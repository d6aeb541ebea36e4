"""Requests that carry a wallet's signature over typed data (specification 2 and 5.6)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from svcnb.protocol.wire.base import Request


class SignedRequest(Request):
    """Typed data and its signature. What they must contain is checked by the endpoint, not by this shape."""

    typed_data: dict[str, Any] | str = Field(
        description="EIP-712 envelope (types, primaryType, domain, message) as an object or as JSON text of one."
    )
    signature: str = Field(description="Signature over the envelope's digest, 0x hex.")
