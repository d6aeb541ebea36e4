"""The wallet in place of a key for billing: a signed header, kept for four minutes and then signed anew."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Final

from svcnb.client.calls import Flow
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured.ownership import signed
from svcnb.client.errors import SigningError
from svcnb.client.signing import SignedEnvelope, sign_flow
from svcnb.protocol.typed_data import Flow as Purpose

KEPT_S: Final = 240.0
"""How long one signature is used; the service takes it for 300 seconds (specification 5.6.7)."""


class WalletAuth:
    """Makes the header by which a wallet opens the billing endpoints.

    Args:
        writer: The wallet, and the chain whose id and time its signature carries.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._envelope: SignedEnvelope | None = None
        self._signed_at = 0.0

    def refresh(self) -> Flow[None]:
        """Lets the wallet sign when the last signature is too old."""
        if self._envelope is None or self._age() > KEPT_S:
            self._keep((yield from signed(self._writer, Purpose.BILLING_AUTH)))

    def headers(self) -> Mapping[str, str]:
        """The header. A payment that takes minutes outlives a signature, so it may be signed anew here."""
        if self._envelope is None:
            raise SigningError("the wallet has not signed for billing yet")
        if self._age() > KEPT_S and self._writer.owner is not None:
            old = self._envelope
            with suppress(SigningError):  # of an owner who is asked elsewhere: the old one is good for another minute
                self._keep(
                    sign_flow(
                        self._writer.owner,
                        Purpose.BILLING_AUTH,
                        int(old.typed_data["domain"]["chainId"]),
                        old.issued_at + int(self._age()),
                        vocabulary=self._writer.chain.config.vocabulary,
                    )
                )
        return self._envelope.as_headers()

    def _keep(self, envelope: SignedEnvelope) -> None:
        self._envelope, self._signed_at = envelope, monotonic()

    def _age(self) -> float:
        return monotonic() - self._signed_at
