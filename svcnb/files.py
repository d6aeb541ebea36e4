"""Atomic file writes. A file is always complete, even if the process ends during a write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def replace_file(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Writes a file atomically. After a crash, the file contains either the old or the new content.

    Args:
        path: Path of the file.
        content: New content. The function writes text as UTF-8, without a conversion of line endings.
        mode: File permissions. By default, only the owner can read the file.

    Raises:
        OSError: The file cannot be written.
    """
    with _draft(path, content) as draft:
        draft.chmod(mode)
        draft.replace(path)
    _save_name(path)


def create_file(path: Path, content: bytes) -> None:
    """Creates a file that only its owner can read. The function does not change an existing file.

    If several processes create the file at the same time, the content of the first one remains.

    Args:
        path: Path of the file.
        content: Content of the new file.

    Raises:
        OSError: The file cannot be written.
    """
    with _draft(path, content) as draft, suppress(FileExistsError):
        if sys.platform != "emscripten":
            os.link(draft, path)  # unlike a rename, a link never replaces a file
        elif not path.exists():  # a browser page has only one process, and its file system does not support links
            draft.replace(path)
    _save_name(path)


@contextmanager
def _draft(path: Path, content: str | bytes) -> Iterator[Path]:
    """Yields a complete temporary file in the folder of a file, and deletes it afterwards if it still exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.partial")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _save_name(path: Path) -> None:
    """Writes the folder to the disk, because a power failure could otherwise lose the new file name."""
    if os.name != "posix":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
