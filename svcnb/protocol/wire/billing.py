"""Models for credits and payments."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.wire.base import Request, Response


class PublishableKeyResponse(Response):
    """Response of the endpoint that returns the settings of the payment processor."""

    publishable_key: str = Field(description="Publishable key (pk_...) for the processor's client library.")


class BalanceResponse(Response):
    """Response of ``billing/balance``: the credit or the debt of the account."""

    balance_cents: int = Field(
        description=(
            "Balance in cents, in the convention of the processor: negative means credit, positive means debt."
        )
    )
    balance_display: str = Field(description="Balance as text for display, for example '$5.00 credit'.")


class CreatePaymentIntentRequest(Request):
    """Body of ``billing/create_payment_intent``, which starts a payment."""

    amount_cents: int = Field(ge=-(2**63), le=2**63 - 1, description="Amount in cents, at least 500.")


class CreatePaymentIntentResponse(Response):
    """Response of ``billing/create_payment_intent``, with the values for the payment at the processor."""

    client_secret: str = Field(
        description="Secret that the processor's client library needs to confirm this payment.", repr=False
    )
    payment_intent_id: str = Field(description="Id of the payment (pi_...).")


class ConfirmPaymentRequest(Request):
    """Body of ``billing/confirm_payment``, which adds a successful payment to the credit of the account."""

    payment_intent_id: str = Field(description="Id of a payment that has succeeded at the processor.")
