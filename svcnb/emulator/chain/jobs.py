"""Queue of pending changes of the emulator's own chain, in the order of their requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.chain.replica import Receipt
from svcnb.emulator.chain.transactions import Transaction

_LARGEST_BATCH: Final = 64
_LARGEST_BATCH_BYTES: Final = 256 * 1024
"""Maximum total length of several transactions in one batch, in bytes.

One step of the event loop hashes the whole batch, so a long batch delays other tasks.
"""


@dataclass
class Sending:
    """Transaction that is not in a block yet.

    Attributes:
        transaction: Signed transaction to execute.
        done: Future of the receipt.
    """

    transaction: Transaction
    done: asyncio.Future[Receipt]


@dataclass
class Work:
    """Function that needs exclusive access to the chain.

    Attributes:
        run: Coroutine function to call while no other change is in progress.
        done: Future of the function's return value.
    """

    run: Callable[[], Awaitable[Any]]
    done: asyncio.Future[Any]


class Jobs:
    """Queue of pending changes. The writer task of `LocalChain` is the only consumer."""

    def __init__(self) -> None:
        self._queue: deque[Sending | Work] = deque()
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, job: Sending | Work) -> None:
        """Appends a change and wakes the writer."""
        self._queue.append(job)
        self._wake.set()

    def wake(self) -> None:
        """Wakes the writer, even if the queue is empty."""
        self._wake.set()

    async def wait(self) -> None:
        """Waits for a call of `add` or `wake`. Returns immediately if one has occurred since the last `wait`."""
        await self._wake.wait()
        self._wake.clear()

    def take(self) -> Work | list[Sending] | None:
        """Removes and returns the first change.

        If the first change is a transaction, the method also takes the transactions after it, as one batch. The batch
        ends before the next function in the queue, and at the size limits of a batch.

        Returns:
            A function, a list of transactions, or None if the queue is empty.
        """
        if not self._queue:
            return None
        first = self._queue.popleft()
        if isinstance(first, Work):
            return first
        batch, size = [first], len(first.transaction.raw)
        while self._queue and len(batch) < _LARGEST_BATCH:
            job = self._queue[0]
            if isinstance(job, Work):
                break
            size += len(job.transaction.raw)
            if size > _LARGEST_BATCH_BYTES:
                break
            batch.append(job)
            self._queue.popleft()
        return batch

    def fail_all(self, error: Exception) -> None:
        """Removes all changes from the queue, and raises ``error`` in the callers of these changes."""
        while self._queue:
            fail(self._queue.popleft().done, error)


def fail(future: asyncio.Future[Any], error: Exception) -> None:
    """Raises ``error`` in the caller that waits for a change, unless the change already has a result."""
    if not future.done():
        future.set_exception(error)
