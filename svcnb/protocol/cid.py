"""The CID of an action: the name that follows from its bytes and from nothing else.

`cid` is for people and takes what they have at hand. `source_cid` is for the wire: any text has a CID there.
`CidHasher` takes a source piece by piece. Large inputs are hashed by several threads, since the leaves of the tree are
independent and `hashlib` works without the interpreter lock; memory stays below 8 MiB at any size.

Source: specification 1.3.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from svcnb.protocol import base58
from svcnb.protocol.cid_text import ParsedCid, is_cid, is_cid_v0, parse_cid, to_v0, to_v1
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.limits import CID_CHUNK_BYTES
from svcnb.protocol.unixfs import Bytes, Tree, leaf, leaf_digest

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = [
    "CidHasher",
    "ParsedCid",
    "cid",
    "is_cid",
    "is_cid_v0",
    "parse_cid",
    "source_cid",
    "to_v0",
    "to_v1",
]

Progress = Callable[[int], object]
"""Called from the calling thread with the number of bytes hashed so far."""


class BinaryFile(Protocol):
    """Anything that reads as bytes: an opened file, a pipe, a response body."""

    def read(self, size: int, /) -> bytes | None:
        """At most ``size`` bytes, none at the end."""


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MULTIHASH: Final = b"\x12\x20"  # sha2-256, 32 bytes
_CACHED_CHARACTERS: Final = 8_192
_CACHED_SOURCES: Final = 256
_THREADED_BYTES: Final = 4 * 1024 * 1024  # below, starting threads costs more than they gain
_BATCH_CHUNKS: Final = 16  # 4 MiB a task: hundreds of times the cost of handing it over
_READ_CHUNKS: Final = 2  # of which so much is read at once: it stays in a core's cache, and larger gains nothing
_STREAM_CHUNKS: Final = 2  # less for streams, whose batches are held in memory
_MAX_WORKERS: Final = 8  # a buffer of 512 KiB each
_MAX_STREAM_WORKERS: Final = 4  # two and a bit buffers of 512 KiB each
_PATH_CHARACTERS: Final = 4_096
_FILE_ENDINGS: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_NEVER_IN_PATHS: Final = re.compile(r"[\n\r(){};=]")


def cid(source: str | Bytes | os.PathLike[str] | BinaryFile, *, progress: Progress | None = None) -> str:
    """Computes the CIDv0 of a source, without asking anybody.

    Args:
        source: The source text itself (its UTF-8 bytes count, exactly as they are), its bytes, the path of a file as
            `pathlib.Path`, or a file opened in binary mode, which is read from where it stands to its end.
        progress: Called with the number of bytes hashed so far, for large sources.

    Returns:
        46 characters that start with ``Qm``.

    Raises:
        TypeError: None of these, or a file opened in text mode.
        MalformedValue: The text is the name of a JavaScript file, or holds half a surrogate pair and so no UTF-8.
        OSError: The file cannot be read, or changed while it was read.

    Example:
        >>> cid("hello")
        'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX'
    """
    if isinstance(source, str):
        if len(source) <= _PATH_CHARACTERS and _looks_like_a_path(source.strip()):
            raise MalformedValue(
                f"{shown(source)} looks like the name of a file, and a text is taken as the source itself",
                hint="for the file write svcnb.cid(pathlib.Path(...))",
            )
        return source_cid(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _of_memory(_flat(source), progress)
    if isinstance(source, os.PathLike):
        return _of_path(source, progress)
    return _of_stream(_reader(source), progress)


def _looks_like_a_path(text: str) -> bool:
    # No action is lost: whatever ends like this without brackets or an assignment defines no `main`.
    return text.endswith(_FILE_ENDINGS) and not _NEVER_IN_PATHS.search(text)


def source_cid(source: str) -> str:
    """Computes the CIDv0 of any text, as the service does: nothing is taken for a path.

    Args:
        source: Source text; its UTF-8 bytes count.

    Raises:
        MalformedValue: The text holds half a surrogate pair, which UTF-8 cannot hold.
    """
    if len(source) <= _CACHED_CHARACTERS:
        return _of_short_text(source)
    return _of_memory(memoryview(encode_source(source)), None)


def encode_source(source: str) -> bytes:
    """The bytes of a source text.

    Raises:
        MalformedValue: The text holds half a surrogate pair.
    """
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        raise MalformedValue(
            f"the source has no UTF-8 form: its character {error.start} is half of a surrogate pair",
            hint="read the file as UTF-8, or pass its bytes",
        ) from None


@lru_cache(maxsize=_CACHED_SOURCES)
def _of_short_text(source: str) -> str:
    # At most 32 KiB each, so one leaf.
    return _text(leaf_digest(encode_source(source)))


def _text(root_digest: bytes) -> str:
    return base58.encode(_MULTIHASH + root_digest)


class CidHasher:
    """Computes a CID from pieces, in the manner of `hashlib`.

    Args:
        data: First piece.

    Example:
        >>> hasher = CidHasher(b"hel")
        >>> hasher.update(b"lo")
        >>> hasher.cid()
        'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX'
    """

    __slots__ = ("_rest", "_tree", "size")

    size: int
    """Bytes taken so far."""

    def __init__(self, data: Bytes = b"") -> None:
        self._tree = Tree()
        # A leaf begins with its own length, so a chunk is held back until it is full or the last one.
        self._rest = bytearray()
        self.size = 0
        self.update(data)

    def update(self, data: Bytes) -> None:
        """Takes the next piece, of any length.

        Raises:
            TypeError: Not bytes.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"pieces are bytes, not {type(data).__name__}: encode a text first, text.encode()")
        view = _flat(data)
        self.size += len(view)
        if self._rest:
            taken = CID_CHUNK_BYTES - len(self._rest)
            self._rest += view[:taken]
            view = view[taken:]
            if len(self._rest) < CID_CHUNK_BYTES:
                return
            self._add(memoryview(self._rest))
            self._rest = bytearray()
        whole = len(view) - len(view) % CID_CHUNK_BYTES
        for start in range(0, whole, CID_CHUNK_BYTES):
            self._add(view[start : start + CID_CHUNK_BYTES])
        self._rest += view[whole:]

    def _add(self, chunk: memoryview) -> None:
        self._tree.add(leaf(leaf_digest(chunk), len(chunk)))

    def digest(self) -> bytes:
        """SHA-256 of the root block over everything so far, 32 bytes; more may follow."""
        tree = self._tree
        if self._rest or not self.size:
            tree = tree.copy()
            tree.add(leaf(leaf_digest(self._rest), len(self._rest)))
        return tree.root().digest

    def cid(self) -> str:
        """The CIDv0 of everything so far; more may follow."""
        return _text(self.digest())

    def copy(self) -> CidHasher:
        """A hasher that continues apart from this one."""
        twin = CidHasher()
        twin._tree, twin._rest, twin.size = self._tree.copy(), bytearray(self._rest), self.size
        return twin

    def __repr__(self) -> str:
        return f"CidHasher(size={self.size})"


