"""Private folder with the state of an emulator. Only one emulator at a time can use the folder."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from svcnb.emulator.errors import StateLocked, StateUnusable
from svcnb.protocol.in_page import IN_PAGE

LOCK: Final = "lock"
DATABASE: Final = "svcnb.db"
FIRST_START: Final = "first_start"
"""Name of a marker file, which exists from the first start until the database identifies the root secret."""


class StateFolder:
    """Locked state folder. The lock lasts until `release` or the end of the process.

    Args:
        path: The folder, created with mode 0700 if it does not exist.

    Raises:
        StateLocked: Another emulator is using the folder.
        StateUnusable: The folder cannot be created or written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(0o700)
            self._lock = os.fdopen(_private(path / LOCK, os.O_RDWR), "r+", encoding="ascii")
            # Create the file here, because SQLite creates files that all users can read, and uses the mode of this
            # file for its other files.
            os.close(_private(path / DATABASE, os.O_RDONLY))
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            _lock(self._lock)
        except OSError:
            self._lock.seek(0)
            owner = self._lock.read(32).strip()
            self._lock.close()
            named = f" (process {owner})" if owner else ""
            raise StateLocked(
                f"the state folder {path} is in use by another emulator{named}: stop that emulator, or use another "
                "folder"
            ) from None
        try:
            self._lock.seek(0)
            self._lock.truncate()
            self._lock.write(f"{os.getpid()}\n")
            self._lock.flush()
        except OSError as error:
            with suppress(OSError):  # the call of close tries to write again
                self._lock.close()
            raise _unusable(path, error) from error

    def begin(self, root_file: str) -> bool:
        """Creates the marker file at the first start. Call this method before you load the root secret.

        Args:
            root_file: Name of the root secret's file.

        Returns:
            Whether an earlier start was complete. If so, the database must not be empty.
        """
        marker = self.path / FIRST_START
        if (self.path / root_file).exists():
            return not marker.exists()
        os.close(_private(marker, os.O_RDONLY))
        return False

    def complete_first_start(self) -> None:
        """Deletes the marker file of the first start. Call this method after `svcnb.emulator.keys.root.bind_root`."""
        (self.path / FIRST_START).unlink(missing_ok=True)

    @property
    def database_url(self) -> str:
        """URL of the database in the folder."""
        return f"sqlite:///{(self.path / DATABASE).absolute()}"

    def release(self) -> None:
        """Releases the lock, so that another emulator can use the folder."""
        self._lock.close()


def _private(path: Path, flags: int) -> int:
    """Opens or creates a file that only its owner can read, and returns its descriptor."""
    descriptor = os.open(path, flags | os.O_CREAT, 0o600)
    if os.name == "posix" and os.fstat(descriptor).st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
    return descriptor


def _unusable(path: Path, error: OSError) -> StateUnusable:
    return StateUnusable(f"the state folder {path} cannot be used ({error.strerror or error}): use a writable folder")


def _lock(file: IO[str]) -> None:
    # The system releases the lock when the process ends, so no clean-up is necessary after a crash.
    if IN_PAGE:
        pass  # `svcnb.page_storage` has a lock for all tabs
    elif sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
