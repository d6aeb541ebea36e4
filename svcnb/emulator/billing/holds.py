"""Credit reserved while a call is being served, so that concurrent calls cannot spend the same cent."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, Self

from svcnb.emulator.billing.rules import payment_required


class Settle(Protocol):
    """Function with which a hold becomes a charge."""

    def __call__(self, hold: Hold, cents: int, *, reason: str, request_id: str) -> Awaitable[int]:
        """Charges ``cents`` and ends the hold. Returns the credit afterwards."""


class Grow(Protocol):
    """Function with which a hold reserves more."""

    def __call__(self, hold: Hold, cents: int) -> Awaitable[None]:
        """Raises the hold to ``cents`` in total."""


class Hold:
    """Cents of one account, reserved for one call.

    Settle it when the call succeeded, release it when it failed. As an async context manager it is released at the end.
    A call whose price grows while it is served grows its hold.

    Attributes:
        account: Billing wallet, lowercase.
        cents: The reserved amount.
        state: ``new`` until the database has seen it, then ``active``, at last ``ended``.
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
        """Charges and ends the hold, in one step.

        Args:
            cents: The price, at least 1. It may exceed the held amount and the credit: the call has had its effect,
                so the rest is recorded as owed.
            reason: For people, for example ``add_group``.
            request_id: The request; it is charged once however often this is called.

        Returns:
            The account's credit in cents afterwards.
        """
        return await self._settle(self, cents, reason=reason, request_id=request_id)

    async def grow(self, cents: int) -> None:
        """Reserves more. Does nothing when that much is held already, or when the hold has ended.

        Args:
            cents: The amount to hold in total.

        Raises:
            StructuredError: 402, the account's credit does not cover it. The held amount stays held.
        """
        if cents > self.cents:
            await self._grow(self, cents)

    def release(self) -> None:
        """Ends the hold without a charge. A second call, or a call after `settle`, changes nothing."""
        self._release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()


class Holds:
    """Reserved cents of each account. Used by the event loop and by the database thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def take(self, hold: Hold, credit_cents: int) -> None:
        """Begins a hold, unless it was ended before it began.

        Raises:
            StructuredError: 402, the credit does not cover it beside the amounts that are already held.
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
        """Raises the amount of an active hold to ``cents``.

        Raises:
            StructuredError: 402, the credit does not cover it beside the amounts of other holds.
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
        """Ends a hold in any state. Returns whether that released credit."""
        with self._lock:
            was_active = hold.state == "active"
            if was_active:
                self._held[hold.account] -= hold.cents
                if not self._held[hold.account]:
                    del self._held[hold.account]
            hold.state = "ended"
        return was_active

    def all(self) -> dict[str, int]:
        """Reserved cents, by account."""
        with self._lock:
            return dict(self._held)
