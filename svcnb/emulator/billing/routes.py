"""Credits and payments on the service's wire (specification 4.3). All of it is free of charge."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.billing.guards import BILLING_WORKS, PAYER
from svcnb.emulator.http.endpoint import API, Call, Endpoint
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.billing import (
    BalanceResponse,
    ConfirmPaymentRequest,
    CreatePaymentIntentRequest,
    CreatePaymentIntentResponse,
    PublishableKeyResponse,
)

_TAG: Final = "Billing"


def endpoints(vocabulary: Vocabulary) -> list[Endpoint]:
    """The rows of billing.

    Args:
        vocabulary: Names the processor.
    """
    return [
        Endpoint(
            "GET",
            API + vocabulary.processor_config_path,
            _processor_config,
            response=PublishableKeyResponse,
            guards=(BILLING_WORKS,),
            tag=_TAG,
        ),
        Endpoint(
            "GET",
            f"{API}/billing/balance",
            _balance,
            response=BalanceResponse,
            guards=(PAYER, BILLING_WORKS),
            tag=_TAG,
        ),
        Endpoint(
            "POST",
            f"{API}/billing/create_payment_intent",
            _create_payment_intent,
            request=CreatePaymentIntentRequest,
            response=CreatePaymentIntentResponse,
            guards=(PAYER, BILLING_WORKS),
            errors=frozenset({400}),
            tag=_TAG,
        ),
        Endpoint(
            "POST",
            f"{API}/billing/confirm_payment",
            _confirm_payment,
            request=ConfirmPaymentRequest,
            response=Success,
            guards=(PAYER, BILLING_WORKS),
            errors=frozenset({400, 404}),
            tag=_TAG,
        ),
    ]


async def _processor_config(call: Call, _given: None) -> PublishableKeyResponse:
    """Publishable key for the payment processor's client library."""
    return PublishableKeyResponse(publishable_key=call.service.processor.publishable_key)


async def _balance(call: Call, _given: None) -> BalanceResponse:
    """Credits of the account; all its keys share them."""
    ledger = call.service.ledger
    credit = await ledger.credit_cents(call.caller.billing_wallet)
    # The processor counts what a customer owes, so credit is negative (reference facts A4).
    return BalanceResponse(balance_cents=-credit, balance_display=ledger.display(credit))


async def _create_payment_intent(call: Call, given: CreatePaymentIntentRequest) -> CreatePaymentIntentResponse:
    """Begins a payment of at least 500 cents."""
    intent = await call.service.processor.create_intent(call.caller.billing_wallet, given.amount_cents)
    return CreatePaymentIntentResponse(client_secret=intent.client_secret, payment_intent_id=intent.id)


async def _confirm_payment(call: Call, given: ConfirmPaymentRequest) -> Success:
    """Credits the account if the payment has succeeded; every payment credits once."""
    await call.service.processor.credit(call.caller.billing_wallet, given.payment_intent_id)
    return Success()
