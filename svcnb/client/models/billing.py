"""Models of credit and payments."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from svcnb.checked import checked
from svcnb.client import display
from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


@checked
def dollars(cents: int) -> str:
    """Returns an amount of cents as text in dollars, for example ``$5.00``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100}.{abs(cents) % 100:02d}"


class Balance(Model):
    """Credit or debt of an account. All keys of the account use the same credit."""

    balance_cents: int
    """Balance in US cents at the payment processor. A negative value is credit, and a positive value is debt."""

    balance_display: str = ""
    """Balance as text in the format of the service, for example ``$5.00 credit``."""

    quiet: ClassVar[frozenset[str]] = frozenset({"balance_cents"})
    headings: ClassVar[Mapping[str, str]] = MappingProxyType({"balance_display": "balance"})

    @property
    def available_cents(self) -> int:
        """Credit in US cents that the account can spend. 0 if the account has no credit."""
        return max(0, -self.balance_cents)

    @property
    def owed_cents(self) -> int:
        """Debt in US cents, or 0 if the account has none."""
        return max(0, self.balance_cents)


class Payment(Model):
    """Payment that adds credit to the account."""

    amount_cents: int
    """Amount that the payment adds to the credit, in US cents."""

    method: Literal["card", "crypto"] = "card"
    """Payment method: ``card``, or ``crypto`` for a payment by cryptocurrency."""

    status: Literal["waiting", "credited"] = "waiting"
    """``credited`` after the processor has collected the payment and the service has added the credit. Before that,
    ``waiting``."""

    payment_intent_id: str
    """Id of the payment at the processor, which starts with ``pi_``."""

    publishable_key: str = ""
    """Publishable key for the processor's client library, which also needs ``client_secret``."""

    client_secret: Secret
    """Secret that the processor's client library needs to confirm this payment."""

    balance: Balance | None = None
    """Balance of the account after the payment. None while the status is ``waiting``."""

    quiet: ClassVar[frozenset[str]] = frozenset({"payment_intent_id", "publishable_key", "client_secret"})

    def __repr__(self) -> str:
        after = f", balance={self.balance.balance_display!r}" if self.balance else ""
        return f"Payment({dollars(self.amount_cents)} by {self.method}, {self.status}{after})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("amount", dollars(self.amount_cents)),
            ("method", self.method),
            ("status", self.status),
            ("balance", self.balance.balance_display if self.balance else None),
        ]
        note = "Make the payment. Then call svc.billing.wait(payment)." if self.status == "waiting" else ""
        return display.record("Payment", rows, note=note)
