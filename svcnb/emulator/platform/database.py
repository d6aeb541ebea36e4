"""Connections to SQLite or PostgreSQL, with plain SQL that both support.

Values have names in every statement (``:name``), rows are tuples or dictionaries by column name, and a driver's error
becomes a `DatabaseError`. The emulator needs no more than that. A database toolkit that it used before took longer to
load than all of its own modules.
"""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import urlsplit

from svcnb.extras import install_command

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

Row: TypeAlias = tuple[Any, ...]

_LOCK: Final = 0x73766362
"""Number of the lock that a transaction holds among the servers of one PostgreSQL."""
_WAITS: Final = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=30s -c statement_timeout=60s"
"""Timeouts, so that a server that hangs inside a transaction does not block the others for ever."""
_BUSY_S: Final = 10.0


class DatabaseError(Exception):
    """The first line of a driver's error. Further lines may repeat the row of the statement.

    Args:
        cause: The driver's own error.
        lost: Whether the connection is lost.
        final: Whether the statement is the cause, and not the state of the database.
    """

    def __init__(self, cause: Exception, *, lost: bool, final: bool) -> None:
        super().__init__((str(cause).splitlines() or [type(cause).__name__])[0])
        self.lost = lost
        self.final = final


class ConstraintBroken(DatabaseError):
    """A row violates a constraint of its table. The cause is the code that wrote it, not the database."""


class AddressUnusable(ValueError):
    """The URL of a database cannot be read. The text does not repeat it, because it may contain a password."""


class DriverMissing(Exception):
    """The driver for this kind of database is not installed."""


