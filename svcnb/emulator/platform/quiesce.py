"""Lock that keeps ordinary requests out while the whole state is exchanged (reset, restore)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

TIMEOUT_S: Final = 10.0
"""Seconds that an exchange waits for requests under way; an execution may run for minutes."""


class Quiesce:
    """Counts requests under way, and makes new ones wait while the state is exchanged."""

    def __init__(self) -> None:
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._open = asyncio.Event()
        self._open.set()
        self._exchange = asyncio.Lock()

    async def enter(self) -> None:
        """Waits until requests may run, and counts one."""
        while not self._open.is_set():
            await self._open.wait()
        self._under_way += 1
        self._idle.clear()

    def leave(self) -> None:
        """Counts a request that has ended."""
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Runs its block while no other request does, or after `TIMEOUT_S`. The caller must not be counted itself."""
        async with self._exchange:
            self._open.clear()
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._idle.wait(), TIMEOUT_S)
                yield
            finally:
                self._open.set()
