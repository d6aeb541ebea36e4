"""Message frames between the service and an isolate, which is a process that runs actions.

Data from an isolate is untrusted.

A frame consists of two little-endian 32-bit numbers, a JSON text and a binary part. The numbers are the lengths of the
text and of the binary part. Frames from an isolate begin with the run's 16-byte secret.
"""

from __future__ import annotations

import hmac
import json
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from svcnb.protocol.limits import MAX_OPERATION_BYTES
from svcnb.protocol.nesting import deeper_than, more_values_than

SECRET_BYTES: Final = 16

_MAX_DEPTH: Final = 8
_MAX_VALUES: Final = 10_000
"""Maximum number of values in one frame, which is enough for 3,000 request headers."""
_LENGTHS = struct.Struct("<II")
_TEXT = json.JSONEncoder(separators=(",", ":")).encode


class BadFrame(Exception):
    """Error for invalid data from an isolate, for example a frame without the secret of the run."""


class Frame(NamedTuple):
    """Message from an isolate.

    Attributes:
        text: Unparsed JSON text.
        blob: Binary part.
    """

    text: bytes
    blob: bytes

    def body(self) -> dict[str, Any]:
        """Returns the parsed JSON text of the frame.

        Raises:
            BadFrame: The text is not a JSON object, is nested too deeply, or contains too many values.
        """
        if more_values_than(self.text, _MAX_VALUES):
            raise BadFrame(f"the frame has more than {_MAX_VALUES} values")
        if deeper_than(self.text, _MAX_DEPTH):
            raise BadFrame(f"the frame has more than {_MAX_DEPTH} levels of nesting")
        try:
            body = json.loads(self.text.decode())
        except ValueError:
            raise BadFrame("the frame is not JSON") from None
        if not isinstance(body, dict):
            raise BadFrame("the frame is not a JSON object")
        return body


def pack(body: dict[str, Any], blob: bytes = b"") -> bytes:
    """Returns the bytes of a frame for an isolate."""
    return pack_head(body, len(blob)) + blob


def pack_head(body: dict[str, Any], blob_bytes: int) -> bytes:
    """Returns the beginning of a frame for an isolate. The caller must then write the binary part.

    Args:
        body: Object to encode as the JSON text.
        blob_bytes: Length of the binary part, in bytes.
    """
    text = _TEXT(body).encode()
    return _LENGTHS.pack(len(text), blob_bytes) + text


class FrameReader:
    """Parser that splits the output of one isolate into frames.

    Args:
        secret: Secret of the run, 16 bytes. Each frame must start with these bytes.
        max_blob_bytes: Maximum length of a frame's binary part in this run, in bytes.
    """

    def __init__(self, secret: bytes, max_blob_bytes: int) -> None:
        self._secret = secret
        self._max_blob_bytes = max_blob_bytes
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """Adds received bytes, which `frames` then parses."""
        self._buffer += data

    def frames(self) -> Iterator[Frame]:
        """Yields all complete frames. The caller can stop early and continue later.

        Raises:
            BadFrame: The secret is wrong, or a length exceeds its limit.
        """
        buffer = self._buffer
        header = SECRET_BYTES + _LENGTHS.size
        while len(buffer) >= header:
            if not hmac.compare_digest(bytes(buffer[:SECRET_BYTES]), self._secret):
                raise BadFrame("the frame does not start with the secret of this run")
            json_length, blob_length = _LENGTHS.unpack_from(buffer, SECRET_BYTES)
            if json_length > MAX_OPERATION_BYTES or blob_length > self._max_blob_bytes:
                raise BadFrame(
                    f"the frame is too long: {json_length} bytes of JSON (at most {MAX_OPERATION_BYTES}) and "
                    f"{blob_length} bytes of binary data (at most {self._max_blob_bytes})"
                )
            total = header + json_length + blob_length
            if len(buffer) < total:
                return
            with memoryview(buffer) as view:
                frame = Frame(bytes(view[header : header + json_length]), bytes(view[header + json_length : total]))
            del buffer[:total]
            yield frame
