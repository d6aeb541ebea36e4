"""Folder with an emulator's state. It is private, and used by one emulator at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Final

from svcnb.emulator.errors import StateLocked, StateUnusable

LOCK: Final = "lock"
DATABASE: Final = "svcnb.db"
FIRST_START: Final = "first_start"
"""File that exists from the beginning of the first start until the database belongs to the root secret."""


class StateFolder:
    """Lock of a state folder until `release`, or until the end of the process for any reason.

    Args:
        path: The folder; created with mode 0700 when missing.

    Raises:
        StateLocked: Another emulator uses it.
        StateUnusable: It cannot be created or written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(0o700)
            self._lock = os.fdopen(_private(path / LOCK, os.O_RDWR), "r+", encoding="ascii")
            # Created here. SQLite would create the first file readable for all users, and give the others the same
            # mode.
            os.close(_private(path / DATABASE, os.O_RDONLY))
        except OSError as error:
            raise StateUnusable(
                f"the state folder {path} cannot be used ({error.strerror or error}): "
                "give one that this user may write to"
            ) from error
        try:
            _lock(self._lock)
        except OSError:
            self._lock.seek(0)
            owner = self._lock.read(32).strip()
            self._lock.close()
            named = f" (process {owner})" if owner else ""
            raise StateLocked(
                f"the state folder {path} is in use by another emulator{named}: stop it, or "
                "give this one a folder of its own"
            ) from None
        self._lock.seek(0)
        self._lock.truncate()
        self._lock.write(f"{os.getpid()}\n")
        self._lock.flush()

    def begin(self, root_file: str) -> bool:
        """Called before the root secret is loaded.

        Args:
            root_file: Name of the root secret's file.

        Returns:
            Whether an earlier start was completed, so that the database must have content.
        """
        marker = self.path / FIRST_START
        if (self.path / root_file).exists():
            return not marker.exists()
        os.close(_private(marker, os.O_RDONLY))
        return False

    def complete_first_start(self) -> None:
        """Called once the database belongs to the root secret."""
        (self.path / FIRST_START).unlink(missing_ok=True)

    @property
    def database_url(self) -> str:
        """URL of the database in the folder."""
        return f"sqlite:///{(self.path / DATABASE).absolute()}"

    def release(self) -> None:
        """Releases the folder for another emulator."""
        self._lock.close()


def _private(path: Path, flags: int) -> int:
    """A descriptor of a file that only its owner can read, created when missing."""
    descriptor = os.open(path, flags | os.O_CREAT, 0o600)
    if os.name == "posix" and os.fstat(descriptor).st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
    return descriptor


def _lock(file: IO[str]) -> None:
    # The system drops the lock when the process ends, so a crash leaves nothing to clean up.
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
