"""Authentication of billing calls with an envelope that a wallet signs.

A header contains the envelope and its signature. If the signature is older than 4 minutes at the next call, the wallet
signs a new envelope.
"""

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
"""Time for which the client uses one signature, in seconds.

The service accepts a signature for 300 seconds (docs/service/signatures.md#replay).
"""


class WalletAuth:
    """Provider of the header that authenticates a wallet at the billing endpoints.

    Args:
        writer: Writer with the wallet and the access to the chain. The envelope contains the chain id and the service's
            time.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._envelope: SignedEnvelope | None = None
        self._signed_at = 0.0

    def refresh(self) -> Flow[None]:
        """Requests a signature from the wallet if there is none, or if the last signature is more than 4 minutes old.

        The method also compares the time in the envelope with the service's time, because the clock of an emulator can
        change by any amount.
        """
        if self._envelope is not None and self._age() <= KEPT_S:
            here = yield from self._writer.chain.time()
            if abs(here - self._envelope.issued_at) <= KEPT_S:
                return
        self._keep((yield from signed(self._writer, Purpose.BILLING_AUTH)))

    def headers(self) -> Mapping[str, str]:
        """Returns a mapping with the name and the value of the header.

        The method renews an old signature, because a signature can expire during a payment of several minutes.

        Raises:
            SigningError: The wallet has not signed yet, because `refresh` was not called.
        """
        if self._envelope is None:
            raise SigningError(
                "the wallet has not signed for billing yet",
                hint="Await a billing call first: await mine.billing.balance().",
            )
        if self._age() > KEPT_S and self._writer.owner is not None:
            old = self._envelope
            with suppress(SigningError):  # if the wallet cannot sign now, the old signature is valid for another minute
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
