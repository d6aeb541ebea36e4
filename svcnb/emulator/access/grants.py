"""Simulated delay before a grant of permissions takes effect.

The documentation of the service calls this delay "short and variable".

Source: docs/service/permissions.md#delay-of-grants.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final

GRANTS: Final = frozenset(
    {
        "UsageApiKeySet",
        "GroupAdded",
        "GroupUpdated",
        "ActionAddedToGroup",
        "PkpAddedToGroup",
        "WalletDerivationRegistered",
    }
)
"""Events that can extend the permissions of a key.

If such an event also removes permissions, the removal takes effect immediately, like every removal.
"""


class GrantDelay:
    """Record of the blocks whose grants have not taken effect yet.

    The permission cache checks each permission twice: for the newest block, and for the last block whose grants are all
    in effect. Both must allow the operation, so grants are delayed and removals take effect immediately.

    Args:
        delay_ms: Milliseconds until a grant takes effect. 0 means immediately.
        jitter_ms: Maximum random addition to the delay, in milliseconds.
        clock: Monotonic clock that returns seconds. The delay is real time, independent of the emulator's clock.
    """

    def __init__(self, delay_ms: int, jitter_ms: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_ms / 1000
        self._jitter_s = jitter_ms / 1000
        self._clock = clock
        self._late: dict[int, float] = {}

    def note(self, event: str, block: int) -> None:
        """Records an event.

        Args:
            event: Name of the event.
            block: Number of the block that contains the event.
        """
        if event in GRANTS and (self._delay_s or self._jitter_s):
            wait = self._delay_s + random.uniform(0, self._jitter_s)  # noqa: S311 - a delay is not secret
            self._late[block] = max(self._late.get(block, 0.0), self._clock() + wait)

    def forget(self) -> None:
        """Makes all grants take effect."""
        self._late.clear()

    def last_effective_block(self) -> int | None:
        """Returns the number of the last block whose grants are all in effect, or None if that is the newest block."""
        if not self._late:
            return None
        now = self._clock()
        for block in [block for block, until in self._late.items() if until <= now]:
            del self._late[block]
        return min(self._late) - 1 if self._late else None
