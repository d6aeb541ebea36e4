"""The delay after which a grant acts, imitated: "short and variable" (specification 3)."""

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
"""Events that may widen what a key can do. What they take away acts at once, as all removals do."""


class GrantDelay:
    """Remembers the blocks whose grants do not act yet.

    A question about permissions is then asked twice: of the newest block and of the last one whose grants all act.
    Both must say yes, so grants come late and removals at once.

    Args:
        delay_ms: Milliseconds until a grant acts; 0 makes everything act at once.
        jitter_ms: Largest random addition.
        clock: Seconds, monotonic: the delay is real time, whatever the emulator's clock does.
    """

    def __init__(self, delay_ms: int, jitter_ms: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_ms / 1000
        self._jitter_s = jitter_ms / 1000
        self._clock = clock
        self._late: dict[int, float] = {}

    def note(self, event: str, block: int) -> None:
        """Takes note of an event.

        Args:
            event: Its name.
            block: Number of the block that it is in.
        """
        if event in GRANTS and (self._delay_s or self._jitter_s):
            wait = self._delay_s + random.uniform(0, self._jitter_s)  # noqa: S311 - a delay is no secret
            self._late[block] = max(self._late.get(block, 0.0), self._clock() + wait)

    def forget(self) -> None:
        """Lets everything act."""
        self._late.clear()

    def last_effective_block(self) -> int | None:
        """Number of the last block all of whose grants act, None when that is the newest."""
        if not self._late:
            return None
        now = self._clock()
        for block in [block for block, until in self._late.items() if until <= now]:
            del self._late[block]
        return min(self._late) - 1 if self._late else None
