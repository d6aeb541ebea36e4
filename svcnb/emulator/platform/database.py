"""Database connection for plain SQL that both SQLite and PostgreSQL support, and its implementation for SQLite.

Statements have named parameters (``:name``). Rows are tuples, or dictionaries by column name. Driver errors become
`DatabaseError`. The emulator does not use a database toolkit, because a toolkit takes longer to load than all modules
of the emulator.
"""

from __future__ import annotations

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

from svcnb.protocol.in_page import IN_PAGE

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
_BUSY_S: Final = 10.0

Row: TypeAlias = tuple[Any, ...]


class DatabaseError(Exception):
    """Error of a database driver, with the first line of the driver's message.

    The class omits the other lines, because they can contain data of a row.

    Args:
        cause: The driver's exception.
        lost: Whether the connection is lost.
        final: Whether the statement itself is the cause, so that a retry also fails.
    """

    def __init__(self, cause: Exception, *, lost: bool, final: bool) -> None:
        super().__init__((str(cause).splitlines() or [type(cause).__name__])[0])
        self.lost = lost
        self.final = final


class ConstraintBroken(DatabaseError):
    """Error for a row that violates a constraint of its table. The cause is a defect in the code."""


class InvalidDatabaseUrl(ValueError):
    """Error for an unparseable database URL. The message does not repeat the URL, because it can contain a password."""


class DriverMissing(Exception):
    """Error for a database whose driver is not installed."""


