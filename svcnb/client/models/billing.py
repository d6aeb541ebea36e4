"""Credit and payments."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


def dollars(cents: int) -> str:
    """Formats an amount of cents as dollars, for example ``$5.00``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100}.{abs(cents) % 100:02d}"


class Balance(Model):
    """The credit of an account, shared by all its keys."""

    balance_cents: int
    """Balance as the processor counts: negative is credit, positive is owed."""

    balance_display: str = ""
    """The service's own text, for example ``$5.00 credit``."""

    quiet = frozenset({"balance_cents"})
    headings = MappingProxyType({"balance_display": "balance"})

    @property
    def available_cents(self) -> int:
        """Cents that can still be spent; 0 when there is no credit."""
        return max(0, -self.balance_cents)

    @property
    def owed_cents(self) -> int:
        """Cents that are owed; 0 when there is credit."""
        return max(0, self.balance_cents)


class Payment(Model):
    """One payment to the account."""

    amount_cents: int
    method: Literal["card", "crypto"] = "card"

    status: Literal["waiting", "credited"] = "waiting"
    """``waiting`` until the processor has collected it and the service has credited it."""

    payment_intent_id: str
    """The processor's id; starts with ``pi_``."""

    publishable_key: str = ""
    """Publishable key for the processor's client library, used with ``client_secret``."""

    client_secret: Secret
    """Secret with which the processor's client library confirms this one payment."""

    balance: Balance | None = None
    """The credit after the payment, once credited."""

    quiet = frozenset({"payment_intent_id", "publishable_key", "client_secret"})

    def __repr__(self) -> str:
        after = f", balance={self.balance.balance_display!r}" if self.balance else ""
        return f"Payment({dollars(self.amount_cents)} by {self.method}, {self.status}{after})"

    def _repr_html_(self) -> str:
        from svcnb.client import display

        rows: list[tuple[str, object]] = [
            ("amount", dollars(self.amount_cents)),
            ("method", self.method),
            ("status", self.status),
            ("balance", self.balance.balance_display if self.balance else None),
        ]
        note = "Pay, then: svc.billing.wait(payment)" if self.status == "waiting" else ""
        return display.record("Payment", rows, note=note)
