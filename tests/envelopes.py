"""Typed data of the service, written without the code of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def envelope(
    flow: str, address: str, issued_at: float, chain_id: int, number: Callable[[int], object] = str
) -> dict[str, Any]:
    """Returns the typed data of one flow, as in ``docs/service/signatures.md``.

    Args:
        flow: Primary type.
        address: Address of the signer.
        issued_at: Time in Unix seconds.
        chain_id: Chain id of the domain.
        number: Type of the numbers: strings as in JSON, or integers as other libraries sign them.
    """
    domain = {"name": "string", "version": "string", "chainId": "uint256"}
    message = {"address": "address", "issuedAt": "uint256"}
    return {
        "types": {
            name: [{"name": field, "type": kind} for field, kind in fields.items()]
            for name, fields in (("EIP712Domain", domain), (flow, message))
        },
        "primaryType": flow,
        "domain": {"name": "Svc ChainSecured", "version": "1", "chainId": number(chain_id)},
        "message": {"address": address, "issuedAt": number(int(issued_at))},
    }
