"""Memory that was freed goes back to the operating system.

Two things keep a process as large as it once was. Objects that refer to each other, such as the parts of a closed
connection, stay until Python's garbage collector runs, which does not happen in an idle process. The C library also
keeps freed memory; that is changed for the GNU C library only.
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
"""Seconds between two looks at the size of the process."""
GROWN_BYTES: Final = 32 * 1024 * 1024
"""Freed memory is given back while the process is larger than it was at its smallest by this much."""
MUCH_BYTES: Final = 128 * 1024 * 1024
"""From this growth on, garbage is collected beside runs, too, which then wait some milliseconds."""

_MMAP_BYTES: Final = 512 * 1024
_ARENAS: Final = 2
# Numbers of <malloc.h>.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8


def configure_allocator() -> None:
    """Makes large blocks of memory go back as soon as they are freed. Called once, before there are threads."""
    library = _library()
    if library is not None:
        # Left alone, the threshold grows with each large block, and the heap keeps what lies below it.
        library.mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Gives freed memory back now. Takes milliseconds; other threads go on."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


class MemoryKeeper:
    """Gives freed memory back while the process is larger than it was at its smallest.

    Args:
        is_busy: Whether requests or runs are under way that the garbage collector would hold up.
        resident: Reads the memory of the process in bytes, None where it is not known.
        release: Gives freed memory back.
        look_s: Seconds between two looks.
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
        """Looks now and again until it is cancelled."""
        # What was made at the start stays until the end: a collection need not visit it, and takes a fifth of the time.
        gc.freeze()
        while True:
            await self.look()
            await asyncio.sleep(self._look_s)

    async def look(self) -> None:
        """Gives freed memory back if the process is large."""
        now = self._resident()
        if now is None:
            return
        self._least = now if self._least is None else min(self._least, now)
        if now - self._least >= GROWN_BYTES:
            if now - self._least >= MUCH_BYTES or not self._is_busy():
                gc.collect()  # here and not in a thread: transports are taken apart on their event loop
            await asyncio.to_thread(self._release)


def resident_bytes() -> int | None:
    """Resident memory of this process in bytes, None where it is not known."""
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
