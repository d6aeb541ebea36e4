"""Return of freed memory to the operating system.

Two things keep a process as large as it once was. First, objects that refer to each other, such as the parts of a
closed connection, stay until Python's garbage collector runs. An idle process does not run it. Second, the C library
keeps freed memory. That is changed for the GNU C library only.
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
"""Seconds between two checks of the process's size."""
GROWN_BYTES: Final = 32 * 1024 * 1024
"""Freed memory is returned while the process is larger than its smallest size by this much."""
MUCH_BYTES: Final = 128 * 1024 * 1024
"""From this growth on, garbage is also collected during runs, which then wait some milliseconds."""

_MMAP_BYTES: Final = 512 * 1024
_ARENAS: Final = 2
# Numbers of <malloc.h>.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8


def configure_allocator() -> None:
    """Makes the allocator return large blocks as soon as they are freed. Called once, before threads start."""
    library = _library()
    if library is not None:
        # By default, the threshold grows with each large block, and the heap keeps the smaller ones.
        library.mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Returns freed memory now. Takes milliseconds; other threads continue."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


class MemoryKeeper:
    """Returns freed memory while the process is larger than its smallest size.

    Args:
        is_busy: Whether requests or runs are under way that the garbage collector would delay.
        resident: Reads the memory of the process in bytes, None where it is not available.
        release: Returns freed memory.
        look_s: Seconds between two checks.
    """

    def __init__(
        self,
        is_busy: Callable[[], bool] = lambda: False,
        *,
        resident: Callable[[], int | None] | None = None,
        release: Callable[[], None] = give_back,
        look_s: float = LOOK_S,
    ) -> None:
        self._is_busy = is_busy
        self._resident = resident or resident_bytes
        self._release = release
        self._look_s = look_s
        self._least: int | None = None

    async def run(self) -> None:
        """Checks at intervals until it is cancelled."""
        # Objects from the start stay until the end. A collection that skips them takes a fifth of the time.
        gc.freeze()
        while True:
            await self.look()
            await asyncio.sleep(self._look_s)

    async def look(self) -> None:
        """Returns freed memory if the process is large."""
        now = self._resident()
        if now is None:
            return
        self._least = now if self._least is None else min(self._least, now)
        if now - self._least >= GROWN_BYTES:
            if now - self._least >= MUCH_BYTES or not self._is_busy():
                gc.collect()  # here and not in a thread: transports are taken apart on their event loop
            await asyncio.to_thread(self._release)


def resident_bytes() -> int | None:
    """Resident memory of this process in bytes, None where it is not available."""
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
