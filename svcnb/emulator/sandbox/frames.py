"""Frames between the service and an isolate. What comes from an isolate may be anything.

A frame is two little-endian numbers of 32 bits (length of the JSON text, length of the bytes behind it), the text and
the bytes. Frames of an isolate begin with the run's secret of 16 bytes.
"""

from __future__ import annotations

import hmac
import json
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from svcnb.protocol.nesting import deeper_than, more_values_than

SECRET_BYTES: Final = 16
MAX_JSON_BYTES: Final = 4 * 1024 * 1024
"""Longest JSON text of a frame. The engine refuses a call that is longer before it sends it."""

_MAX_DEPTH: Final = 8
_MAX_VALUES: Final = 10_000
"""Most values in one frame: enough for 3,000 request headers."""
_LENGTHS = struct.Struct("<II")
_TEXT = json.JSONEncoder(separators=(",", ":")).encode


class BadFrame(Exception):
    """An isolate sent something that is no frame of its bootstrap."""


class Frame(NamedTuple):
    """One message of an isolate.

    Attributes:
        text: JSON text, not parsed yet.
        blob: Bytes that came with it.
    """

    text: bytes
    blob: bytes

    def body(self) -> dict[str, Any]:
        """Parses the text.

        Raises:
            BadFrame: It is not a JSON object, nests too deep, or holds too many values.
        """
        if more_values_than(self.text, _MAX_VALUES) or deeper_than(self.text, _MAX_DEPTH):
            raise BadFrame("a frame that nests too deep or holds too many values")
        try:
            body = json.loads(self.text.decode())
        except ValueError:
            raise BadFrame("a frame that holds no JSON") from None
        if not isinstance(body, dict):
            raise BadFrame("a frame that is no JSON object")
        return body


def pack(body: dict[str, Any], blob: bytes = b"") -> bytes:
    """A frame towards an isolate."""
    return pack_head(body, len(blob)) + blob


def pack_head(body: dict[str, Any], blob_bytes: int) -> bytes:
    """A frame towards an isolate without its bytes, which the caller writes right behind it.

    Args:
        body: Becomes the JSON text.
        blob_bytes: How many bytes follow.
    """
    text = _TEXT(body).encode()
    return _LENGTHS.pack(len(text), blob_bytes) + text


class FrameReader:
    """Cuts the bytes of one isolate into frames.

    Args:
        secret: What each frame has to begin with.
        max_blob_bytes: Largest blob that any frame of this run may carry.
    """

    def __init__(self, secret: bytes, max_blob_bytes: int) -> None:
        self._secret = secret
        self._max_blob_bytes = max_blob_bytes
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """Takes bytes in, which `frames` looks at."""
        self._buffer += data

    def frames(self) -> Iterator[Frame]:
        """Gives whole frames out. The caller may stop early and ask again.

        Raises:
            BadFrame: Wrong secret, or impossible lengths.
        """
        buffer = self._buffer
        header = SECRET_BYTES + _LENGTHS.size
        while len(buffer) >= header:
            if not hmac.compare_digest(bytes(buffer[:SECRET_BYTES]), self._secret):
                raise BadFrame("bytes that the bootstrap did not send")
            json_length, blob_length = _LENGTHS.unpack_from(buffer, SECRET_BYTES)
            if json_length > MAX_JSON_BYTES or blob_length > self._max_blob_bytes:
                raise BadFrame(f"a frame of {json_length} and {blob_length} bytes")
            total = header + json_length + blob_length
            if len(buffer) < total:
                return
            with memoryview(buffer) as view:
                frame = Frame(bytes(view[header : header + json_length]), bytes(view[header + json_length : total]))
            del buffer[:total]
            yield frame
