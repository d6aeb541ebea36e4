"""Ledger of account credits, which counts each payment and each request once.

A hold reserves credit during a call, so that concurrent calls cannot spend the same cent.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from svcnb.emulator.billing import store as books
from svcnb.emulator.billing.rules import payment_required
from svcnb.emulator.billing.store import Entry, Kind
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import Store

_AGAIN_S: Final = 1.0


class Hold:
    """Credit of one account, reserved for one call.

    Settle the hold after a successful call, and release the hold after a failed call. The hold is also an async context
    manager, which releases the hold at the end of the block. A call whose price increases during the run increases its
    hold.

    Attributes:
        account: Address of the account's billing wallet, in lowercase.
        cents: The reserved amount, in cents.
        state: ``new`` until the check of the credit, then ``active``, finally ``ended``.
    """

    def __init__(self, account: str, cents: int, *, batcher: _Batcher, clock: Clock) -> None:
        self.account = account
        self.cents = cents
        self.state: Literal["new", "active", "ended"] = "new"
        self._batcher = batcher
        self._clock = clock

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
        try:
            reference, now = f"request:{request_id}", self._clock.now()
            entry = Entry(self.account, -_positive(cents), "charge", reason, reference, now, request_id)
            return await self._batcher.order(_Order(self, entry))
        finally:
            self.release()  # this has an effect only if the charge failed

    async def grow(self, cents: int) -> None:
        """Increases the hold. Does nothing if the hold already covers ``cents`` or has ended.

        Args:
            cents: The total amount to hold, in cents.

        Raises:
            StructuredError: 402 if the account's available credit does not cover the amount. The hold stays unchanged.
        """
        if cents > self.cents:
            await self._batcher.order(_Order(self, cents=cents))

    def release(self) -> None:
        """Ends the hold without a charge. Has no effect after `settle` or an earlier `release`."""
        self._batcher.release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()


class _Holds:
    """Reserved credit of each account, in cents. The event loop and the database thread both use this object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def reserve(self, hold: Hold, cents: int, credit_cents: int) -> int | StructuredError:
        """Begins a hold or increases it to ``cents`` in total, unless the hold has already ended.

        Returns:
            The credit of the account in cents, or error 402 if the credit does not cover both this amount and the
            other holds.
        """
        with self._lock:
            reserved = hold.cents if hold.state == "active" else 0
            if hold.state != "ended" and cents > reserved:
                free = credit_cents - self._held[hold.account] + reserved
                if free < cents:
                    return payment_required(cents, free)
                self._held[hold.account] += cents - reserved
                hold.cents, hold.state = cents, "active"
        return credit_cents

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
        """Returns the reserved cents of all accounts, by billing wallet."""
        with self._lock:
            return dict(self._held)


@dataclass(slots=True)
class _Order:
    """Request of one caller to the batcher.

    If the request has an entry, the batcher posts the entry and ends the hold. If the request has only a hold, the
    batcher creates the hold, or increases its amount to ``cents``. A request without entry and hold only publishes the
    holds of this server to the other servers.
    """

    hold: Hold | None = None
    entry: Entry | None = None
    cents: int = 0


_Waiting: TypeAlias = tuple[_Order, asyncio.Future[int]]


