"""Endpoints for credits and payments (docs/service/endpoints.md#payments). Calls are free of charge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from svcnb.emulator.billing.guards import BillingGuards
from svcnb.emulator.billing.rules import display
from svcnb.emulator.http.routing import API, Call, Endpoint
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.billing import (
    BalanceResponse,
    ConfirmPaymentRequest,
    CreatePaymentIntentRequest,
    CreatePaymentIntentResponse,
    PublishableKeyResponse,
)

if TYPE_CHECKING:
    from svcnb.emulator.billing.ledger import Ledger
    from svcnb.emulator.billing.processor import Processor

_TAG: Final = "Billing"


@dataclass(frozen=True, eq=False, repr=False)
class Credits:
    """Endpoints for credits and payments.

    Attributes:
        processor: The payment processor.
        ledger: The ledger of credits.
        guards: Guards that determine the paying account and check whether billing is available.
        vocabulary: Configured names. The path of ``_processor_config`` contains the name of the processor.
    """

    processor: Processor
    ledger: Ledger
    guards: BillingGuards
    vocabulary: Vocabulary

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints for the balance, for payments, and for the processor's publishable key."""
        paying = (self.guards.payer, self.guards.works)
        return [
            Endpoint(
                "GET",
                API + self.vocabulary.processor_config_path,
                self._processor_config,
                response=PublishableKeyResponse,
                guards=(self.guards.works,),
                tag=_TAG,
            ),
            Endpoint(
                "GET",
                f"{API}/billing/balance",
                self._balance,
                response=BalanceResponse,
                guards=paying,
                tag=_TAG,
            ),
            Endpoint(
                "POST",
                f"{API}/billing/create_payment_intent",
                self._create_payment_intent,
                request=CreatePaymentIntentRequest,
                response=CreatePaymentIntentResponse,
                guards=paying,
                errors=frozenset({400}),
                tag=_TAG,
            ),
            Endpoint(
                "POST",
                f"{API}/billing/confirm_payment",
                self._confirm_payment,
                request=ConfirmPaymentRequest,
                response=Success,
                guards=paying,
                errors=frozenset({400, 404}),
                tag=_TAG,
            ),
        ]

    async def _processor_config(self, _call: Call, _given: None) -> PublishableKeyResponse:
        """Returns the publishable key for the payment processor's client library."""
        return PublishableKeyResponse(publishable_key=self.processor.publishable_key)

    async def _balance(self, call: Call, _given: None) -> BalanceResponse:
        """Returns the credit of the account. All keys of the account share this credit."""
        credit = await self.ledger.credit_cents(call.caller.billing_wallet)
        # The processor counts a customer's debt, so credit is a negative amount (docs/service/billing.md#balance).
        return BalanceResponse(balance_cents=-credit, balance_display=display(credit))

    async def _create_payment_intent(
        self, call: Call, given: CreatePaymentIntentRequest
    ) -> CreatePaymentIntentResponse:
        """Creates a payment of at least 500 cents."""
        intent = await self.processor.create_intent(call.caller.billing_wallet, given.amount_cents)
        return CreatePaymentIntentResponse(client_secret=intent.client_secret, payment_intent_id=intent.id)

    async def _confirm_payment(self, call: Call, given: ConfirmPaymentRequest) -> Success:
        """Credits the account if the payment has succeeded. The service credits a payment only once."""
        await self.processor.credit(call.caller.billing_wallet, given.payment_intent_id)
        return Success()
