"""Base class of scanners. A scanner searches for causes of runs at intervals of the emulator's clock."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.triggers.timing import Timer

_LOG = logging.getLogger(__name__)
_STORE_RETRY_S: Final = 1.0
_ERROR_RETRY_S: Final = 10.0


class Scanner(ABC):
    """Background task that scans until its cancellation. After an error, the task waits before the next scan.

    Args:
        store: The database.
        clock: The emulator's clock.
        interval_s: Interval between scans, in seconds.
        wake: Function to call with the trigger's id after the admission of a run.
    """

    what: ClassVar[str]
    """Name of what the scanner monitors, for log messages, for example ``schedules``."""

    def __init__(self, store: Store, clock: Clock, interval_s: float, wake: Callable[[str], None]) -> None:
        self._store = store
        self._clock = clock
        self._interval_s = interval_s
        self._wake_queue = wake
        self._timer = Timer(clock)
        self._woken = asyncio.Event()
        self._next_look = clock.now()

    def wake(self) -> None:
        """Wakes the scanner after the creation, change or deletion of a trigger."""
        self._woken.set()

    async def run(self) -> None:
        """Scans until the task is cancelled. After an error, waits 1 second (database unavailable) or 10 seconds."""
        self._next_look = self._clock.now()
        while True:
            self._woken.clear()
            try:
                await self._round()
            except StoreUnavailable as error:
                _LOG.warning("the database is unavailable (%s): %s wait", error.message, self.what)
                await asyncio.sleep(_STORE_RETRY_S)
            except Exception:  # noqa: BLE001 - the next scan can succeed
                _LOG.exception("%s could not be scanned", self.what)
                await asyncio.sleep(_ERROR_RETRY_S)

    @abstractmethod
    async def _round(self) -> None:
        """Scans if a scan is due, otherwise waits for the next scan or for `wake`."""
