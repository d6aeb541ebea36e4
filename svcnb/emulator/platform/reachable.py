"""Health check of another process. The check does not wait for a busy process that responded recently."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

FRESH_S: Final = 1.0
"""Seconds for which a successful check is valid while the system reports that the process is running."""

_STOPPED: Final = frozenset({"T", "t"})
_RUNNING: Final = frozenset({"R", "S", "D", "I"})


def process_state(pid: int | None) -> str:
    """Returns the state letter of a process from ``/proc`` (T means stopped), or "" if the state is not available.

    Args:
        pid: Process id, or None if it is unknown.
    """
    if pid is None:
        return ""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - faster, and other tasks are waiting
            return file.read(512).rpartition(b")")[2].split()[0].decode("ascii")
    except (OSError, IndexError):
        return ""


def is_stopped(pid: int | None) -> bool:
    """Returns whether a signal such as SIGSTOP has stopped a process, or False if the state is not available.

    Args:
        pid: Process id, or None if it is unknown.
    """
    return process_state(pid) in _STOPPED


class Reachable:
    """Health check of a process. Concurrent checks share one result.

    On a busy machine, a process can wait for a processor core before it responds, and the caller then also waits. A
    successful check is therefore valid for `FRESH_S` seconds while the process is running. Each call also starts a
    check in the background, unless a check is in progress.

    Args:
        ask: Function that checks the process. Returns False if the process does not respond in time, and never raises.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, ask: Callable[[], Awaitable[bool]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._question: asyncio.Task[bool] | None = None
        self._answered_at = float("-inf")

    async def now(self, pid: int | None) -> bool:
        """Returns whether the process responds.

        Args:
            pid: Process id, or None if it is unknown. With None, every call waits for a response.
        """
        state = process_state(pid)
        if state in _STOPPED:
            return False
        if self._question is None:
            self._question = asyncio.create_task(self._asked(), name="svcnb-is-reachable")
        if state in _RUNNING and self._clock() - self._answered_at < FRESH_S:
            return True
        # Shield the check, because the cancellation of one caller must not cancel the check for other callers.
        return await asyncio.shield(self._question)

    async def close(self) -> None:
        """Cancels a check in progress."""
        if self._question is not None:
            self._question.cancel()
            await asyncio.gather(self._question, return_exceptions=True)

    async def _asked(self) -> bool:
        try:
            works = await self._ask()
            self._answered_at = self._clock() if works else float("-inf")
            return works
        finally:
            self._question = None
