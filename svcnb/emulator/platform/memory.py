"""Release of freed memory to the operating system.

The memory of a process stays large for two reasons, even if its objects are no longer in use. First, objects in
reference cycles, such as the objects of a closed connection, remain until Python's garbage collector runs. An idle
process does not run the collector. Second, the C library does not return freed memory. The module can solve the second
problem only with the GNU C library.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

LOOK_S: Final = 3.0
"""Interval between checks of the process's size, in seconds."""
GROWN_BYTES: Final = 32 * 1024 * 1024
"""Growth of the process over its smallest size, in bytes. At this growth or more, the module releases freed memory."""
MUCH_BYTES: Final = 128 * 1024 * 1024
"""Growth of the process over its smallest size, in bytes. At this growth, the module also collects garbage during runs.

A collection delays runs by milliseconds. Below this growth, the module collects garbage only when the service is idle.
"""

_MMAP_BYTES: Final = 512 * 1024
_ARENAS: Final = 2
# Constants from <malloc.h>.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8


def configure_allocator() -> None:
    """Configures the allocator of the GNU C library to release large freed blocks immediately.

    Call this function once, before threads start. Without this library, the function has no effect.
    """
    library = _library()
    if library is not None:
        # By default, the threshold increases with each large block, and smaller blocks stay in the heap after their
        # release.
        library.mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_ARENA_MAX, _ARENAS)


def release_memory() -> None:
    """Releases freed memory immediately, which takes milliseconds. Has no effect without the GNU C library."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


class MemoryKeeper:
    """Background task that releases freed memory to the operating system when the process has grown.

    Args:
        is_busy: Function that returns whether requests or runs are in progress. The garbage collector would delay
            these requests and runs.
        resident: Function that returns the resident memory of the process in bytes. By default, `resident_bytes`.
        release: Function that releases freed memory.
        look_s: Interval between checks, in seconds.
    """

    def __init__(
        self,
        is_busy: Callable[[], bool] = lambda: False,
        *,
        resident: Callable[[], int | None] | None = None,
        release: Callable[[], None] = release_memory,
        look_s: float = LOOK_S,
    ) -> None:
        self._is_busy = is_busy
        self._resident = resident or resident_bytes
        self._release = release
        self._look_s = look_s
        self._least: int | None = None

    async def run(self) -> None:
        """Checks the size of the process at intervals until the task is cancelled."""
        # Objects from the start remain in memory. Exclude these objects from collections, so that a collection takes a
        # fifth of the time.
        gc.freeze()
        while True:
            await self.look()
            await asyncio.sleep(self._look_s)

    async def look(self) -> None:
        """Releases freed memory if the process has grown by at least `GROWN_BYTES`."""
        now = self._resident()
        if now is None:
            return
        self._least = now if self._least is None else min(self._least, now)
        if now - self._least >= GROWN_BYTES:
            if now - self._least >= MUCH_BYTES or not self._is_busy():
                gc.collect()  # do not use a thread, because transports must be destroyed on their event loop
            await asyncio.to_thread(self._release)


def resident_bytes() -> int | None:
    """Returns the resident memory of this process in bytes, or None if it is not available."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def _library() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
