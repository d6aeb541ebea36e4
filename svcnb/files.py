"""Atomic file writes, and bounded reads of regular files.

A written file is always complete, even if the process ends during a write.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MAX_TEXT_FILE_BYTES: Final = 1024 * 1024
"""Maximum size of a file with settings, a key or a token, in bytes."""
MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Maximum size of any other file that a command or a function reads into memory, in bytes."""


_CHUNK_BYTES: Final = 64 * 1024


def read_file(path: str | os.PathLike[str], limit: int | None = MAX_FILE_BYTES) -> bytes:
    """Reads a regular file, and returns its content.

    Args:
        path: Path of the file. The null device counts as an empty file.
        limit: Maximum size of the file in bytes. None means no limit.

    Raises:
        OSError: The file cannot be read, has more than ``limit`` bytes, or is not a regular file.
    """
    if os.fspath(path) == os.devnull:
        return b""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "the file is a pipe or a device, not a regular file", os.fspath(path))
        if limit is not None and about.st_size > limit:
            raise _too_large(path, about.st_size, limit)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(about.st_size)
            while more := file.read(_CHUNK_BYTES):  # the file has grown, or is in /proc, where the stated size is 0
                content += more
                if limit is not None and len(content) > limit:
                    raise _too_large(path, len(content), limit)
        return content
    finally:
        os.close(descriptor)


def _too_large(path: str | os.PathLike[str], size: int, limit: int) -> OSError:
    text = f"the file has {size:,} bytes, but at most {limit:,} are allowed"
    return OSError(errno.EFBIG, text, os.fspath(path))


def read_text(path: str | os.PathLike[str], limit: int | None = MAX_FILE_BYTES) -> str:
    """Reads a regular UTF-8 text file, with the same checks as `read_file`, and returns its text.

    Line endings stay unchanged.
    """
    return read_file(path, limit).decode("utf-8")


def replace_file(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Writes a file atomically. After a crash, the file contains either the old or the new content.

    The function writes text as UTF-8, without a conversion of line endings. By default, only the owner can read the
    file.
    """
    with _draft(path, content) as draft:
        draft.chmod(mode)
        draft.replace(path)
    _save_name(path)


def create_file(path: Path, content: bytes) -> None:
    """Creates a file that only its owner can read. If the file already exists, the function has no effect.

    If several processes create the file at the same time, the file contains the content of the first process.
    """
    with _draft(path, content) as draft, suppress(FileExistsError):
        if sys.platform != "emscripten":
            os.link(draft, path)  # unlike a rename, a link never replaces a file
        elif not path.exists():  # a browser page has only one process, and its file system does not support links
            draft.replace(path)
    _save_name(path)


@contextmanager
def _draft(path: Path, content: str | bytes) -> Iterator[Path]:
    """Yields a temporary file with the content, in the folder of the target file. Then deletes the temporary file."""
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
    """Writes the folder's list of files to the disk. Otherwise, a power failure can lose the new file name."""
    if os.name != "posix":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
