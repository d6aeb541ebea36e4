"""Fair scheduler of limited resources, such as spare processes and slots, among accounts."""

from __future__ import annotations

import time
from collections.abc import Callable

from svcnb.emulator.platform.fair_limit import FairLimit

_HALF_LIFE_S = 2.0
_NEGLIGIBLE = 0.005
_CLEARLY = 1.25
_PART_FOR_OTHERS = 4
_PART_FOR_NEWCOMERS = 8


class Shares:
    """Recent use of processes by each account, in seconds. The recorded use halves every two seconds.

    Args:
        clock: Monotonic clock that returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}
        self._as_of = clock()

    def add(self, account: str, seconds: float) -> None:
        """Adds the duration of a run, or of a warm-up, to the use of an account.

        A new account starts with the lowest use of all accounts, so that inactivity has no benefit.
        """
        self._age()
        so_far = self._used.get(account)
        if so_far is None:
            so_far = min(self._used.values(), default=0.0)
        self._used[account] = so_far + seconds

    def of(self, account: str) -> float:
        """Returns the recent use of an account, for comparison with other accounts."""
        return self._used.get(account, 0.0)

    def exceeds_average(self, account: str) -> bool:
        """Returns whether an account has used more than 1.25 times the average of the other accounts.

        The result is always False for a single account.
        """
        self._age()
        others = [used for name, used in self._used.items() if name != account]
        return bool(others) and self.of(account) > _CLEARLY * sum(others) / len(others)

    @property
    def is_shared(self) -> bool:
        """Whether more than one account has recent use."""
        self._age()
        return len(self._used) > 1

    def _age(self) -> None:
        now = self._clock()
        left = 0.5 ** ((now - self._as_of) / _HALF_LIFE_S)
        self._as_of = now
        self._used = {account: rest for account, used in self._used.items() if (rest := used * left) > _NEGLIGIBLE}


def slots(count: int) -> FairLimit:
    """Returns a limiter with ``count`` slots for runs. The account with the fewest slots receives the next slot.

    One account can use at most three quarters of the slots (rounded up). An eighth of the slots (rounded down) is
    reserved for accounts without a slot.
    """
    return FairLimit(count, count - count // _PART_FOR_OTHERS, reserved=count // _PART_FOR_NEWCOMERS)
