"""SIGTERM and SIGINT handling. Signals are handled between two steps of the event loop, never in the middle of one.

A handler that raises at an arbitrary point can be lost: in a task that is not awaited, or in a callback.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable


class Signals:
    """Current handling of both signals.

    Where they cannot be handled (in other threads than the first, on some systems) nothing happens. The program that
    embeds the emulator then stops it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def end_start(self, start: asyncio.Task[None]) -> None:
        """Makes SIGTERM cancel a start, once. The runner does the same for SIGINT.

        Args:
            start: The task of the start.
        """

        def cancel() -> None:
            self.wait_for_stop()
            start.cancel()

        self._on(signal.SIGTERM, cancel)

    def end_serving(self, stop: Callable[[], None]) -> None:
        """Makes both signals stop the server.

        Args:
            stop: Stops the server. A second call stops it at once.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            self._on(number, stop)

    def wait_for_stop(self) -> None:
        """Ignores SIGTERM until the loop is closed: a second one must not interrupt the stop. SIGINT may."""
        self._on(signal.SIGTERM, lambda: None)
        with _where_possible():
            self._loop.remove_signal_handler(signal.SIGINT)

    def _on(self, number: signal.Signals, act: Callable[[], None]) -> None:
        with _where_possible():
            self._loop.add_signal_handler(number, act)


def _where_possible() -> contextlib.suppress:
    return contextlib.suppress(NotImplementedError, RuntimeError, ValueError)
