"""Header with which a wallet, instead of a key, is authenticated at the billing endpoints.

Its value is the standard base64 of the UTF-8 JSON ``{"typed_data": ..., "signature": "0x..."}`` with an envelope of
the flow `svcnb.protocol.typed_data.Flow.BILLING_AUTH`.

Source: specification 2 and 5.6; reference facts G21.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from svcnb.protocol.nesting import parse

HEADER: Final = "X-Wallet-Auth"

_MAX_BRACKETS: Final = 500
"""An envelope has nine. Without a limit, a nested header could crash a process in which a library raised the recursion
limit."""


class WalletAuth(NamedTuple):
    """Content of the header.

    Attributes:
        typed_data: The envelope, as an object or as JSON text of one.
        signature: Signature over it, hex.
    """

    typed_data: dict[str, Any] | str
    signature: str


def encode_wallet_auth(typed_data: dict[str, Any], signature: str) -> str:
    """Writes the header's value.

    Args:
        typed_data: Envelope of the flow BillingAuth.
        signature: Signature over it, ``0x`` hex.
    """
    text = json.dumps({"typed_data": typed_data, "signature": signature}, separators=(",", ":"))
    return base64.b64encode(text.encode()).decode()


def decode_wallet_auth(value: str) -> WalletAuth | None:
    """Reads the header's value.

    Args:
        value: The received value.

    Returns:
        Envelope and signature, both unchecked. None when this is not the header of a wallet; a server then checks for a
        key.
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
