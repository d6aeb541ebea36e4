"""The header X-Wallet-Auth: a wallet's signature in place of a key, for the billing endpoints (reference facts G21)."""

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
    """The wallet that a request's X-Wallet-Auth header proves.

    A header that can be decoded takes precedence over the key headers, even if it is then refused.

    Args:
        value: The header's value, None when it was not sent.
        chain_id: The node's chain id.
        clock: The server's time; envelopes pass for 300 seconds before and after, bounds included.
        vocabulary: Names of the service.
        is_valid_contract_signature: As for `verify_envelope`.

    Returns:
        The wallet's address in lower case. None when no header can be decoded: read a key then.

    Raises:
        StructuredError: 401, it can be decoded and its envelope or signature is refused.
        Unavailable: 503, a contract wallet did not answer.
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
            f"{HEADER} was refused. {failure.message}",
            fix=f"Sign a new {Flow.BILLING_AUTH.value} envelope and send it within {ISSUED_AT_WINDOW_S} seconds, "
            "or send an API key instead.",
            docs="authentication",
        ) from failure
