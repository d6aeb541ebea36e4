"""Timer for the emulator's clock, which can run, jump or be frozen."""

from __future__ import annotations

import asyncio
from typing import Final

from svcnb.emulator.platform.clock import Clock

_LONGEST_WAIT_S: Final = 24 * 3600.0


class Timer:
    """Timer that waits until the emulator's clock reaches a time.

    Args:
        clock: The emulator's clock. A change of the clock wakes all waiting tasks.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed: set[asyncio.Event] = set()
        clock.on_change(self._wake)

    async def until(self, moment: float, wake: asyncio.Event | None = None, *, since: float | None = None) -> bool:
        """Waits until the clock reaches a time.

        Args:
            moment: Time to wait for, in Unix seconds. Infinity waits forever.
            wake: Event that ends the wait early, or None to wait without such an event.
            since: Time of the clock at which the caller chose ``moment``, in Unix seconds. None means now.

        Returns:
            Whether the clock has reached the time. False after ``wake``, or if a user sets the clock back during the
            wait.
        """
        self._loop = asyncio.get_running_loop()
        begun = self._clock.now() if since is None else since
        event = wake or asyncio.Event()
        self._changed.add(event)
        try:
            while (left := moment - self._clock.now()) > 0:
                if (wake is not None and wake.is_set()) or self._clock.now() < begun:
                    return False
                # Only a change moves a frozen clock. Event loops do not accept timers of several years.
                timeout = None if self._clock.frozen else min(left, _LONGEST_WAIT_S)
                try:
                    async with asyncio.timeout(timeout):
                        await event.wait()
                except TimeoutError:
                    continue
                if wake is None:
                    event.clear()
            return True
        finally:
            self._changed.discard(event)

    def _wake(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set_all)

    def _set_all(self) -> None:
        for event in self._changed:
            event.set()
