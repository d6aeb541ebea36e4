"""The thread that panels work on, so that neither the notebook nor the browser waits for a service."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")


class Background:
    """An event loop on a thread of its own, started when it is first needed. It ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begins some work. Cancelling the future cancels the work."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="svcnb-panels", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)


BACKGROUND: Final = Background()
"""All panels of a process share one: the connections of their clients belong to its loop."""
