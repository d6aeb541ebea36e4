"""Batcher of holds and charges, which processes all waiting requests in one transaction.

`Store.run` shares a commit between callers, but each caller still needs a savepoint, a switch to the database thread,
and a few statements. Under load, these take longer than the disk. A batch needs them only once for all its requests. A
database in memory has no queue, so each request is a separate batch.

Several servers can share the database. Each server then writes its reserved credit in the same transaction
(`shared_holds`), and subtracts the credit that the other servers have reserved.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from svcnb.emulator.billing import shared_holds, store as books
from svcnb.emulator.billing.holds import Hold, Holds
from svcnb.emulator.billing.store import Entry
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import Store

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


class Counter:
    """Executor of the holds and charges of one ledger, in batches.

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
            others = shared_holds.of_others(connection, beginning)
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
            shared_holds.clear_away(connection)
            self._announced = True
        shared_holds.write_down(connection, self._holds.all())

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
