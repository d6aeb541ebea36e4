"""Lock that delays requests during a replacement of the whole state, and counter of requests in progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

TIMEOUT_S: Final = 10.0
"""Maximum time to wait for requests in progress, in seconds. A request that runs an action can take minutes."""


class Quiesce:
    """Lock that delays ordinary requests while the emulator replaces its whole state (reset, restore)."""

    def __init__(self) -> None:
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._open = asyncio.Event()
        self._open.set()
        self._exchange = asyncio.Lock()
        self._last = time.monotonic()

    def note(self) -> None:
        """Records that a request has ended now. Also call this method for a request that `enter` has not counted."""
        self._last = time.monotonic()

    def idle_s(self) -> float:
        """Returns the seconds since the last request, or 0.0 while a request or a replacement is in progress."""
        return 0.0 if self._under_way or self._exchange.locked() else time.monotonic() - self._last

    async def enter(self) -> None:
        """Waits until requests can run, and then counts a request."""
        while not self._open.is_set():
            await self._open.wait()
        self._under_way += 1
        self._idle.clear()

    def leave(self) -> None:
        """Counts the end of a request."""
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Runs its ``async with`` block when no requests are in progress, but at the latest after `TIMEOUT_S` seconds.

        Requests that arrive during the wait or the block wait until the block has ended.

        The caller must not be a request that `enter` has counted.
        """
        async with self._exchange:
            self._open.clear()
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._idle.wait(), TIMEOUT_S)
                yield
            finally:
                self._open.set()
