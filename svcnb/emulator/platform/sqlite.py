"""Connection to an SQLite database, in a file or in memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from svcnb.emulator.platform.database import SQLITE, Connection
from svcnb.protocol.in_page import IN_PAGE

_BUSY_S: Final = 10.0


class SqliteConnection(Connection):
    """Connection to an SQLite database, in a file or in memory.

    Args:
        path: The file, which the class creates if it does not exist. None means a database in memory.

    Raises:
        DatabaseError: The database cannot be opened.
    """

    kind = SQLITE
    _driver_errors = sqlite3

    def __init__(self, path: str | None) -> None:
        self._open = True
        if path is not None:
            _create_private(path)
        try:
            # The driver must not begin transactions itself, because savepoints would then commit early.
            self._driver = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._told(error) from error
        try:
            if path is not None and IN_PAGE:  # a page has its files in memory, and copies them to its storage together
                self._execute("PRAGMA journal_mode=MEMORY", {})
            elif path is not None:
                self._execute("PRAGMA journal_mode=WAL", {})
                # With FULL, an acknowledged write survives a power failure, not only the end of the process.
                self._execute("PRAGMA synchronous=FULL", {})
            self._execute("PRAGMA foreign_keys=ON", {})
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """See `Connection`."""
        return not self._open

    def close(self) -> None:
        """See `Connection`."""
        self._open = False
        with suppress(sqlite3.Error):
            self._driver.close()

    def copy_to(self, path: Path) -> None:
        """See `Connection`."""
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.partial")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        self._execute("VACUUM INTO :path", {"path": str(draft)})  # this includes data in the write-ahead log
        draft.replace(path)

    def has_table(self, name: str) -> bool:
        """See `Connection`."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))

    def _execute(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        try:
            return self._driver.execute(statement, values)
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _begin(self) -> None:
        self._execute("BEGIN IMMEDIATE", {})

    def _roll_back(self) -> None:
        # After some errors, such as a full disk, SQLite has already rolled back.
        if self._driver.in_transaction:
            self._execute("ROLLBACK", {})


def _create_private(path: str) -> None:
    """Creates a database file that only its owner can read. SQLite creates the log and the index with the same mode."""
    with suppress(OSError):  # the file exists, or SQLite will report the problem
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
