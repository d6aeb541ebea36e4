"""Background thread of the panels, so that the notebook and the browser do not wait for the service."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from svcnb.protocol.in_page import IN_PAGE

T = TypeVar("T")


class Background:
    """Event loop on a separate thread, which starts on first use and ends with the process.

    A browser page has only one thread. In a page, coroutines run on the page's own event loop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts a coroutine, and returns a future with its result. Cancelling the future cancels the coroutine.

        In a browser page, the future is a task of the page's loop, so the caller must await the result.
        """
        if IN_PAGE:  # a browser page has one thread, and its loop continues while a cell waits
            return asyncio.ensure_future(work)  # type: ignore[return-value]  # callers use only the common methods
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="svcnb-panels", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)


BACKGROUND: Final = Background()
"""Event loop that all panels of the process share.

A second loop could not use the connections of the panels' clients, because each connection belongs to one loop."""
