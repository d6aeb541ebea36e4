"""How often one address may create accounts (reference facts G26)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.endpoint import Guard

if TYPE_CHECKING:
    from svcnb.emulator.http.endpoint import Call

_REFILL_S: Final = 60.0
_KEPT: Final = 10_000


class Buckets:
    """A token bucket for each address: ``burst`` calls at once, filled again within a minute.

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
            address: Whose bucket.

        Returns:
            Whether there was one.
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


async def _check(call: Call) -> None:
    client = call.request.client
    if not call.service.new_accounts.take(client.host if client else ""):
        raise StructuredError(
            429,
            "Too many accounts were created from this address within a minute.",
            fix="Wait a minute, or use one of the accounts that exist.",
            headers={"Retry-After": "2"},
        )


NEW_ACCOUNT_RATE = Guard(_check, frozenset({429}))
"""The calling address may create another account."""
