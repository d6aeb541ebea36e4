"""Reader of the front-end bundles in ``static`` folders. ``widgets/build.ts`` compresses large bundles with gzip."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final

_GZIP: Final = 31
"""The ``wbits`` argument that makes zlib read the gzip format."""


def bundle_exists(path: Path) -> bool:
    """Returns whether a bundle exists, compressed or not. Pass the path without ``.gz``."""
    return path.is_file() or _compressed(path).is_file()


def read_bundle(path: Path) -> bytes:
    """Returns the decompressed content of a bundle. Pass the path without ``.gz``."""
    try:
        return zlib.decompress(_compressed(path).read_bytes(), _GZIP)
    except FileNotFoundError:
        return path.read_bytes()


def read_stored(path: Path) -> bytes:
    """Returns the content of a bundle as the package stores it: compressed with gzip if the bundle is large."""
    compressed = _compressed(path)
    return (compressed if compressed.is_file() else path).read_bytes()


def _compressed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")
