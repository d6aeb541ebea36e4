"""Handlers for SIGTERM and SIGINT, which run between two steps of the event loop.

A signal handler that raises an exception at an arbitrary point is not safe. The exception can be lost, for example in a
callback.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable


class Signals:
    """Handlers of the signals SIGTERM and SIGINT.

    The methods have no effect where a program cannot handle signals, such as outside the main thread. The program that
    embeds the emulator must then stop the emulator.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def end_start(self, start: asyncio.Task[None]) -> None:
        """Makes the first SIGTERM cancel the start, as `asyncio.Runner` does for SIGINT.

        Args:
            start: The task of the start.
        """

        def cancel() -> None:
            self.wait_for_stop()
            start.cancel()

        self._on(signal.SIGTERM, cancel)

    def end_serving(self, stop: Callable[[], None]) -> None:
        """Makes SIGTERM and SIGINT stop the server.

        Args:
            stop: Function that stops the server. A second call of the function stops the server immediately.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            self._on(number, stop)

    def wait_for_stop(self) -> None:
        """Ignores SIGTERM during the stop. A second SIGTERM cannot interrupt the stop, but SIGINT can."""
        self._on(signal.SIGTERM, lambda: None)
        with _where_possible():
            self._loop.remove_signal_handler(signal.SIGINT)

    def _on(self, number: signal.Signals, act: Callable[[], None]) -> None:
        with _where_possible():
            self._loop.add_signal_handler(number, act)


def _where_possible() -> contextlib.suppress:
    return contextlib.suppress(NotImplementedError, RuntimeError, ValueError)