# --- memory -------------------------------------------------------------------------------------------------------


def _flat(data: Bytes) -> memoryview:
    view = memoryview(data)
    if view.ndim == 1 and view.itemsize == 1 and view.c_contiguous:
        return view
    try:
        return view.cast("B")
    except TypeError:
        raise TypeError("the memoryview has gaps: pass bytes(view)") from None


def _of_memory(data: memoryview, progress: Progress | None) -> str:
    def digests(start: int) -> list[bytes]:
        end = min(start + _BATCH_CHUNKS * CID_CHUNK_BYTES, len(data))
        return [leaf_digest(data[at : min(at + CID_CHUNK_BYTES, end)]) for at in range(start, end, CID_CHUNK_BYTES)]

    if len(data) <= CID_CHUNK_BYTES:
        root = leaf_digest(data)
        if progress:
            progress(len(data))
        return _text(root)
    return _of_batches(digests, len(data), progress)


def _of_batches(digests: Callable[[int], list[bytes]], size: int, progress: Progress | None) -> str:
    """The CID of something with known size, whose batches can be hashed in any order."""
    starts = range(0, size, _BATCH_CHUNKS * CID_CHUNK_BYTES)
    workers = min(_cores(), _MAX_WORKERS) if size >= _THREADED_BYTES else 1
    tree, done = Tree(), 0
    for batch in _in_order(digests, starts, workers):
        for digest in batch:
            length = min(CID_CHUNK_BYTES, size - done)
            tree.add(leaf(digest, length))
            done += length
        if progress:
            progress(done)
    return _text(tree.root().digest)


# --- files --------------------------------------------------------------------------------------------------------


def _of_path(path: os.PathLike[str], progress: Progress | None) -> str:
    with Path(path).open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode) or before.st_size < _THREADED_BYTES:
            # Also files whose size the system does not know, such as those in /proc.
            return _of_stream(file.readinto, progress)
        text = _of_file(file, before.st_size, progress)
        if os.fstat(file.fileno()).st_size != before.st_size:
            raise _changed(path)
        return text