class _Batcher:
    """Executor of one ledger's holds and charges, which processes all waiting requests in one transaction.

    `Store.run` shares a commit between callers, but each caller still needs a savepoint, a switch to the database
    thread, and a few statements. Under load, these steps take longer than the write to the disk. A batch performs these
    steps only once for all its requests. A database in memory has no queue, so each request is a separate batch.

    Several servers can share the database. Each server then also writes its reserved credit in the transaction of the
    batch (see the module `store`). The available credit excludes the credit that other servers have reserved.

    Args:
        store: The database.
        holds: The reserved credit of this server.
    """

    def __init__(self, store: Store, holds: _Holds) -> None:
        self._store = store
        self._holds = holds
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._serving: set[asyncio.Task[None]] = set()
        self._called = False
        self._announced = False

    def release(self, hold: Hold) -> None:
        """Ends a hold without a charge, and publishes the change to other servers in the background."""
        if self._holds.drop(hold) and self._store.shared:
            self._publish_holds()

    async def order(self, order: _Order) -> int:
        """Executes a request, even if the caller is cancelled, and returns the credit of the account in cents.

        Raises:
            StructuredError: 402 if the credit does not cover the hold.
        """
        if not self._store.immediate:
            return await self._in_line(order)
        [answer] = await self._store.run(lambda connection: self._answers(connection, [order]))
        if isinstance(answer, StructuredError):
            raise answer
        return answer

    def _in_line(self, order: _Order) -> asyncio.Future[int]:
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append((order, done))
            call, self._called = not self._called, True
        if call:
            task = asyncio.ensure_future(self._serve())
            self._serving.add(task)  # the event loop keeps only weak references to tasks
            task.add_done_callback(self._serving.discard)
        return done

    def _publish_holds(self) -> None:
        self._in_line(_Order()).add_done_callback(self._published)

    def _published(self, done: asyncio.Future[int]) -> None:
        if not done.cancelled() and done.exception() is not None:
            # Until the database is available again, other servers count too much reserved credit, which is safe.
            asyncio.get_running_loop().call_later(_AGAIN_S, self._publish_holds)

    async def _serve(self) -> None:
        served: list[_Waiting] = []

        def work(connection: Connection) -> list[int | StructuredError]:
            # Take the requests as late as possible, to include requests that arrived during the last commit.
            served.extend(self._take())
            return self._answers(connection, [order for order, _ in served])

        try:
            answers = await self._store.run(work)
        except asyncio.CancelledError:
            for _, done in served or self._take():
                done.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - every caller receives the exception
            for _, done in served or self._take():
                if not done.done():
                    done.set_exception(error)
            return
        for (_, done), answer in zip(served, answers, strict=True):
            if done.done():
                continue  # the caller has disconnected, but the batch executed its request
            if isinstance(answer, StructuredError):
                done.set_exception(answer)
            else:
                done.set_result(answer)

    def _take(self) -> list[_Waiting]:
        with self._lock:
            taken, self._waiting, self._called = self._waiting, [], False
        return taken

    def _answers(self, connection: Connection, orders: list[_Order]) -> list[int | StructuredError]:
        beginning = {order.hold.account for order in orders if order.hold and not order.entry}
        known = books.credits_of(connection, beginning)
        if beginning and self._store.shared:
            others = books.held_by_others(connection, beginning)
            known = {account: credit - others[account] for account, credit in known.items()}
        posted = iter(books.post_all(connection, [order.entry for order in orders if order.entry]))
        answers: list[int | StructuredError] = []
        for order in orders:
            if order.entry:
                answers.append(next(posted)[1])
            else:
                hold = order.hold
                answers.append(self._holds.reserve(hold, order.cents, known[hold.account]) if hold else 0)
        # End holds last. The checks of new holds used the credit before the charges of this batch, so the ended holds
        # still had to count.
        for order in orders:
            if order.entry and order.hold:
                self._holds.drop(order.hold)
        if self._store.shared:
            self._write_down(connection)
        return answers

    def _write_down(self, connection: Connection) -> None:
        if not self._announced:
            books.delete_stopped_holders(connection)
            self._announced = True
        books.publish_holds(connection, self._holds.all())


class Ledger:
    """Ledger of credits, in whole cents for each billing wallet.

    Args:
        store: The database.
        clock: Clock for the timestamps of the entries.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._batcher = _Batcher(store, _Holds())

    async def credit_cents(self, billing_wallet: str) -> int:
        """Returns the credit of an account in cents, including reserved cents. A negative amount is a debt."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.credit_of(connection, account))

    async def hold(self, billing_wallet: str, cents: int = 1) -> Hold:
        """Reserves credit for a call and returns the hold.

        If several servers share a database, the holds of all servers reduce the available credit. The holds of a server
        end when the server stops.

        Args:
            billing_wallet: Billing wallet of the account that pays.
            cents: The amount to reserve, in cents.

        Raises:
            StructuredError: 402 if the available credit (neither spent nor held) does not cover ``cents``.
        """
        hold = Hold(billing_wallet.lower(), cents, batcher=self._batcher, clock=self._clock)
        try:
            await self._batcher.order(_Order(hold, cents=cents))
        except BaseException:
            # Also release the hold after a cancellation, because a hold without an owner never ends.
            hold.release()
            raise
        return hold

    async def add_credit(
        self, billing_wallet: str, cents: int, *, reason: str, reference: str, kind: Kind = "grant"
    ) -> int:
        """Adds credit, once for each reference.

        Args:
            billing_wallet: Billing wallet of the account that receives the credit.
            cents: The amount in cents, at least 1.
            reason: Reason for the credit, shown to users.
            reference: Id of the cause, for example of the payment. A second call with the same reference and kind has
                no effect.
            kind: The source of the credit: ``payment``, ``grant`` (control plane) or ``starter``.

        Returns:
            The account's new credit, in cents.
        """
        account = billing_wallet.lower()
        entry = Entry(account, _positive(cents), kind, reason, f"{kind}:{reference}", self._clock.now())
        return (await self._store.run(lambda connection: books.post(connection, entry)))[1]

    async def entries(self, billing_wallet: str) -> list[Entry]:
        """Returns all ledger entries of an account, oldest first."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.entries_of(connection, account))

    async def verify(self) -> list[str]:
        """Compares balances with entries, and returns a description of each discrepancy, or an empty list."""
        return await self._store.run(books.discrepancies)


def _positive(cents: int) -> int:
    if cents < 1:
        raise ValueError(f"{cents} cents is not a valid amount: expected an integer of at least 1")
    return cents