class Connection(ABC):
    """Database connection for one thread at a time. Run statements inside `transaction`.

    Attributes:
        kind: `SQLITE` or `POSTGRESQL`.
    """

    kind: ClassVar[str]
    _driver_errors: Any
    """Module with the driver's exceptions. Both drivers use the exception names of PEP 249."""
    _depth = 0
    """Number of open savepoints."""

    # --- statements ---------------------------------------------------------------------------------------------

    def rows(self, statement: str, /, **values: Any) -> list[Row]:
        """Runs a statement, and returns all rows of the result.

        Args:
            statement: SQL with named parameters such as ``:name``.
            **values: Parameter values by name: str, int, float, bytes, bool or None.

        Raises:
            DatabaseError: The driver raised an error.
        """
        cursor = self._execute(statement, values)
        return self._all(cursor)

    def records(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        """Runs a statement, and returns all rows as dictionaries by column name."""
        cursor = self._execute(statement, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in self._all(cursor)]

    def record(self, statement: str, /, **values: Any) -> dict[str, Any] | None:
        """Runs a statement, and returns the first row as a dictionary, or None if there are no rows."""
        found = self.records(statement, **values)
        return found[0] if found else None

    def column(self, statement: str, /, **values: Any) -> list[Any]:
        """Runs a statement, and returns the first value of each row."""
        return [row[0] for row in self.rows(statement, **values)]

    def value(self, statement: str, /, **values: Any) -> Any:
        """Runs a statement, and returns the first value of the first row, or None if there are no rows."""
        found = self.rows(statement, **values)
        return found[0][0] if found else None

    def names(self, statement: str, /, **values: Any) -> list[str]:
        """Runs a statement, and returns the column names of the result."""
        return [column[0] for column in self._execute(statement, values).description]

    def run(self, statement: str, /, **values: Any) -> int:
        """Runs a statement and returns the number of changed rows."""
        return int(self._execute(statement, values).rowcount)

    def each(self, statement: str, many: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Runs a statement once for each set of values.

        Returns:
            The rows of all results, or an empty list if the statement returns no rows.
        """
        answered: list[Row] = []
        for values in many:
            cursor = self._execute(statement, values)
            if cursor.description is not None:
                answered += self._all(cursor)
        return answered

    def insert(self, table: str, /, **values: Any) -> None:
        """Inserts a row.

        Args:
            table: Name of the table.
            **values: Values of the row, by column name.
        """
        self._execute(inserting(table, values), values)

    # --- transactions -------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits the statements of its ``with`` block, or rolls them back if the block raises an exception."""
        self._begin()
        try:
            yield
            self._execute("COMMIT", {})
        except BaseException:
            with suppress(DatabaseError):  # the caller receives the first error, which is more important
                self._roll_back()
            raise

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Rolls back the statements of its ``with`` block if the block raises an exception.

        Use a savepoint only inside `transaction`.
        """
        self._depth += 1
        name = f"inner_{self._depth}"
        try:
            self._execute(f"SAVEPOINT {name}", {})
            try:
                yield
            except BaseException:
                with suppress(DatabaseError):
                    self._execute(f"ROLLBACK TO SAVEPOINT {name}", {})
                    self._execute(f"RELEASE SAVEPOINT {name}", {})
                raise
            self._execute(f"RELEASE SAVEPOINT {name}", {})
        finally:
            self._depth -= 1

    # --- differences between databases --------------------------------------------------------------------------

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether the connection is unusable."""

    @abstractmethod
    def close(self) -> None:
        """Closes the connection. Repeated calls have no effect."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Returns whether a table with this name exists."""

    @cached_property
    def session(self) -> str | None:
        """Unique name of this connection, which the database never reuses, or None for SQLite."""
        return None

    def has_session(self, name: str) -> bool:  # noqa: ARG002 - subclasses use the argument
        """Returns whether the connection whose `session` is ``name`` is still open. Always False for SQLite."""
        return False

    def copy_to(self, path: Path) -> None:
        """Copies the database to a new file that only its owner can read. Has no effect if the file exists.

        Raises:
            DatabaseError: The database cannot be copied.
            NotImplementedError: The database is not SQLite.
        """
        raise NotImplementedError

    def escaped(self, text: str | None) -> str | None:
        """Returns a user's string, escaped for storage, because PostgreSQL cannot store NUL."""
        return text

    def unescaped(self, text: str | None) -> str | None:
        """Returns the original string from a result of `escaped`."""
        return text

    @abstractmethod
    def _execute(self, statement: str, values: Mapping[str, Any]) -> Any:
        """Runs a statement and returns the driver's cursor."""

    def _all(self, cursor: Any) -> list[Row]:
        try:
            return list(cursor.fetchall())
        except self._driver_errors.Error as error:
            raise self._converted(error) from error

    @abstractmethod
    def _begin(self) -> None:
        """Begins a write transaction. Waits for other transactions."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Rolls back the transaction, if there is one."""

    def _converted(self, error: Exception) -> DatabaseError:
        errors = self._driver_errors
        kind = ConstraintBroken if isinstance(error, errors.IntegrityError) else DatabaseError
        passing = isinstance(error, (errors.OperationalError, errors.InterfaceError, errors.InternalError))
        # SQLite reports a damaged file as a general error, PostgreSQL as an internal error.
        general = type(error) is errors.DatabaseError and not hasattr(error, "sqlstate")
        return kind(error, lost=self.closed, final=not passing and not general)


def inserting(table: str, names: Iterable[str]) -> str:
    """Returns an INSERT statement with a named parameter for each of the given columns."""
    columns = tuple(names)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"  # noqa: S608 - the SQL contains no user input


def setting(names: Iterable[str]) -> str:
    """Returns the SET clause of an UPDATE statement, with a named parameter for each of the given columns."""
    return ", ".join(f"{name} = :{name}" for name in names)


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
            # The driver must not begin transactions itself, because savepoints then commit early.
            self._driver = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._converted(error) from error
        try:
            if path is not None and IN_PAGE:  # a page has files in memory, and copies them to its storage later
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
        """Whether the connection is unusable. See `Connection`."""
        return not self._open

    def close(self) -> None:
        """Closes the connection, and ignores errors of SQLite."""
        self._open = False
        with suppress(sqlite3.Error):
            self._driver.close()

    def copy_to(self, path: Path) -> None:
        """Copies the database, including its write-ahead log, to a new file. See `Connection`."""
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.partial")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        self._execute("VACUUM INTO :path", {"path": str(draft)})  # this includes data in the write-ahead log
        draft.replace(path)

    def has_table(self, name: str) -> bool:
        """Returns whether a table with this name exists. See `Connection`."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))

    def _execute(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        try:
            return self._driver.execute(statement, values)
        except sqlite3.Error as error:
            raise self._converted(error) from error

    def _begin(self) -> None:
        self._execute("BEGIN IMMEDIATE", {})

    def _roll_back(self) -> None:
        # After some errors, such as a full disk, SQLite has already rolled back.
        if self._driver.in_transaction:
            self._execute("ROLLBACK", {})


def _create_private(path: str) -> None:
    """Creates a database file that only its owner can read. SQLite creates the log files with the same permissions."""
    with suppress(OSError):  # the file exists, or SQLite will report the problem
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
