"""Verification of signed envelopes: by the key of a wallet, or by a contract wallet (specification 5.6)."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable

from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.platform.clock import Clock
from svcnb.protocol.envelope_rules import EnvelopeRefused, check_envelope, signature_bytes
from svcnb.protocol.errors import MalformedSignature
from svcnb.protocol.signature import SIGNATURE_BYTES, recover_address
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.vocabulary import Vocabulary

ContractCheck = Callable[[str, bytes, bytes], Awaitable[bool]]
"""Asks the contract at an address whether a signature over a digest is its own (ERC-1271).

False for a refusal, a revert, an address without code or a short answer. Raises `Unavailable` when the chain does not
answer.
"""


async def verify_envelope(
    typed_data: object,
    signature: object,
    *,
    flow: Flow,
    chain_id: int,
    clock: Clock,
    vocabulary: Vocabulary,
    is_valid_contract_signature: ContractCheck,
) -> str:
    """Checks an envelope and its signature, in the order of reference facts 6.9.

    Envelopes are not recorded: the same envelope passes again until it expires (specification 5.6.7).

    Args:
        typed_data: Envelope as received, an object or JSON text of one.
        signature: Signature as received, hex text.
        flow: The endpoint's flow.
        chain_id: The node's chain id.
        clock: The server's time.
        vocabulary: Names of the service; they are part of the digest.
        is_valid_contract_signature: Called when the key of ``message.address`` did not sign.

    Returns:
        The wallet that signed, ``0x`` and 40 lower-case digits.

    Raises:
        EndpointFailure: 400 with a description of the broken rule.
        Unavailable: 503, the chain is needed and does not answer.
    """
    try:
        checked = check_envelope(typed_data, flow=flow, chain_id=chain_id, now_s=clock.now_s(), vocabulary=vocabulary)
        signed = signature_bytes(signature)
    except EnvelopeRefused as refused:
        raise EndpointFailure(
            400, f"{refused.message}: {refused.hint}" if refused.hint else refused.message
        ) from refused
    recovered = _recovered(checked.digest, signed)
    if recovered is not None and hmac.compare_digest(recovered, checked.address):
        return checked.address
    if await is_valid_contract_signature(checked.address, checked.digest, signed):
        return checked.address
    raise EndpointFailure(400, _not_signed(checked.address, recovered, len(signed)))


def _recovered(digest: bytes, signature: bytes) -> str | None:
    if len(signature) != SIGNATURE_BYTES:
        return None
    try:
        return recover_address(digest, signature)
    except MalformedSignature:
        # Not an error yet: 65 bytes may also be a valid signature for a contract wallet.
        return None


def _not_signed(address: str, recovered: str | None, size: int) -> str:
    seen = f"it recovers to {recovered}" if recovered else f"its {size} bytes recover to no address"
    return (
        f"The signature was not made by {address}: {seen}, and no contract at that address accepts it (ERC-1271). "
        "Sign exactly the envelope that is sent; a contract wallet must be deployed on this chain before."
    )
