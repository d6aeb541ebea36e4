"""Header ``X-Wallet-Auth``, with which a wallet authenticates at the billing endpoints instead of an API key.

The value of the header is the standard base64 of the UTF-8 JSON ``{"typed_data": ..., "signature": "0x..."}`` with an
envelope of the flow `svcnb.protocol.typed_data.Flow.BILLING_AUTH`.

Source: docs/service/signatures.md#envelope, docs/service/signatures.md#rules-of-a-signature,
    docs/service/signatures.md#x-wallet-auth.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from svcnb.protocol.nesting import parse

HEADER: Final = "X-Wallet-Auth"

_MAX_BRACKETS: Final = 500
"""Maximum number of opening brackets in a header. The header of a canonical envelope has twelve.

Without a limit, a deeply nested header could crash a process in which a library has raised the recursion limit."""


class WalletAuth(NamedTuple):
    """Decoded content of the header ``X-Wallet-Auth``.

    Attributes:
        typed_data: The envelope, as an object or as its JSON text.
        signature: Signature over the envelope, hex.
    """

    typed_data: dict[str, Any] | str
    signature: str


def encode_wallet_auth(typed_data: dict[str, Any], signature: str) -> str:
    """Returns the value of the header for an envelope and its signature.

    Args:
        typed_data: Envelope of the flow BillingAuth.
        signature: Signature over the envelope, ``0x`` hex.
    """
    text = json.dumps({"typed_data": typed_data, "signature": signature}, separators=(",", ":"))
    return base64.b64encode(text.encode()).decode()


def decode_wallet_auth(value: str) -> WalletAuth | None:
    """Decodes the value of the header.

    Args:
        value: Value of the header, as the server received it.

    Returns:
        Envelope and signature, both unchecked. None if the value does not have the format of the header. In this case,
        a server ignores the header and authenticates the request with its key.
    """
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
        if text.count("[") + text.count("{") > _MAX_BRACKETS:
            return None
        found = parse(text)
    except (binascii.Error, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    typed_data, signature = found.get("typed_data"), found.get("signature")
    if not isinstance(typed_data, (dict, str)) or not isinstance(signature, str):
        return None
    return WalletAuth(typed_data, signature)
