"""SIGTERM and SIGINT in the life of an emulator: heard between two steps of its event loop, never in the middle of one.

A handler that raises at an arbitrary point can be lost: in a task that is not awaited, or in a callback.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable


class Signals:
    """What the two do at the moment.

    Where they cannot be handled (in other threads than the first, on some systems) nothing happens: the program that
    embeds the emulator stops it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def end_start(self, start: asyncio.Task[None]) -> None:
        """SIGTERM cancels a start, once. SIGINT is the runner's, which does the same.

        Args:
            start: The task that starts.
        """

        def cancel() -> None:
            self.wait_for_stop()
            start.cancel()

        self._on(signal.SIGTERM, cancel)

    def end_serving(self, stop: Callable[[], None]) -> None:
        """Both stop the server.

        Args:
            stop: Stops it; once more, and it stops at once.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            self._on(number, stop)

    def wait_for_stop(self) -> None:
        """SIGTERM says nothing new until the loop is closed: sent twice it must not cut the stop short. SIGINT may."""
        self._on(signal.SIGTERM, lambda: None)
        with _where_possible():
            self._loop.remove_signal_handler(signal.SIGINT)

    def _on(self, number: signal.Signals, act: Callable[[], None]) -> None:
        with _where_possible():
            self._loop.add_signal_handler(number, act)


def _where_possible() -> contextlib.suppress:
    return contextlib.suppress(NotImplementedError, RuntimeError, ValueError)
