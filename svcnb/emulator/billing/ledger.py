"""Ledger of account credits, which counts each payment and each request once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from svcnb.emulator.billing import store as books
from svcnb.emulator.billing.holds import Hold, Holds, delete_stopped_holders, held_by_others, publish_holds
from svcnb.emulator.billing.rules import display
from svcnb.emulator.billing.store import Entry, Kind
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import Store

__all__ = ["Hold", "Ledger"]

_AGAIN_S: Final = 1.0


@dataclass(slots=True)
class _Order:
    """Request of one caller. The batch posts the entry and ends the hold. Without an entry, the hold begins or grows.

    A request with neither an entry nor a hold publishes released credit to the other servers.
    """

    hold: Hold | None
    entry: Entry | None
    grow_to: int | None = None


_Waiting: TypeAlias = tuple[_Order, asyncio.Future[int]]


class _Batcher:
    """Executor of the holds and charges of one ledger, which processes all waiting requests in one transaction.

    `Store.run` shares a commit between callers, but each caller still needs a savepoint, a switch to the database
    thread, and a few statements. Under load, these take longer than the disk. A batch needs them only once for all its
    requests. A database in memory has no queue, so each request is a separate batch.

    Several servers can share the database. Each server then writes its reserved credit in the same transaction
    (`holds`), and subtracts the credit that the other servers have reserved.

    Args:
        store: The database.
        holds: The reserved credit of this server.
    """

    def __init__(self, store: Store, holds: Holds) -> None:
        self._store = store
        self._holds = holds
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._serving: set[asyncio.Task[None]] = set()
        self._called = False
        self._announced = False

    async def begin(self, hold: Hold) -> None:
        """Begins a hold.

        Raises:
            StructuredError: 402 if the credit does not cover the hold.
        """
        await self._order(hold, None)

    async def grow(self, hold: Hold, cents: int) -> None:
        """Raises a hold to ``cents`` in total.

        Raises:
            StructuredError: 402 if the credit does not cover the hold.
        """
        await self._order(hold, None, cents)

    def release(self, hold: Hold) -> None:
        """Ends a hold without a charge, and publishes the change to other servers in the background."""
        if self._holds.drop(hold) and self._store.shared:
            self._tell_others()

    async def charge(self, entry: Entry, hold: Hold | None) -> int:
        """Posts a charge and ends its hold, even if the caller is cancelled.

        Returns:
            The new credit of the account, in cents.
        """
        return await self._order(hold, entry)

    async def _order(self, hold: Hold | None, entry: Entry | None, grow_to: int | None = None) -> int:
        order = _Order(hold, entry, grow_to)
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

    def _tell_others(self) -> None:
        self._in_line(_Order(None, None)).add_done_callback(self._told)

    def _told(self, done: asyncio.Future[int]) -> None:
        if not done.cancelled() and done.exception() is not None:
            # The database is unavailable. Until it is available again, other servers count too much reserved credit,
            # which is safe.
            asyncio.get_running_loop().call_later(_AGAIN_S, self._tell_others)

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
            others = held_by_others(connection, beginning)
            known = {account: credit - others[account] for account, credit in known.items()}
        posted = iter(books.post_all(connection, [order.entry for order in orders if order.entry]))
        answers: list[int | StructuredError] = []
        for order in orders:
            if order.entry:
                answers.append(next(posted)[1])
            else:
                answers.append(self._held(order.hold, order.grow_to, known) if order.hold else 0)
        # End holds last, because the check of new holds in this batch used the credit before its charges.
        for order in orders:
            if order.entry and order.hold:
                self._holds.drop(order.hold)
        if self._store.shared:
            self._write_down(connection)
        return answers

    def _write_down(self, connection: Connection) -> None:
        if not self._announced:
            delete_stopped_holders(connection)
            self._announced = True
        publish_holds(connection, self._holds.all())

    def _held(self, hold: Hold, grow_to: int | None, known: Mapping[str, int]) -> int | StructuredError:
        credit_cents = known[hold.account]
        try:
            if grow_to is None:
                self._holds.take(hold, credit_cents)
            else:
                self._holds.grow(hold, grow_to, credit_cents)
        except StructuredError as refusal:
            return refusal
        return credit_cents


class Ledger:
    """Credits in whole cents, keyed by billing wallet.

    Args:
        store: The database.
        clock: Clock for the time of the entries.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._batcher = _Batcher(store, Holds())

    display = staticmethod(display)

    async def credit_cents(self, billing_wallet: str) -> int:
        """Returns the credit in cents, including reserved cents. A negative amount is a debt."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.credit_of(connection, account))

    async def hold(self, billing_wallet: str, cents: int = 1) -> Hold:
        """Reserves credit for a call.

        Servers that share a database respect each other's holds. A server that stops releases its holds.

        Raises:
            StructuredError: 402 if the available credit (neither spent nor held) does not cover ``cents``.
        """
        batcher = self._batcher
        hold = Hold(billing_wallet.lower(), cents, settle=self._settle, grow=batcher.grow, release=batcher.release)
        try:
            await batcher.begin(hold)
        except BaseException:
            # This includes a cancellation while the database is busy, because a hold without an owner would never end.
            hold.release()
            raise
        return hold

    async def add_credit(
        self, billing_wallet: str, cents: int, *, reason: str, reference: str, kind: Kind = "grant"
    ) -> int:
        """Adds credit, once for each reference.

        Args:
            billing_wallet: The receiving wallet.
            cents: The amount in cents, at least 1.
            reason: Reason for the credit, shown to users.
            reference: Id of the cause. Another credit with the same reference and kind has no effect.
            kind: The source of the credit.

        Returns:
            The account's new credit, in cents.
        """
        account = billing_wallet.lower()
        entry = Entry(account, _positive(cents), kind, reason, f"{kind}:{reference}", self._clock.now())
        return (await self._store.run(lambda connection: books.post(connection, entry)))[1]

    async def starter_credit(self, billing_wallet: str, cents: int) -> int:
        """Adds the starter credit of a new account, once. Returns the new credit in cents."""
        account = billing_wallet.lower()
        if not cents:
            return await self.credit_cents(account)
        return await self.add_credit(account, cents, reason="starter credits", reference=account, kind="starter")

    async def entries(self, billing_wallet: str) -> list[Entry]:
        """Returns all movements of an account, oldest first."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.entries_of(connection, account))

    async def verify(self) -> list[str]:
        """Compares balances with entries, and returns a description of each discrepancy."""
        return await self._store.run(books.discrepancies)

    async def _settle(self, hold: Hold, cents: int, *, reason: str, request_id: str) -> int:
        try:
            reference, now = f"request:{request_id}", self._clock.now()
            entry = Entry(hold.account, -_positive(cents), "charge", reason, reference, now, request_id)
            return await self._batcher.charge(entry, hold)
        finally:
            hold.release()  # this has an effect only if the charge failed


def _positive(cents: int) -> int:
    if cents < 1:
        raise ValueError(f"{cents} cents is not a valid amount: expected an integer of at least 1")
    return cents
