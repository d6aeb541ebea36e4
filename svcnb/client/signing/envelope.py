"""Envelopes (typed data that authorises one operation), their signature, and their conversion to HTTP requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from svcnb.client import display
from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.signing.eth import as_signer
from svcnb.protocol.typed_data import Flow, envelope
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wallet_auth import HEADER, encode_wallet_auth

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner


@dataclass(frozen=True, repr=False)
class SignedEnvelope:
    """Envelope of one operation with the signature of a wallet, which authorises the operation.

    An envelope has no nonce. Anyone who has the envelope can use it repeatedly while it is valid: from 300 seconds
    before ``issued_at`` to 300 seconds after ``issued_at``.

    Attributes:
        typed_data: The signed typed data (EIP-712), with the members types, primaryType, domain and message.
        signature: Signature in ``0x`` hex.
    """

    typed_data: dict[str, Any]
    signature: str

    @property
    def flow(self) -> Flow:
        """Operation that the envelope authorises. Only the endpoints of this operation accept the envelope."""
        return Flow(self.typed_data["primaryType"])

    @property
    def address(self) -> str:
        """Address of the wallet that authorises the operation. For a `ContractWallet`, the address of the contract."""
        return str(self.typed_data["message"]["address"])

    @property
    def issued_at(self) -> int:
        """Time in the envelope, in Unix seconds. The time refers to the service's clock."""
        return int(self.typed_data["message"]["issuedAt"])

    def as_request(self) -> dict[str, Any]:
        """Returns the request body for the operation's endpoint: an object with ``typed_data`` and ``signature``."""
        return {"typed_data": self.typed_data, "signature": self.signature}

    def as_headers(self) -> dict[str, str]:
        """Returns the header that authenticates calls to the billing endpoints.

        Raises:
            InvalidArgument: The envelope does not authorise calls to the billing endpoints.
        """
        if self.flow is not Flow.BILLING_AUTH:
            raise InvalidArgument(
                f"{HEADER} requires a signature for {Flow.BILLING_AUTH.value}, but this signature is for "
                f"{self.flow.value}",
                hint=f"Sign another envelope: sign_flow(signer, {Flow.BILLING_AUTH.value!r}, chain_id, issued_at).",
            )
        return {HEADER: encode_wallet_auth(self.typed_data, self.signature)}

    def __repr__(self) -> str:
        # The signature is not shown, because anyone can use it for this flow while it is valid.
        return f"SignedEnvelope({self.flow.value}, {self.address}, issued_at={self.issued_at})"

    def _repr_html_(self) -> str:
        domain = self.typed_data["domain"]
        rows = [
            ("flow", self.flow.value),
            ("address", self.address),
            ("issued at", self.issued_at),
            ("chain", domain["chainId"]),
            ("service", domain["name"]),
        ]
        return display.record("SignedEnvelope", rows)


def sign_flow(
    signer: AnySigner, flow: Flow | str, chain_id: int, issued_at: int, *, vocabulary: Vocabulary | None = None
) -> SignedEnvelope:
    """Builds the envelope that authorises an operation, signs it with a wallet, and returns the signed envelope.

    Args:
        signer: Wallet that signs: a signer or an eth-account account.
        flow: Name of the operation, for example ``CreateWallet``.
        chain_id: Id of the chain that the service uses: ``svc.node.chain_config().chain_id``.
        issued_at: Current time of the service in Unix seconds: ``int(svc.now())``.
        vocabulary: Names of the service. None means the names of the specification.

    Raises:
        InvalidArgument: The operation does not exist, or a number is out of range.
        SigningError: The wallet did not sign.
    """
    signer = as_signer(signer)
    typed_data = envelope(flow, signer.address, chain_id, issued_at, vocabulary=vocabulary)
    return SignedEnvelope(typed_data, _checked(signer.sign_typed_data(typed_data)))


async def sign_flow_async(
    signer: AnySigner, flow: Flow | str, chain_id: int, issued_at: int, *, vocabulary: Vocabulary | None = None
) -> SignedEnvelope:
    """Asynchronous version of `sign_flow`, for wallets that need an approval outside Python."""
    signer = as_signer(signer)
    typed_data = envelope(flow, signer.address, chain_id, issued_at, vocabulary=vocabulary)
    return SignedEnvelope(typed_data, _checked(await signer.sign_typed_data_async(typed_data)))


def _checked(signature: object) -> str:
    if not isinstance(signature, str):
        problem = f"the wallet returned a signature of type {type(signature).__name__}: expected a string with"
    elif not signature.startswith("0x"):
        problem = "the signature from the wallet does not start with 0x: expected"
    else:
        return signature
    raise SigningError(
        f"{problem} 0x followed by hex digits", hint="Sign again with a wallet that returns 0x followed by hex digits."
    )
