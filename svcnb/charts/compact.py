"""Converts the renderer's PNG images to smaller PNG images.

The renderer uses four bytes per pixel. The smaller images use a palette.
"""

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
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
_OPAQUE: Final = 255


def compact(png: bytes) -> bytes:
    """Returns an image with a palette of at most 256 colours. The palette reduces the size of the image by about half.

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
    pixels = _unfiltered(np.frombuffer(data, np.uint8).reshape(height, 1 + 4 * width))
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


def _unfiltered(rows: NDArray[Any]) -> NDArray[Any]:
    """Returns the pixels of an image with four bytes per pixel. The first byte of each row is the filter of the row.

    A pixel depends on the pixels to the left, above, and to the left above. All pixels of a diagonal are therefore
    independent of each other, and the function decodes a diagonal in one step.

    Source: Portable Network Graphics (PNG) Specification (Third Edition), section 9.
    """
    import numpy as np

    height, width = len(rows), len(rows[0]) // 4
    filters = np.repeat(rows[:, 0], 4)
    average = filters == _AVERAGE
    # Paeth with one neighbour and two zeros returns the neighbour. The filters None, Sub and Up are therefore the
    # filter Paeth with masks.
    masks = [
        np.where(np.isin(filters, kinds), -1, 0).astype(np.int16)
        for kinds in ((_SUB, _AVERAGE, _PAETH), (_UP, _AVERAGE, _PAETH), (_PAETH,))
    ]
    # The row of this array is the diagonal and the column is the row of the image. The borders stay zero.
    skewed = np.zeros((height + width + 1, 4 * (height + 1)), np.int16)
    across, item = skewed.strides
    pixels = np.lib.stride_tricks.as_strided(skewed[2:, 4:], (height, width, 4), (across + 4 * item, across, item))
    pixels[...] = rows[:, 1:].reshape(height, width, 4)
    for at in range(height + width - 1):
        low, high = 4 * max(0, at - width + 1), 4 * min(height, at + 1)
        here = slice(low, high)
        left = skewed[at + 1, low + 4 : high + 4] & masks[0][here]
        above = skewed[at + 1, here] & masks[1][here]
        corner = skewed[at, here] & masks[2][here]
        rise, run = above - corner, left - corner
        to_left, to_above, to_corner = np.abs(rise), np.abs(run), np.abs(rise + run)
        nearest = np.where(to_above <= to_corner, above, corner)
        predicted = np.where(to_left <= np.minimum(to_above, to_corner), left, nearest)
        if average[here].any():
            predicted = np.where(average[here], (left + above) >> 1, predicted)
        decoded = skewed[at + 2, low + 4 : high + 4]
        decoded += predicted
        decoded &= 255
    return pixels.astype(np.uint8)


def _palette(shades: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the palette, and the index in the palette for each colour of the image.

    The palette contains the most frequent colours. The index of any other colour is that of the nearest palette colour.
    """
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
