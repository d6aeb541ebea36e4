"""X-Wallet-Auth header, which contains a wallet's signature instead of an API key, for the billing endpoints.

Source: docs/service/signatures.md#x-wallet-auth.
"""

from __future__ import annotations

from svcnb.emulator.access.signatures import EnvelopeVerifier
from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.wallet_auth import HEADER, decode_wallet_auth


async def wallet_of_header(value: str | None, verifier: EnvelopeVerifier) -> str | None:
    """Returns the wallet that signed a request's X-Wallet-Auth header.

    A decodable header takes precedence over the key headers, even if the service then rejects the header's content.

    Args:
        value: The header's value, or None if the request does not contain the header.
        verifier: Verifier of the envelope and its signature.

    Returns:
        The wallet's address in lowercase, or None if the header is missing or not decodable. In this case, the caller
        must check for a key.

    Raises:
        StructuredError: 401 if the service can decode the header but rejects its envelope or signature.
        Unavailable: 503 if the chain does not respond to the call of a contract wallet.
    """
    auth = decode_wallet_auth(value) if value else None
    if auth is None:
        return None
    try:
        return await verifier.verify(auth.typed_data, auth.signature, Flow.BILLING_AUTH)
    except EndpointFailure as failure:
        raise StructuredError(
            401,
            f"the header {HEADER} is not valid: {failure.message}",
            fix=f"Sign a new {Flow.BILLING_AUTH.value} envelope and send it within {ISSUED_AT_WINDOW_S} seconds, "
            "or send an API key instead.",
            docs="authentication",
        ) from failure