class Connection(ABC):
    """One connection, for one thread at a time. Statements run inside `transaction`.

    Attributes:
        kind: `SQLITE` or `POSTGRESQL`.
    """

    kind: ClassVar[str]
    _driver_errors: Any
    """The driver's module. Both drivers name their errors as Python's database interface (PEP 249) does."""
    _depth = 0
    """Number of open savepoints."""

    # --- statements ---------------------------------------------------------------------------------------------

    def rows(self, statement: str, /, **values: Any) -> list[Row]:
        """Returns all rows of a result.

        Args:
            statement: SQL; ``:name`` is replaced by a value.
            **values: Texts, numbers, bytes, truth values or None, by name.

        Raises:
            DatabaseError: The driver raised an error.
        """
        cursor = self._execute(statement, values)
        return self._all(cursor)

    def records(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        """Returns rows as `rows` does, by column name."""
        cursor = self._execute(statement, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in self._all(cursor)]

    def record(self, statement: str, /, **values: Any) -> dict[str, Any] | None:
        """The first of `records`, None when there are none."""
        found = self.records(statement, **values)
        return found[0] if found else None

    def column(self, statement: str, /, **values: Any) -> list[Any]:
        """The first value of each row."""
        return [row[0] for row in self.rows(statement, **values)]

    def value(self, statement: str, /, **values: Any) -> Any:
        """The first value of the first row, None when there is no row."""
        found = self.rows(statement, **values)
        return found[0][0] if found else None

    def names(self, statement: str, /, **values: Any) -> list[str]:
        """The column names of a result."""
        return [column[0] for column in self._execute(statement, values).description]

    def run(self, statement: str, /, **values: Any) -> int:
        """Runs a statement without a result. Returns how many rows it changed."""
        return int(self._execute(statement, values).rowcount)

    def each(self, statement: str, many: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Runs a statement once for each of some sets of values.

        Returns:
            The rows of all results, empty for a statement without a result.
        """
        answered: list[Row] = []
        for values in many:
            cursor = self._execute(statement, values)
            if cursor.description is not None:
                answered += self._all(cursor)
        return answered

    def insert(self, table: str, /, **values: Any) -> None:
        """Adds a row."""
        self._execute(inserting(table, values), values)

    # --- transactions -------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits the statements of its block at the end, or rolls all of them back when the block raises."""
        self._begin()
        try:
            yield
            self._execute("COMMIT", {})
        except BaseException:
            with suppress(DatabaseError):  # the transaction may be gone already, and the first error matters
                self._roll_back()
            raise

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Rolls back only the statements of its block when it raises. Used inside a transaction."""
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
        """Whether the connection can no longer be used."""

    @abstractmethod
    def close(self) -> None:
        """Closes the connection. May be called twice."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether a table of that name exists."""

    def copy_to(self, path: Path) -> None:
        """Copies the database to a new file that only its owner can read. An existing file stays unchanged.

        Raises:
            DatabaseError: It cannot be copied.
        """
        raise NotImplementedError

    def escaped(self, text: str | None) -> str | None:
        """Encodes a user's text for storage. It may contain NUL, which PostgreSQL cannot store."""
        return text

    def unescaped(self, text: str | None) -> str | None:
        """Decodes a stored text of a user."""
        return text

    @abstractmethod
    def _execute(self, statement: str, values: Mapping[str, Any]) -> Any:
        """Runs a statement and returns the driver's cursor."""

    def _all(self, cursor: Any) -> list[Row]:
        try:
            return list(cursor.fetchall())
        except self._driver_errors.Error as error:
            raise self._told(error) from error

    @abstractmethod
    def _begin(self) -> None:
        """Begins a transaction that may write. Waits for other transactions."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Rolls a transaction back. Does nothing outside of one."""

    def _told(self, error: Exception) -> DatabaseError:
        errors = self._driver_errors
        kind = ConstraintBroken if isinstance(error, errors.IntegrityError) else DatabaseError
        passing = isinstance(error, (errors.OperationalError, errors.InterfaceError, errors.InternalError))
        # SQLite reports a damaged file as the general error, PostgreSQL as the error of the failed function.
        general = type(error) is errors.DatabaseError and not hasattr(error, "sqlstate")
        return kind(error, lost=self.closed, final=not passing and not general)


class SqliteConnection(Connection):
    """SQLite in a file or, without a path, in memory.

    Args:
        path: The file, created when it is missing.

    Raises:
        DatabaseError: It cannot be opened.
    """

    kind = SQLITE
    _driver_errors = sqlite3

    def __init__(self, path: str | None) -> None:
        self._open = True
        try:
            # The driver must not open transactions, or savepoints would commit early.
            self._driver = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._told(error) from error
        try:
            if path is not None:
                self._execute("PRAGMA journal_mode=WAL", {})
                # FULL: an acknowledged write survives the machine losing power, not only the process dying.
                self._execute("PRAGMA synchronous=FULL", {})
            self._execute("PRAGMA foreign_keys=ON", {})
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """As in `Connection`."""
        return not self._open

    def close(self) -> None:
        """As in `Connection`."""
        self._open = False
        with suppress(sqlite3.Error):
            self._driver.close()

    def copy_to(self, path: Path) -> None:
        """As in `Connection`."""
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.partial")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        self._execute("VACUUM INTO :path", {"path": str(draft)})  # includes the write-ahead log
        draft.replace(path)

    def has_table(self, name: str) -> bool:
        """As in `Connection`."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))

    def _execute(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        try:
            return self._driver.execute(statement, values)
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _begin(self) -> None:
        self._execute("BEGIN IMMEDIATE", {})

    def _roll_back(self) -> None:
        # After some failures, such as a full disk, SQLite has rolled back already.
        if self._driver.in_transaction:
            self._execute("ROLLBACK", {})


class PostgresConnection(Connection):
    """A PostgreSQL database, which servers may share. Their transactions run one after another, as in SQLite.

    Args:
        url: ``postgresql://user:password@host/name``.

    Raises:
        DatabaseError: It cannot be reached, or refuses the credentials.
        AddressUnusable: The URL is invalid.
        DriverMissing: The extra ``postgres`` is not installed.
    """

    kind = POSTGRESQL

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise DriverMissing(
                f"PostgreSQL needs its driver, which is not installed: {install_command('postgres')}"
            ) from error
        self._driver_errors = psycopg
        self._driver: psycopg.Connection[Row] | None = None
        try:
            self._driver = psycopg.connect(
                url, autocommit=True, connect_timeout=5, options=_WAITS, application_name="svcnb"
            )
        except psycopg.ProgrammingError as error:
            # libpq's error for a URL repeats the URL.
            raise AddressUnusable("the database URL cannot be read") from error
        except psycopg.Error as error:
            raise self._told(error) from error

    @property
    def closed(self) -> bool:
        """As in `Connection`."""
        return self._driver is None or self._driver.closed

    def close(self) -> None:
        """As in `Connection`."""
        if self._driver is not None:
            with suppress(self._driver_errors.Error):
                self._driver.close()

    def has_table(self, name: str) -> bool:
        """As in `Connection`."""
        return self.value("SELECT to_regclass(:name) IS NOT NULL", name=name) is True

    def escaped(self, text: str | None) -> str | None:
        """As in `Connection`."""
        return None if text is None else text.replace("\\", "\\\\").replace("\0", "\\0")

    def unescaped(self, text: str | None) -> str | None:
        """As in `Connection`."""
        return None if text is None else "\\".join(part.replace("\\0", "\0") for part in text.split("\\\\"))

    @cached_property
    def session(self) -> str:
        """A name of this connection, unique among all connections that the database ever had."""
        return str(self.value(f"SELECT {SESSION_NAME} FROM pg_stat_activity WHERE pid = pg_backend_pid()"))  # noqa: S608 - our own text

    def _execute(self, statement: str, values: Mapping[str, Any]) -> Any:
        if self._driver is None:
            raise RuntimeError("this connection was never opened")
        try:
            return self._driver.execute(_in_its_words(statement), values)
        except self._driver_errors.Error as error:
            raise self._told(error) from error

    def _begin(self) -> None:
        self._execute("BEGIN", {})
        try:
            # Like SQLite's BEGIN IMMEDIATE, among all servers: one transaction after another.
            self._execute(f"SELECT pg_advisory_xact_lock({_LOCK})", {})
        except BaseException:
            with suppress(DatabaseError):
                self._roll_back()
            raise

    def _roll_back(self) -> None:
        self._execute("ROLLBACK", {})


SESSION_NAME: Final = "pid || '@' || extract(epoch from backend_start)"
"""The name of a connection to PostgreSQL, from the columns of ``pg_stat_activity``."""

_VALUE: Final = re.compile(r"('(?:[^']|'')*')|(?<![:\w]):([a-z_]\w*)")
"""A text in quotes, which stays unchanged, or the name of a value."""


@cache
def _in_its_words(statement: str) -> str:
    """A statement in the form that PostgreSQL's driver expects."""
    return _VALUE.sub(lambda found: found[1] or f"%({found[2]})s", statement.replace("%", "%%"))


def inserting(table: str, names: Iterable[str]) -> str:
    """The statement that adds a row with values for these columns."""
    columns = tuple(names)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"  # noqa: S608 - our own names


def setting(names: Iterable[str]) -> str:
    """The part after SET in an UPDATE of these columns."""
    return ", ".join(f"{name} = :{name}" for name in names)


def _check_port(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        # The message repeats the port. With a slash in a password, that is the beginning of the password.
        raise AddressUnusable("the database URL cannot be read") from None


class Address:
    """Address of a database.

    Args:
        url: ``sqlite:////absolute/path.db``, ``postgresql://user:password@host/name``, or None for SQLite in memory.

    Raises:
        AddressUnusable: It is neither.

    Attributes:
        kind: `SQLITE`, `POSTGRESQL`, or any other scheme before ``://``.
        path: SQLite's file, None in memory.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url
        self.kind, self.path = SQLITE, None
        if url is None:
            return
        head, found, rest = url.partition("://")
        self.kind = head.partition("+")[0]  # other tools write a driver's name after it
        if not found or not self.kind:
            raise AddressUnusable("the database URL cannot be read")
        self._url = f"{self.kind}://{rest}"
        if self.kind == SQLITE and rest.strip("/"):
            if not rest.startswith("/"):
                raise AddressUnusable("the database URL cannot be read")
            self.path = rest[1:]
        elif self.kind == POSTGRESQL:
            _check_port(self._url)

    def connect(self) -> Connection:
        """Opens a new connection, to a database of a supported kind.

        Raises:
            DatabaseError: It cannot be opened.
            AddressUnusable: The URL is invalid.
            DriverMissing: The driver is not installed.
        """
        return SqliteConnection(self.path) if self.kind == SQLITE else PostgresConnection(self._url or "")

    def __str__(self) -> str:
        """A form to display, without a password, which may also be among the parameters."""
        if self._url is None:
            return "memory"
        head, found, tail = self._url.partition("://")
        user, at, place = tail.rpartition("@")
        shown = user.partition(":")[0] + ":***@" if ":" in user else user + at
        return head + found + shown + (place.partition("?")[0] if self.kind == POSTGRESQL else place)
