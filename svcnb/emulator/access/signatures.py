"""Verifier of envelopes: EIP-712 typed data with the signature of a wallet's private key or of a contract wallet.

Source: docs/service/signatures.md#rules-of-a-signature.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.faults import Faults
from svcnb.protocol.envelope_rules import EnvelopeRefused, check_envelope, signature_bytes
from svcnb.protocol.errors import MalformedSignature
from svcnb.protocol.signature import SIGNATURE_BYTES, recover_address
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.vocabulary import Vocabulary

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain


class EnvelopeVerifier:
    """Verifier of envelopes and their signatures, in the order of docs/service/signatures.md#rules-of-a-signature.

    The service does not record envelopes. The service accepts an envelope again until the envelope expires
    (docs/service/signatures.md#replay).

    Args:
        chain: Chain with the contract wallets, which verify their own signatures (ERC-1271).
        clock: The server's clock.
        faults: Injected faults of the chain.
        vocabulary: Configured names, which determine the name in the EIP-712 domain of an envelope.
    """

    def __init__(self, chain: Chain, clock: Clock, faults: Faults, vocabulary: Vocabulary) -> None:
        self._chain = chain
        self._clock = clock
        self._faults = faults
        self._vocabulary = vocabulary

    async def verify(self, typed_data: object, signature: object, flow: Flow) -> str:
        """Verifies an envelope and its signature.

        Args:
            typed_data: Envelope as received: an object, or an object as JSON text.
            signature: Signature as received, as hex text.
            flow: Kind of request that the endpoint accepts. The envelope's ``primaryType`` must be the name of this
                kind.

        Returns:
            Address of the wallet that signed: ``0x`` and 40 lowercase hex digits.

        Raises:
            EndpointFailure: 400 with a description of the violated rule.
            Unavailable: 503 if the check needs the chain and the chain does not respond.
        """
        try:
            checked = check_envelope(
                typed_data,
                flow=flow,
                chain_id=self._chain.chain_id,
                now_s=self._clock.now_s(),
                vocabulary=self._vocabulary,
            )
            signed = signature_bytes(signature)
        except EnvelopeRefused as refused:
            raise EndpointFailure(
                400, f"{refused.message}. {refused.hint}" if refused.hint else refused.message
            ) from refused
        recovered = _recovered(checked.digest, signed)
        if recovered is not None and hmac.compare_digest(recovered, checked.address):
            return checked.address
        await self._faults.check("chain")
        if await self._chain.is_valid_signature(checked.address, checked.digest, signed):
            return checked.address
        raise EndpointFailure(400, _not_signed(checked.address, recovered, len(signed)))


def _recovered(digest: bytes, signature: bytes) -> str | None:
    if len(signature) != SIGNATURE_BYTES:
        return None
    try:
        return recover_address(digest, signature)
    except MalformedSignature:
        # Do not raise an error yet, because 65 bytes can also be a valid signature for a contract wallet.
        return None


def _not_signed(address: str, recovered: str | None, size: int) -> str:
    seen = (
        f"the recovered address is {recovered}"
        if recovered
        else f"no address can be recovered from the signature, which has {size} bytes"
    )
    return (
        f"the signature was not made by {address}: {seen}, and {address} is not a contract that accepts the signature "
        "(ERC-1271). Sign exactly the envelope that you send. A contract wallet must already be deployed on this chain."
    )
