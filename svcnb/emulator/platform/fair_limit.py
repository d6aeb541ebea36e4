"""Fair limit for a resource that accounts share, such as slots for runs, connections or memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class LimitReached(Exception):
    """Error for an amount that did not become available in time."""


class FairLimit:
    """Fair semaphore. Each account has a maximum amount. The waiting account with the smallest amount in use is next.

    The unit of an amount depends on the resource, for example slots or bytes.

    Args:
        total: Amount that all accounts together can acquire.
        per_account: Maximum amount of one account.
        reserved: Part of ``total`` that only accounts that use nothing yet can acquire.
        wait_s: Seconds that `take` waits before it raises `LimitReached`. None means that `take` waits forever.
    """

    def __init__(self, total: int, per_account: int, wait_s: float | None = None, *, reserved: int = 0) -> None:
        self._total = total
        self._per_account = per_account
        self._reserved = reserved
        self._wait_s = wait_s
        self._held: Counter[str] = Counter()
        self._line: list[tuple[str, int, asyncio.Future[None]]] = []

    @property
    def held(self) -> int:
        """Total amount that all accounts have acquired and not released."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """Number of callers in the queue."""
        return len(self._line)

    def of(self, account: str) -> int:
        """Returns the amount that an account has acquired and not released."""
        return self._held[account]

    async def take(self, account: str, amount: int = 1) -> None:
        """Waits until an amount is available, and acquires the amount. Release the same amount with `release`.

        If ``amount`` exceeds the maximum of one account, the maximum applies instead, here and in `release`.

        Raises:
            LimitReached: The amount did not become available in time.
        """
        amount = min(amount, self._per_account)
        if self._is_free(account, amount):
            self._held[account] += amount
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (account, amount, turn)
        self._line.append(entry)
        try:
            async with asyncio.timeout(self._wait_s):
                await turn
        except BaseException as error:
            if entry in self._line:
                self._line.remove(entry)
            elif turn.done() and not turn.cancelled():
                self.release(account, amount)  # the caller acquired the amount, and was then cancelled
            if isinstance(error, TimeoutError):
                raise LimitReached(f"no capacity became available within {self._wait_s or 0:g} seconds") from None
            raise

    def release(self, account: str, amount: int = 1) -> None:
        """Releases an amount that `take` acquired."""
        self._held[account] -= min(amount, self._per_account)
        if self._held[account] <= 0:
            del self._held[account]
        while able := [entry for entry in self._line if self._is_free(entry[0], entry[1]) and not entry[2].done()]:
            # If several accounts use the same amount, the first entry in the queue is next.
            chosen = min(able, key=lambda entry: self._held[entry[0]])
            self._line.remove(chosen)
            self._held[chosen[0]] += chosen[1]
            chosen[2].set_result(None)

    @asynccontextmanager
    async def hold(self, account: str, amount: int = 1) -> AsyncIterator[None]:
        """Acquires an amount for the duration of an ``async with`` block.

        Raises:
            LimitReached: The amount did not become available in time.
        """
        await self.take(account, amount)
        try:
            yield
        finally:
            self.release(account, amount)

    def _is_free(self, account: str, amount: int) -> bool:
        has = self._held[account]
        total = self._total - self._reserved if has else self._total
        return has + amount <= self._per_account and self._held.total() + amount <= total
