"""Converter to compact PNG images with a palette. The renderer's images have four bytes per pixel."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_BEST: Final = 9
_COLOURS: Final = 256
_RGBA: Final = (8, 6, 0, 0, 0)
_PALETTE: Final = (8, 3, 0, 0, 0)
_FILTERS: Final = {0, 1}
_OPAQUE: Final = 255


def compact(png: bytes) -> bytes:
    """Returns an image with a palette of at most 256 colours, which reduces its size to about a twentieth.

    Most charts have fewer colours. If a chart has more colours, the function replaces the rarest colours, which are
    shades at the edges of letters, with the nearest frequent colours.

    Args:
        png: PNG image from the renderer: opaque, with 8 bits each for red, green, blue and alpha. The function returns
            other images unchanged.
    """
    import numpy as np
    import pandas as pd

    head = next(content for name, content in chunks(png) if name == b"IHDR")
    width, height, *form = struct.unpack(">IIBBBBB", head)
    if tuple(form) != _RGBA:
        return png
    data = zlib.decompress(b"".join(content for name, content in chunks(png) if name == b"IDAT"))
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + 4 * width)
    if not set(rows[:, 0].tolist()) <= _FILTERS:
        return png
    pixels = rows[:, 1:].reshape(height, width, 4).copy()
    differences = rows[:, 0] == 1
    pixels[differences] = np.cumsum(pixels[differences], axis=1, dtype=np.uint8)
    if not (pixels[..., 3] == _OPAQUE).all():
        return png
    places, colours = pd.factorize(pixels.view(np.uint32).ravel())
    shades = np.asarray(colours).view(np.uint8).reshape(-1, 4)[:, :3]
    palette, nearest = _palette(shades, np.bincount(places))
    body = np.zeros((height, 1 + width), np.uint8)
    body[:, 1:] = nearest[places].reshape(height, width)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, *_PALETTE)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(body.tobytes(), _BEST)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def _palette(shades: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the most frequent colours, and for each colour the index of the nearest frequent colour."""
    import numpy as np

    kept = shades[np.argsort(-counts, kind="stable")[:_COLOURS]]
    apart = (shades[:, None, :].astype(np.int32) - kept[None, :, :]) ** 2
    return kept, apart.sum(axis=-1).argmin(axis=1).astype(np.uint8)


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the name and content of each chunk of a PNG image."""
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
