"""Token bucket for each address, on one server or shared through the database."""

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
    """Token buckets, one per address: ``burst`` calls at once, filled again within a minute.

    Args:
        burst: Tokens in a full bucket; None never refuses.
        clock: Seconds, monotonic.
    """

    def __init__(self, burst: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """Takes a token.

        Args:
            address: The address of the bucket.

        Returns:
            Whether the bucket had one.
        """
        if self._burst is None:
            return True
        now = self._clock()
        tokens, at = self._buckets.pop(address, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - at) * self._burst / _REFILL_S)
        allowed = tokens >= 1
        self._buckets[address] = (tokens - allowed, now)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        return allowed

    async def take_among_all(self, store: Store, address: str) -> bool:
        """Takes a token like `take`, across all servers that share the database. A full bucket there lasts 60 seconds.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        if self._burst is None or not store.shared:
            return self.take(address)
        burst = self._burst
        # The machines' time, because a frozen clock of an emulator must not refuse for ever.
        wait_s = await store.run(
            lambda connection: rate_limiter.admit(
                connection, what="new_account", who=address, limit=burst, now=time.time()
            )
        )
        return wait_s is None
