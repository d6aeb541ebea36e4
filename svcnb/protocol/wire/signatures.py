"""Requests that carry a wallet's signature over typed data (specification 2 and 5.6)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from svcnb.protocol.wire.base import Request


def _object_or_text(value: object) -> object:
    if not isinstance(value, dict | str):
        raise PydanticCustomError("wrong_type", "an object, or the JSON text of one, is wanted")
    return value


class SignedRequest(Request):
    """Typed data and its signature. What they must contain is checked by the endpoint, not by this shape."""

    typed_data: Annotated[dict[str, Any] | str, BeforeValidator(_object_or_text)] = Field(
        description="EIP-712 envelope (types, primaryType, domain, message) as an object or as JSON text of one."
    )
    signature: str = Field(description="Signature over the envelope's digest, 0x hex.")
