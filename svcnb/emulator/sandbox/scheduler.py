"""Fair scheduler of limited resources, such as spare processes and slots, among accounts."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_HALF_LIFE_S = 2.0
_FORGOTTEN = 0.005
_CLEARLY = 1.25
_PART_FOR_OTHERS = 4
_PART_FOR_NEWCOMERS = 8


class Shares:
    """Recent process time of each account, in seconds. The value of past use halves every two seconds.

    Args:
        clock: Monotonic clock that returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}
        self._as_of = clock()

    def add(self, account: str, seconds: float) -> None:
        """Adds use to an account.

        A new account starts with the lowest use of the others, so that inactivity has no benefit.
        """
        self._age()
        so_far = self._used.get(account)
        if so_far is None:
            so_far = min(self._used.values(), default=0.0)
        self._used[account] = so_far + seconds

    def of(self, account: str) -> float:
        """Returns the recent use of an account, for comparison with other accounts."""
        return self._used.get(account, 0.0)

    def greedy(self, account: str) -> bool:
        """Returns whether an account has used clearly more than the average of the other accounts.

        The result is always False for a single account.
        """
        self._age()
        others = [used for name, used in self._used.items() if name != account]
        return bool(others) and self.of(account) > _CLEARLY * sum(others) / len(others)

    @property
    def contested(self) -> bool:
        """Whether more than one account has recent use."""
        self._age()
        return len(self._used) > 1

    def _age(self) -> None:
        now = self._clock()
        left = 0.5 ** ((now - self._as_of) / _HALF_LIFE_S)
        self._as_of = now
        self._used = {account: kept for account, used in self._used.items() if (kept := used * left) > _FORGOTTEN}


class Places:
    """Slots for runs. The account with the fewest slots receives the next one, and one account never has all slots.

    With four or more slots, one account can have at most three quarters of them. With eight or more, the scheduler
    reserves an eighth for accounts without a slot.

    Args:
        count: Number of slots.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._most = count - count // _PART_FOR_OTHERS
        self._shared = count - count // _PART_FOR_NEWCOMERS
        self._held: Counter[str] = Counter()
        self._line: list[tuple[str, asyncio.Future[None]]] = []

    @property
    def waiting(self) -> int:
        """Number of callers in the queue."""
        return len(self._line)

    def of(self, account: str) -> int:
        """Returns the number of slots that an account uses."""
        return self._held[account]

    @asynccontextmanager
    async def held_by(self, account: str) -> AsyncIterator[None]:
        """Waits for a slot, and reserves it for the account."""
        if self._free_for(account):
            self._held[account] += 1
        else:
            await self._stand_in_line(account)
        try:
            yield
        finally:
            self._leave(account)

    def _free_for(self, account: str) -> bool:
        has = self._held[account]
        return has < self._most and self._held.total() < (self._shared if has else self._count)

    async def _stand_in_line(self, account: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (account, turn)
        self._line.append(entry)
        try:
            await turn
        except asyncio.CancelledError:
            if entry in self._line:
                self._line.remove(entry)
            else:
                self._leave(account)  # the account received the slot during the cancellation of the caller
            raise

    def _leave(self, account: str) -> None:
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]
        able = [entry for entry in self._line if self._free_for(entry[0]) and not entry[1].done()]
        if able:
            chosen = min(able, key=lambda entry: self._held[entry[0]])  # if several are equal, the first in the queue
            self._line.remove(chosen)
            self._held[chosen[0]] += 1
            chosen[1].set_result(None)
