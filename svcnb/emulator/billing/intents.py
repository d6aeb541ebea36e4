"""Payments of the local processor, whose status can depend on the time.

The processor needs no background task. A payment in the status ``processing`` stores its next status and the time of
the change. A read after that time returns the next status. To complete a crypto payment immediately, advance the
emulator's clock.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from svcnb.emulator.platform.database import Connection, setting
from svcnb.emulator.platform.schema import Table

Status = Literal["requires_payment_method", "processing", "succeeded", "failed", "canceled"]
Outcome = Literal["succeeded", "failed", "processing"]
Method = Literal["card", "crypto"]

_ID: Final = re.compile(r"pi_[0-9A-Za-z]{1,61}")

PAYABLE: Final[frozenset[Status]] = frozenset({"requires_payment_method", "failed"})
"""Statuses in which the customer can pay for the first time or again after a failed payment."""

FINAL: Final[frozenset[Status]] = frozenset({"succeeded", "canceled"})
"""Statuses that never change again."""

Table(
    "processor_customers",
    """
    wallet VARCHAR(42) NOT NULL PRIMARY KEY,
    id VARCHAR(64) NOT NULL UNIQUE,
    email TEXT,
    created_at FLOAT NOT NULL
    """,
)

# The columns "becomes" and "due_at" contain the next status of a processing payment and the time of the change. Both
# are null if only another call ends the processing.
Table(
    "processor_intents",
    """
    id VARCHAR(64) NOT NULL PRIMARY KEY,
    wallet VARCHAR(42) NOT NULL REFERENCES processor_customers (wallet),
    client_secret VARCHAR(160) NOT NULL,
    amount_cents BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    method VARCHAR(16),
    becomes VARCHAR(32),
    due_at FLOAT,
    problem_code VARCHAR(64),
    problem TEXT,
    created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL,
    credited_at FLOAT
    """,
    ix_processor_intents_wallet="(wallet)",
)


class Intent(NamedTuple):
    """Payment record.

    Attributes:
        id: Id of the payment, which starts with ``pi_``.
        wallet: Billing wallet of the customer who pays.
        client_secret: Secret with which a browser can confirm only this payment.
        amount_cents: The amount to pay, in cents.
        created_at: Time of creation, in Unix seconds.
        updated_at: Time of the last change, in Unix seconds.
        status: Current status of the payment.
        method: The payment method, or None until the user chooses one.
        becomes: Status that a processing payment gets at ``due_at``, or None.
        due_at: Unix seconds at which the status of a processing payment changes, or None.
        problem_code: Code of the last failed attempt, for example ``card_declined``, or None.
        problem: Reason for the last failed attempt as one clause, in lower case and without a full stop, or None.
        credited_at: Unix seconds at which the service credited the payment, or None.
    """

    id: str
    wallet: str
    client_secret: str
    amount_cents: int
    created_at: float
    updated_at: float
    status: Status = "requires_payment_method"
    method: Method | None = None
    becomes: Status | None = None
    due_at: float | None = None
    problem_code: str | None = None
    problem: str | None = None
    credited_at: float | None = None

    def __repr__(self) -> str:
        return f"Intent(id={self.id!r}, amount_cents={self.amount_cents}, status={self.status!r})"

    def attempt(
        self, outcome: Outcome, *, method: Method | None, now: float, delay_s: float, problem: tuple[str, str] | None
    ) -> Intent:
        """Returns the payment after an attempt to pay it.

        Args:
            outcome: The resulting status. ``processing`` lasts until another outcome is set.
            method: The payment method, or None if the chosen method does not change.
            now: Current time, in Unix seconds.
            delay_s: Seconds of processing before the outcome.
            problem: Code of a failure, and its reason as one clause, or None.
        """
        later = outcome != "processing" and delay_s > 0
        return self._replace(
            status="processing" if later else outcome,
            method=method or self.method,
            becomes=outcome if later else None,
            due_at=now + delay_s if later else None,
            problem_code=problem[0] if problem and outcome == "failed" else None,
            problem=problem[1] if problem and outcome == "failed" else None,
            updated_at=now,
        )

    def at(self, now: float) -> Intent:
        """Returns the payment with its status at the time ``now``, in Unix seconds."""
        if self.status != "processing" or self.becomes is None or self.due_at is None or now < self.due_at:
            return self
        return self._replace(status=self.becomes, becomes=None, due_at=None, updated_at=self.due_at)


# --- the database -------------------------------------------------------------------------------------------------


def ensure_customer(connection: Connection, wallet: str, *, id_: str, email: str | None, now: float) -> None:
    """Creates the customer for a wallet, or sets the e-mail address of an existing customer.

    Args:
        connection: Connection inside a transaction.
        wallet: Billing wallet of the customer.
        id_: Id of a new customer. An existing customer keeps its id.
        email: E-mail address. None keeps the address of an existing customer.
        now: Current time, in Unix seconds.
    """
    known = connection.column("SELECT email FROM processor_customers WHERE wallet = :wallet", wallet=wallet)
    if not known:
        connection.insert("processor_customers", wallet=wallet, id=id_, email=email, created_at=now)
    elif email and known != [email]:
        connection.run(
            "UPDATE processor_customers SET email = :email WHERE wallet = :wallet", email=email, wallet=wallet
        )


def add(connection: Connection, intent: Intent) -> None:
    """Inserts a new payment into the database. The customer of its wallet must already exist."""
    connection.insert("processor_intents", **intent._asdict())


def load(connection: Connection, intent_id: str, now: float) -> Intent | None:
    """Returns a payment with its current status, or None if the id is unknown.

    The function stores a status change that is due, so that the change is permanent even if a user sets the clock back.

    Args:
        connection: Connection inside a transaction.
        intent_id: Id of the payment.
        now: Current time, in Unix seconds.
    """
    if not _ID.fullmatch(intent_id):
        return None
    row = connection.record("SELECT * FROM processor_intents WHERE id = :id", id=intent_id)
    if row is None:
        return None
    kept = Intent(**row)
    kept = kept._replace(problem=_clause(kept.problem))
    current = kept.at(now)
    if current is not kept:
        save(connection, current)
    return current


def _clause(stored: str | None) -> str | None:
    """Returns a stored reason as one clause. Earlier versions stored one or more sentences."""
    if not stored or not stored.endswith("."):
        return stored
    return "; ".join(each[:1].lower() + each[1:] for each in stored.removesuffix(".").split(". "))


def save(connection: Connection, intent: Intent) -> None:
    """Replaces the stored fields of an existing payment."""
    connection.run(f"UPDATE processor_intents SET {setting(Intent._fields)} WHERE id = :id", **intent._asdict())  # noqa: S608 - the SQL contains no user input
