"""Requests that contain a wallet's signature over typed data.

Source: docs/service/signatures.md#envelope, docs/service/signatures.md#rules-of-a-signature.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from svcnb.protocol.wire.base import Request


def _object_or_text(value: object) -> object:
    if not isinstance(value, dict | str):
        raise PydanticCustomError("wrong_type", "expected an object, or its JSON as a string")
    return value


class SignedRequest(Request):
    """Request with typed data and its signature.

    This model checks only the JSON types of the members. The endpoint checks the content.
    """

    typed_data: Annotated[dict[str, Any] | str, BeforeValidator(_object_or_text)] = Field(
        description="EIP-712 envelope (types, primaryType, domain, message) as an object or as a JSON string."
    )
    signature: str = Field(description="Signature over the envelope's digest, as hex digits after 0x.")
