"""Simulated delay after which a grant takes effect: "short and variable" (specification 3)."""

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
"""Events that may extend the permissions of a key. The permissions that they remove end at once, as all removals do."""


class GrantDelay:
    """Records the blocks whose grants are not in effect yet.

    A permission is then checked twice: for the newest block, and for the last block whose grants are all in effect.
    Both must allow it, so grants are delayed and removals take effect at once.

    Args:
        delay_ms: Milliseconds until a grant takes effect; with 0 everything takes effect at once.
        jitter_ms: Largest random addition.
        clock: Seconds, monotonic. The delay is real time, independent of the emulator's clock.
    """

    def __init__(self, delay_ms: int, jitter_ms: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_ms / 1000
        self._jitter_s = jitter_ms / 1000
        self._clock = clock
        self._late: dict[int, float] = {}

    def note(self, event: str, block: int) -> None:
        """Records an event.

        Args:
            event: Its name.
            block: Number of the block that it is in.
        """
        if event in GRANTS and (self._delay_s or self._jitter_s):
            wait = self._delay_s + random.uniform(0, self._jitter_s)  # noqa: S311 - a delay is not secret
            self._late[block] = max(self._late.get(block, 0.0), self._clock() + wait)

    def forget(self) -> None:
        """Makes all grants take effect."""
        self._late.clear()

    def last_effective_block(self) -> int | None:
        """Number of the last block whose grants are all in effect, None when that is the newest."""
        if not self._late:
            return None
        now = self._clock()
        for block in [block for block, until in self._late.items() if until <= now]:
            del self._late[block]
        return min(self._late) - 1 if self._late else None
