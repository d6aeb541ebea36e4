"""Health check of another process, without a wait for a process that answered recently and is busy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

FRESH_S: Final = 1.0
"""Seconds for which an answer is valid while the system reports that the process runs."""

_STOPPED: Final = frozenset({"T", "t"})
_RUNNING: Final = frozenset({"R", "S", "D", "I"})


def process_state(pid: int | None) -> str:
    """State of a process as one letter of ``/proc`` (T is stopped), "" where it is not available.

    Args:
        pid: Process id, or None when it is unknown.
    """
    if pid is None:
        return ""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - read while others wait
            return file.read(512).rpartition(b")")[2].split()[0].decode("ascii")
    except (OSError, IndexError):
        return ""


def is_stopped(pid: int | None) -> bool:
    """Whether a signal (SIGSTOP) stopped a process. False where that is not available.

    Args:
        pid: Process id, or None when it is unknown.
    """
    return process_state(pid) in _STOPPED


class Reachable:
    """Checks whether a process works. Checks at the same time share one answer.

    On a busy machine an answer takes as long as the process waits for a core, and the caller would wait with it. An
    answer is therefore valid for `FRESH_S` seconds while the process runs. It is renewed in the background.

    Args:
        ask: Asks the process; False when it does not answer in time. It raises nothing.
        clock: Seconds, monotonic.
    """

    def __init__(self, ask: Callable[[], Awaitable[bool]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._question: asyncio.Task[bool] | None = None
        self._answered_at = float("-inf")

    async def now(self, pid: int | None) -> bool:
        """Whether the process works.

        Args:
            pid: Its process id. With None, every check waits for its answer.
        """
        state = process_state(pid)
        if state in _STOPPED:
            return False
        if self._question is None:
            self._question = asyncio.create_task(self._asked(), name="svcnb-is-reachable")
        if state in _RUNNING and self._clock() - self._answered_at < FRESH_S:
            return True
        # Shielded: cancelling one caller must not cancel the answer for the others.
        return await asyncio.shield(self._question)

    async def close(self) -> None:
        """Stops checking."""
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
