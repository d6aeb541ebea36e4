"""Frames between the service and an isolate. The data of an isolate is untrusted.

A frame consists of two little-endian numbers of 32 bits, the JSON text and the bytes. The numbers are the length of the
text and the length of the bytes. Frames of an isolate begin with the run's secret of 16 bytes.
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
"""Maximum length of a frame's JSON text. The engine refuses a longer call before it sends it."""

_MAX_DEPTH: Final = 8
_MAX_VALUES: Final = 10_000
"""Maximum of values in one frame: enough for 3,000 request headers."""
_LENGTHS = struct.Struct("<II")
_TEXT = json.JSONEncoder(separators=(",", ":")).encode


class BadFrame(Exception):
    """An isolate sent data that is not a frame of its bootstrap."""


class Frame(NamedTuple):
    """One message of an isolate.

    Attributes:
        text: JSON text, not parsed yet.
        blob: The bytes after the text.
    """

    text: bytes
    blob: bytes

    def body(self) -> dict[str, Any]:
        """Parses the text.

        Raises:
            BadFrame: It is not a JSON object, nests too deeply, or contains too many values.
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
    """Encodes a frame for an isolate."""
    return pack_head(body, len(blob)) + blob


def pack_head(body: dict[str, Any], blob_bytes: int) -> bytes:
    """Encodes a frame for an isolate without its bytes, which the caller writes directly after it.

    Args:
        body: The content of the JSON text.
        blob_bytes: How many bytes follow.
    """
    text = _TEXT(body).encode()
    return _LENGTHS.pack(len(text), blob_bytes) + text


class FrameReader:
    """Splits the bytes of one isolate into frames.

    Args:
        secret: The bytes with which each frame must begin.
        max_blob_bytes: Largest blob that any frame of this run may carry.
    """

    def __init__(self, secret: bytes, max_blob_bytes: int) -> None:
        self._secret = secret
        self._max_blob_bytes = max_blob_bytes
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """Adds received bytes, which `frames` then reads."""
        self._buffer += data

    def frames(self) -> Iterator[Frame]:
        """Yields complete frames. The caller may stop early and continue later.

        Raises:
            BadFrame: The secret is wrong, or the lengths are impossible.
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
