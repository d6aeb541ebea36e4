"""Holds, which reserve credit during a call, so that concurrent calls cannot spend the same cent.

Servers that share a PostgreSQL database exchange their holds. A server writes all its holds to one row, in the
transaction that begins, grows or charges a hold. The transactions of all servers run in sequence (`store`). As with a
lease (`leases`), the name of the server's connection identifies the row. When the server stops, the database closes the
connection, and its holds no longer count.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, Literal, Protocol, Self

from svcnb.emulator.billing.rules import payment_required
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.postgresql import LIVING
from svcnb.emulator.platform.schema import Table

# "held" is a JSON object of cents by account. Servers always write it as a whole, because a server has holds of few
# accounts at a time.
HOLDS: Final = Table("ledger_holds", "holder VARCHAR NOT NULL PRIMARY KEY, held TEXT NOT NULL")


class Settle(Protocol):
    """Function that converts a hold into a charge."""

    def __call__(self, hold: Hold, cents: int, *, reason: str, request_id: str) -> Awaitable[int]:
        """Charges ``cents`` and ends the hold. Returns the new credit in cents."""
        ...


class Grow(Protocol):
    """Function that increases a hold."""

    def __call__(self, hold: Hold, cents: int) -> Awaitable[None]:
        """Increases the hold to ``cents`` in total."""
        ...


class Hold:
    """Credit of one account, reserved for one call.

    Settle the hold after a successful call, and release it after a failed call. The hold is also an async context
    manager, which releases it at the end of the block. A call whose price increases during the run grows its hold.

    Attributes:
        account: Address of the billing wallet, in lowercase.
        cents: The reserved amount, in cents.
        state: ``new`` until the check of the credit, then ``active``, finally ``ended``.
    """

    def __init__(
        self, account: str, cents: int, *, settle: Settle, grow: Grow, release: Callable[[Hold], None]
    ) -> None:
        self.account = account
        self.cents = cents
        self.state: Literal["new", "active", "ended"] = "new"
        self._settle = settle
        self._grow = grow
        self._release = release

    async def settle(self, cents: int, *, reason: str, request_id: str) -> int:
        """Charges the call and ends the hold, in one step.

        Args:
            cents: The price in cents, at least 1. The price can exceed the held amount and the credit. The call has
                already taken effect, so the account then owes the difference.
            reason: Reason for the charge, shown to users, for example ``add_group``.
            request_id: Id of the request. Repeated calls with the same id charge only once.

        Returns:
            The new credit of the account, in cents.
        """
        return await self._settle(self, cents, reason=reason, request_id=request_id)

    async def grow(self, cents: int) -> None:
        """Increases the hold. Does nothing if it already covers ``cents`` or has ended.

        Args:
            cents: The total amount to hold, in cents.

        Raises:
            StructuredError: 402 if the account's credit does not cover the amount. The hold stays unchanged.
        """
        if cents > self.cents:
            await self._grow(self, cents)

    def release(self) -> None:
        """Ends the hold without a charge. This has no effect after `settle` or an earlier `release`."""
        self._release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()


class Holds:
    """Reserved credit of each account, in cents. The event loop and the database thread both use this object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def take(self, hold: Hold, credit_cents: int) -> None:
        """Begins a hold, unless the hold has already ended.

        Raises:
            StructuredError: 402 if the credit does not cover the hold in addition to the existing holds.
        """
        with self._lock:
            if hold.state == "ended":
                return
            free = credit_cents - self._held[hold.account]
            if free < hold.cents:
                raise payment_required(hold.cents, free)
            self._held[hold.account] += hold.cents
            hold.state = "active"

    def grow(self, hold: Hold, cents: int, credit_cents: int) -> None:
        """Increases an active hold to ``cents`` in total.

        Raises:
            StructuredError: 402 if the credit does not cover the amount in addition to the other holds.
        """
        with self._lock:
            if hold.state != "active" or cents <= hold.cents:
                return
            free = credit_cents - self._held[hold.account] + hold.cents
            if free < cents:
                raise payment_required(cents, free)
            self._held[hold.account] += cents - hold.cents
            hold.cents = cents

    def drop(self, hold: Hold) -> bool:
        """Ends a hold in any state. Returns whether the hold had reserved credit."""
        with self._lock:
            was_active = hold.state == "active"
            if was_active:
                self._held[hold.account] -= hold.cents
                if not self._held[hold.account]:
                    del self._held[hold.account]
            hold.state = "ended"
        return was_active

    def all(self) -> dict[str, int]:
        """Returns the reserved cents by account."""
        with self._lock:
            return dict(self._held)


def held_by_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Returns the cents that other servers have reserved.

    Args:
        connection: Connection inside a transaction.
        accounts: Billing wallets.
    """
    found: Counter[str] = Counter()
    others = f"SELECT held FROM ledger_holds WHERE holder <> :me AND holder IN ({LIVING})"  # noqa: S608 - the SQL contains no user input
    for text in connection.column(others, me=connection.session):
        held: dict[str, int] = json.loads(text)
        for account in accounts & held.keys():
            found[account] += held[account]
    return found


def publish_holds(connection: Connection, held: Mapping[str, int]) -> None:
    """Publishes the reserved credit of this server.

    Args:
        connection: Connection inside a transaction. Other servers see the change after the commit.
        held: All reserved cents of this server, by account.
    """
    connection.run(
        "INSERT INTO ledger_holds (holder, held) VALUES (:me, :held) "
        "ON CONFLICT (holder) DO UPDATE SET held = excluded.held",
        me=connection.session,
        held=json.dumps(held, separators=(",", ":")),
    )


def delete_stopped_holders(connection: Connection) -> None:
    """Deletes the rows of stopped servers, which no longer count."""
    connection.run(f"DELETE FROM ledger_holds WHERE holder NOT IN ({LIVING})")  # noqa: S608 - the SQL contains no user input
