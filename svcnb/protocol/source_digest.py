"""Root digest of a source of any size: in memory, in a file, or in a stream.

Several threads hash large inputs, because the leaves of the tree are independent and `hashlib` releases the interpreter
lock. The memory use stays below 8 MiB for a source of any size.

Source: docs/service/keys.md#content-identifiers.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import count
from threading import Lock, local
from typing import Any, Final, cast

from svcnb.errors import InvalidType
from svcnb.protocol.errors import shown
from svcnb.protocol.in_order import cores, in_order, process_in_order
from svcnb.protocol.limits import CID_CHUNK_BYTES
from svcnb.protocol.unixfs import Node, Tree, leaf, leaves, parent

Progress = Callable[[int], object]
"""Progress function, which receives the number of bytes hashed so far. The function runs on the caller's thread."""

_THREADED_BYTES: Final = 1024 * 1024  # below this size, starting threads takes longer than the time that they save
_BATCH_BYTES: Final = 4 * CID_CHUNK_BYTES  # the largest task: large compared to the overhead, and still short
_BATCHES: Final = 4  # minimum for each worker, so that no core is idle for long at the end
_READ_BYTES: Final = 2 * CID_CHUNK_BYTES  # read at once: fits into a core's cache, and more is not faster
_STREAM_BYTES: Final = 2 * CID_CHUNK_BYTES  # less for streams, whose batches are kept in memory
_MAX_WORKERS: Final = 8  # a buffer of 512 KiB each
_MAX_STREAM_WORKERS: Final = 4  # a little more than two buffers of 512 KiB each


def of_memory(data: memoryview, progress: Progress | None) -> bytes:
    """Returns the root digest of bytes in memory."""
    if progress is not None and not callable(progress):
        raise InvalidType(
            f"invalid progress of type {type(progress).__name__}: expected a function that accepts a number of bytes"
        )
    size = len(data)
    if size < _THREADED_BYTES:
        # This function executes as little code as possible, because after a chunk, the processor's caches contain only
        # that chunk.
        digest, _, _ = parent(leaves(data)) if size > CID_CHUNK_BYTES else leaf(data)
        if progress:
            progress(size)
        return digest
    return _of_batches(lambda start, end: leaves(data[start:end]), size, progress)


def _of_batches(nodes_of: Callable[[int, int], list[Node]], size: int, progress: Progress | None) -> bytes:
    """Returns the root digest of data of known size. The threads can hash its batches in any order."""
    workers = min(cores(), _MAX_WORKERS)
    batch = min(_BATCH_BYTES, max(1, size // (workers * _BATCHES * CID_CHUNK_BYTES)) * CID_CHUNK_BYTES)

    def nodes_from(start: int) -> list[Node]:
        return nodes_of(start, min(start + batch, size))

    tree = Tree()
    for nodes in process_in_order(nodes_from, range(0, size, batch), workers):
        tree.add(nodes)
        if progress:
            progress(tree.file_bytes)
    return tree.digest()


# --- files -----------------------------------------------------------------------------------------------------------


def of_path(path: os.PathLike[str], progress: Progress | None) -> bytes:
    """Returns the root digest of a file's content.

    Raises:
        OSError: The file cannot be read, or its size changes during the read.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib takes 4 ms to import
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode) or before.st_size < _THREADED_BYTES:
            # This case includes files without a known size, such as those in /proc.
            return of_stream(file.readinto, progress)
        root = _of_file(file, before.st_size, progress)
        if os.fstat(file.fileno()).st_size != before.st_size:
            raise _changed(path)
        return root


def _of_file(file: Any, size: int, progress: Progress | None) -> bytes:
    # Read the file instead of mapping it, because this process crashes if another process shortens a mapped file. A
    # buffer that a thread reuses stays in its core's cache, so the copy costs only a few percent.
    own, lock = local(), Lock()

    def read_at(buffer: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(file.fileno(), [buffer], offset)
        with lock:  # on Windows, all readers of a file share one position
            file.seek(offset)
            return int(file.readinto(buffer) or 0)

    def nodes_of(start: int, end: int) -> list[Node]:
        if not hasattr(own, "buffer"):
            own.buffer = memoryview(bytearray(_READ_BYTES))
        found: list[Node] = []
        for offset in range(start, end, len(own.buffer)):
            wanted = own.buffer[: end - offset]
            filled = 0
            while filled < len(wanted):
                taken = read_at(wanted[filled:], offset + filled)
                if not taken:
                    raise _changed(file.name)
                filled += taken
            found += leaves(wanted)
        return found

    return _of_batches(nodes_of, size, progress)


def _changed(path: object) -> OSError:
    return OSError(f"{shown(str(path))} changed while it was read: wait until no program writes to the file")


# --- streams ---------------------------------------------------------------------------------------------------------


def reader(file: Any) -> Callable[[memoryview], int | None]:
    """Returns a function that fills a buffer from a binary file."""
    if hasattr(file, "encoding") and hasattr(file, "read"):
        raise InvalidType("the file is open in text mode, but a CID needs bytes: open the file with mode 'rb'")
    if hasattr(file, "readinto"):
        return cast("Callable[[memoryview], int | None]", file.readinto)
    if hasattr(file, "read"):
        return lambda buffer: _read_into(file, buffer)
    raise InvalidType(
        f"a source must be a string, bytes, a pathlib.Path or a file opened in binary mode, not {type(file).__name__}"
        + (": use its attribute .cid, which contains the CID" if hasattr(file, "cid") else "")
    )


def _read_into(file: Any, buffer: memoryview) -> int | None:
    data = file.read(len(buffer))
    if data is None:
        return None
    if not isinstance(data, bytes):
        raise InvalidType(
            f"the file returns {type(data).__name__}, but a CID needs bytes: open the file with mode 'rb'"
        )
    buffer[: len(data)] = data
    return len(data)


def of_stream(readinto: Callable[[memoryview], int | None], progress: Progress | None) -> bytes:
    """Returns the root digest of a stream. The function reads the stream into one buffer after another.

    Raises:
        BlockingIOError: The stream is in non-blocking mode and has no data yet.
    """
    first = memoryview(bytearray(_STREAM_BYTES))
    filled = _fill(readinto, first)
    if filled < _STREAM_BYTES:
        return of_memory(first[:filled], progress)
    workers = min(cores(), _MAX_STREAM_WORKERS)

    def batches() -> Iterator[memoryview]:
        # While this thread fills one batch, the other threads have at most 2 * workers batches. The oldest buffer is
        # therefore free again.
        ring = [first, *(memoryview(bytearray(_STREAM_BYTES)) for _ in range(2 * workers))]
        yield first
        for turn in count(1):
            buffer = ring[turn % len(ring)]
            filled = _fill(readinto, buffer)
            if filled:
                yield buffer[:filled]
            if filled < _STREAM_BYTES:
                return

    tree = Tree()
    for nodes in in_order(leaves, batches(), workers):
        tree.add(nodes)
        if progress:
            progress(tree.file_bytes)
    return tree.digest()


def _fill(readinto: Callable[[memoryview], int | None], buffer: memoryview) -> int:
    filled = 0
    while filled < len(buffer):
        taken = readinto(buffer[filled:])
        if taken is None:
            raise BlockingIOError(
                "the file is in non-blocking mode and has no data to read: set the file to blocking mode"
            )
        if not taken:
            break
        filled += taken
    return filled