def _of_file(file: Any, size: int, progress: Progress | None) -> str:
    # Read, not mapped: a mapped file that is cut short by somebody else kills the process. A buffer that a thread uses
    # again and again stays in its core's cache, so the copy costs a few percent.
    own, lock = local(), Lock()

    def read_at(buffer: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(file.fileno(), [buffer], offset)
        with lock:  # Windows has one position a file
            file.seek(offset)
            return int(file.readinto(buffer) or 0)

    def digests(start: int) -> list[bytes]:
        if not hasattr(own, "buffer"):
            own.buffer = memoryview(bytearray(_READ_CHUNKS * CID_CHUNK_BYTES))
        found: list[bytes] = []
        end = min(start + _BATCH_CHUNKS * CID_CHUNK_BYTES, size)
        for offset in range(start, end, len(own.buffer)):
            wanted = own.buffer[: end - offset]
            filled = 0
            while filled < len(wanted):
                taken = read_at(wanted[filled:], offset + filled)
                if not taken:
                    raise _changed(file.name)
                filled += taken
            found += [digest for digest, _ in _leaves(wanted)]
        return found

    return _of_batches(digests, size, progress)


def _changed(path: object) -> OSError:
    return OSError(f"{shown(str(path))} changed its size while it was read: wait until nobody writes to it")


# --- streams ------------------------------------------------------------------------------------------------------


def _reader(file: Any) -> Callable[[memoryview], int | None]:
    """What fills a buffer from a binary file."""
    if hasattr(file, "encoding") and hasattr(file, "read"):
        raise TypeError("the file is open in text mode, and a CID is made of bytes: open it with 'rb'")
    if hasattr(file, "readinto"):
        return cast("Callable[[memoryview], int | None]", file.readinto)
    if hasattr(file, "read"):
        return lambda buffer: _read_into(file, buffer)
    raise TypeError(
        f"a source is text, bytes, a pathlib.Path or a file opened in binary mode, not {type(file).__name__}"
        + (": this one knows its CID already, as .cid" if hasattr(file, "cid") else "")
    )


def _read_into(file: Any, buffer: memoryview) -> int | None:
    data = file.read(len(buffer))
    if data is None:
        return None
    if not isinstance(data, bytes):
        raise TypeError(f"the file reads as {type(data).__name__}, and a CID is made of bytes: open it with 'rb'")
    buffer[: len(data)] = data
    return len(data)


def _of_stream(readinto: Callable[[memoryview], int | None], progress: Progress | None) -> str:
    size = _STREAM_CHUNKS * CID_CHUNK_BYTES
    first = memoryview(bytearray(size))
    filled = _fill(readinto, first)
    if filled < size:
        return _of_memory(first[:filled], progress)
    workers = min(_cores(), _MAX_STREAM_WORKERS)

    def batches() -> Iterator[memoryview]:
        # While one batch is filled, at most 2 * workers are with the threads: then the oldest buffer is free again.
        ring = [first, *(memoryview(bytearray(size)) for _ in range(2 * workers))]
        yield first
        for turn in count(1):
            buffer = ring[turn % len(ring)]
            filled = _fill(readinto, buffer)
            if filled:
                yield buffer[:filled]
            if filled < size:
                return

    tree, done = Tree(), 0
    for nodes in _in_order(_leaves, batches(), workers):
        for digest, length in nodes:
            tree.add(leaf(digest, length))
            done += length
        if progress:
            progress(done)
    return _text(tree.root().digest)


def _leaves(batch: memoryview) -> list[tuple[bytes, int]]:
    chunks = [batch[at : at + CID_CHUNK_BYTES] for at in range(0, len(batch), CID_CHUNK_BYTES)]
    return [(leaf_digest(chunk), len(chunk)) for chunk in chunks]


def _fill(readinto: Callable[[memoryview], int | None], buffer: memoryview) -> int:
    filled = 0
    while filled < len(buffer):
        taken = readinto(buffer[filled:])
        if taken is None:
            raise BlockingIOError("the file is in non-blocking mode and has nothing to read: make it blocking")
        if not taken:
            break
        filled += taken
    return filled


# --- threads ------------------------------------------------------------------------------------------------------


def _cores() -> int:
    """Processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _in_order(work: Callable[[_Item], _Result], items: Iterable[_Item], workers: int) -> Iterator[_Result]:
    """Results in the order of the items, with at most two items a worker under way."""
    if workers == 1:
        yield from map(work, items)
        return
    # Loaded here: threads are for large sources, and the module brings logging along.
    from concurrent.futures import ThreadPoolExecutor

    under_way: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="svcnb-cid") as pool:
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                if len(under_way) > 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
