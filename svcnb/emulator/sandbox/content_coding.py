"""Streaming decompression of responses to actions' requests, so that a small body cannot use gigabytes of memory.

httpx does not limit this memory. It decompresses all received bytes in one step, and 64 KiB of gzip data can contain
64 MiB of text.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from typing import Final

ACCEPTED: Final = "gzip, deflate"
"""Value of ``Accept-Encoding``: the codings that `decoded` supports."""

PIECE_BYTES: Final = 64 * 1024
_TURN_PIECES: Final = 16
"""Number of parts that `decoded` yields before it pauses, so that other tasks of the event loop can run."""
_DECODED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP: Final = zlib.MAX_WBITS | 16
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZLIB_METHOD: Final = 8
_ZLIB_CHECK: Final = 31


class BadCoding(ValueError):
    """Error for a body that does not match its ``Content-Encoding`` header, or whose coding is ``br``."""


def is_decoded(coding: str) -> bool:
    """Returns whether `decoded` decompresses a body with a content coding: gzip or deflate.

    `decoded` rejects ``br``, and does not change a body with any other coding.

    Args:
        coding: Value of the ``Content-Encoding`` header.
    """
    return coding.strip().lower() in _DECODED


async def decoded(raw: AsyncIterable[bytes], coding: str) -> AsyncIterator[bytes]:
    """Removes the content coding of a body (RFC 9110, section 8.4) and yields the body in parts.

    Decompressed parts have at most `PIECE_BYTES` bytes. Without a coding, or with a coding other than gzip, deflate
    and br, the parts stay unchanged.

    Args:
        raw: Body in the parts in which it arrives.
        coding: Value of the ``Content-Encoding`` header.

    Raises:
        BadCoding: The body cannot be decompressed, or its coding is ``br``.
    """
    name = coding.strip().lower()
    decoder = _Decoder(name) if is_decoded(name) else None
    pieces = 0
    async for chunk in raw:
        if name == "br":  # the fetch function of Deno decodes br, so the action expects the decoded body
            raise BadCoding(
                "the server sent a body with the content coding br, which the emulator does not support. Request the "
                f"data from a server that respects the header Accept-Encoding: {ACCEPTED}."
            )
        if decoder is None:
            yield chunk
            continue
        for piece in decoder.pieces(chunk):
            yield piece
            pieces += 1
            if pieces % _TURN_PIECES == 0:
                await asyncio.sleep(0)


class _Decoder:
    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder: zlib._Decompress | None = None
        self._members = 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data or self._decoder is not None:
            if self._decoder is None:
                # Another gzip member can follow (RFC 1952). Ignore other bytes after the end.
                if self._members and not (self._name != "deflate" and data.startswith(_GZIP_MAGIC[: len(data)])):
                    return
                self._decoder = zlib.decompressobj(self._window(data))
            try:
                piece = self._decoder.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise BadCoding(
                    f"the response body is not {self._name} data, but the header Content-Encoding is {self._name}: "
                    "correct the server, or request the data from another server"
                ) from None
            if piece:
                yield piece
            if self._decoder.eof:
                data, self._decoder = self._decoder.unused_data, None
                self._members += 1
            else:
                data = self._decoder.unconsumed_tail
                if not data and len(piece) < PIECE_BYTES:
                    return

    def _window(self, head: bytes) -> int:
        if self._name != "deflate":
            return _GZIP
        # Some servers send deflate data without the zlib header. RFC 1950 defines the two bytes of that header.
        framed = head[0] & 15 == _ZLIB_METHOD and (len(head) < 2 or int.from_bytes(head[:2], "big") % _ZLIB_CHECK == 0)  # noqa: PLR2004
        return zlib.MAX_WBITS if framed else -zlib.MAX_WBITS
