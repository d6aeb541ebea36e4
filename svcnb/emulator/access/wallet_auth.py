"""X-Wallet-Auth header, which contains a wallet's signature instead of an API key, for the billing endpoints.

Source: docs/service/signatures.md#x-wallet-auth.
"""

from __future__ import annotations

from svcnb.emulator.access.signatures import ContractCheck, verify_envelope
from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.emulator.platform.clock import Clock
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wallet_auth import HEADER, decode_wallet_auth


async def wallet_of_header(
    value: str | None,
    *,
    chain_id: int,
    clock: Clock,
    vocabulary: Vocabulary,
    is_valid_contract_signature: ContractCheck,
) -> str | None:
    """Returns the wallet that signed a request's X-Wallet-Auth header.

    A decodable header takes precedence over the key headers, even if the service then rejects the header's content.

    Args:
        value: The header's value, or None if the request does not contain the header.
        chain_id: The node's chain id.
        clock: The server's clock. The time of an envelope must be within 300 seconds of the server's time.
        vocabulary: Names of the service.
        is_valid_contract_signature: Function that checks ERC-1271 signatures. See `verify_envelope`.

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
        return await verify_envelope(
            auth.typed_data,
            auth.signature,
            flow=Flow.BILLING_AUTH,
            chain_id=chain_id,
            clock=clock,
            vocabulary=vocabulary,
            is_valid_contract_signature=is_valid_contract_signature,
        )
    except EndpointFailure as failure:
        raise StructuredError(
            401,
            f"the header {HEADER} is not valid: {failure.message}",
            fix=f"Sign a new {Flow.BILLING_AUTH.value} envelope and send it within {ISSUED_AT_WINDOW_S} seconds, "
            "or send an API key instead.",
            docs="authentication",
        ) from failure
