"""Token buckets by address, on one server or shared through the database."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from svcnb.emulator.platform import rate_limiter

if TYPE_CHECKING:
    from svcnb.emulator.platform.store import Store

_REFILL_S: Final = 60.0
_KEPT: Final = 10_000


class TokenBuckets:
    """Token buckets by address. A bucket allows ``burst`` calls at once, and refills within a minute.

    Args:
        burst: Number of tokens in a full bucket. None means no limit.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, burst: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> float | None:
        """Takes a token.

        Args:
            address: The address of the bucket.

        Returns:
            None if the bucket had a token, otherwise the number of seconds until it has one.
        """
        if self._burst is None:
            return None
        now = self._clock()
        tokens, at = self._buckets.pop(address, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - at) * self._burst / _REFILL_S)
        allowed = tokens >= 1
        self._buckets[address] = (tokens - allowed, now)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        return None if allowed else (1 - tokens) * _REFILL_S / self._burst

    async def take_among_all(self, store: Store, address: str) -> float | None:
        """Takes a token like `take`, for all servers that share the database, with a 60-second sliding window.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        if self._burst is None or not store.shared:
            return self.take(address)
        burst = self._burst
        # Use the machine's time, because the frozen clock of an emulator would reject calls forever.
        return await store.run(
            lambda connection: rate_limiter.admit(
                connection, what="new_account", who=address, limit=burst, now=time.time()
            )
        )
