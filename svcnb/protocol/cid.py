"""Computation of an action's CID from its bytes.

The function `cid` is the public entry point, and accepts text, bytes, paths and files. The function `source_cid`
computes the CID of any text, as the service does. The class `CidHasher` accepts a source in parts.

Source: docs/service/keys.md#content-identifiers.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Final, Protocol

from svcnb.errors import InvalidType
from svcnb.protocol import source_digest
from svcnb.protocol.cid_text import ParsedCid, base58, is_cid, is_cid_v0, parse_cid, to_v0, to_v1
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.limits import CID_CHUNK_BYTES
from svcnb.protocol.source_digest import Progress
from svcnb.protocol.unixfs import Bytes, Tree, leaf, leaves

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


class BinaryFile(Protocol):
    """Interface of a binary reader, such as an open file, a pipe or a response body."""

    def read(self, size: int, /) -> bytes | None:
        """Returns at most ``size`` bytes. Returns empty bytes at the end, and None if no data has arrived yet."""


_MULTIHASH: Final = b"\x12\x20"  # sha2-256, 32 bytes
_CACHED_CHARACTERS: Final = 8_192
_CACHED_SOURCES: Final = 256
_PATH_CHARACTERS: Final = 4_096
_FILE_ENDINGS: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_NEVER_IN_PATHS: Final = re.compile(r"[\n\r(){};=]")


def cid(source: str | Bytes | os.PathLike[str] | BinaryFile, *, progress: Progress | None = None) -> str:
    """Returns the CIDv0 of a source. The function computes the CID locally, without a request.

    Args:
        source: The source: text, bytes, the `pathlib.Path` of a file, or an open binary file. For text, the function
            hashes the exact UTF-8 bytes. The function reads an open file from its current position to its end.
        progress: Function to call with the number of bytes hashed so far, for large sources.

    Returns:
        46 characters that start with ``Qm``.

    Raises:
        InvalidType: The source has another type, or is a file opened in text mode.
        MalformedValue: The text is the name of a JavaScript file, or contains half a surrogate pair, which UTF-8 cannot
            encode.
        OSError: The file cannot be read, or its content changed during the read.

    Example:
        >>> cid("hello")
        'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX'
    """
    if isinstance(source, str):
        if len(source) <= _PATH_CHARACTERS and _looks_like_a_path(source.strip()):
            raise MalformedValue(
                f"{shown(source)} looks like a file name, but a string must be the source itself",
                hint=f"To hash the file, call svcnb.cid(pathlib.Path({shown(source)})).",
            )
        return source_cid(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _text(source_digest.of_memory(_flat(source), progress))
    if isinstance(source, os.PathLike):
        return _text(source_digest.of_path(source, progress))
    return _text(source_digest.of_stream(source_digest.reader(source), progress))


def _looks_like_a_path(text: str) -> bool:
    # This check rejects no valid action. A file name contains no brackets and no assignment, so it cannot define
    # `main`.
    return text.endswith(_FILE_ENDINGS) and not _NEVER_IN_PATHS.search(text)


def source_cid(source: str) -> str:
    """Returns the CIDv0 of any text, as the service does. The function never treats the text as a path.

    Args:
        source: Source text. The function hashes its UTF-8 bytes.

    Raises:
        MalformedValue: The text contains half a surrogate pair, which UTF-8 cannot encode.
    """
    if len(source) <= _CACHED_CHARACTERS:
        return _of_short_text(source)
    return _text(source_digest.of_memory(memoryview(encode_source(source)), None))


def encode_source(source: str) -> bytes:
    """Returns a source text as UTF-8 bytes.

    Raises:
        MalformedValue: The text contains half a surrogate pair.
    """
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        raise MalformedValue(
            f"the source cannot be encoded as UTF-8: character {error.start} is an unpaired surrogate",
            hint="Read the file as UTF-8, or pass its bytes.",
        ) from None


@lru_cache(maxsize=_CACHED_SOURCES)
def _of_short_text(source: str) -> str:
    # The cached sources have at most 32 KiB, so each one is a single leaf.
    digest, _, _ = leaf(encode_source(source))
    return _text(digest)


def _text(root_digest: bytes) -> str:
    return base58(_MULTIHASH + root_digest)


class CidHasher:
    """Incremental CID computation with the interface of `hashlib`.

    Args:
        data: First part of the source.

    Example:
        >>> hasher = CidHasher(b"hel")
        >>> hasher.update(b"lo")
        >>> hasher.cid()
        'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX'
    """

    __slots__ = ("_rest", "_tree", "size")

    size: int
    """Number of bytes added so far."""

    def __init__(self, data: Bytes = b"") -> None:
        self._tree = Tree()
        # A leaf begins with its own length, so the hasher buffers a chunk until it is full or is the last one.
        self._rest = bytearray()
        self.size = 0
        self.update(data)

    def update(self, data: Bytes) -> None:
        """Adds the next part, of any length.

        Raises:
            InvalidType: The data is not bytes.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InvalidType(
                f"expected bytes, got {type(data).__name__}: encode strings first, for example with text.encode()"
            )
        view = _flat(data)
        self.size += len(view)
        if self._rest:
            taken = CID_CHUNK_BYTES - len(self._rest)
            self._rest += view[:taken]
            view = view[taken:]
            if len(self._rest) < CID_CHUNK_BYTES:
                return
            self._tree.add([leaf(self._rest)])
            self._rest = bytearray()
        whole = len(view) - len(view) % CID_CHUNK_BYTES
        self._tree.add(leaves(view[:whole]))
        self._rest += view[whole:]

    def digest(self) -> bytes:
        """Returns the 32-byte SHA-256 of the root block over all bytes added so far.

        Callers can add more data afterwards.
        """
        tree = self._tree
        if self._rest or not self.size:
            tree = tree.copy()
            tree.add([leaf(self._rest)])
        return tree.digest()

    def cid(self) -> str:
        """Returns the CIDv0 of all bytes added so far. Callers can add more data afterwards."""
        return _text(self.digest())

    def copy(self) -> CidHasher:
        """Returns an independent copy of the hasher."""
        twin = CidHasher()
        twin._tree, twin._rest, twin.size = self._tree.copy(), bytearray(self._rest), self.size
        return twin

    def __repr__(self) -> str:
        return f"CidHasher(size={self.size})"


def _flat(data: Bytes) -> memoryview:
    view = memoryview(data)
    if view.ndim == 1 and view.itemsize == 1 and view.c_contiguous:
        return view
    try:
        return view.cast("B")
    except TypeError:
        raise InvalidType("the memoryview is not contiguous: pass bytes(view)") from None
