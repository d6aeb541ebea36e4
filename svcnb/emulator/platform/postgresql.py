"""Connection to a PostgreSQL database, which several servers can share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.platform.database import (
    POSTGRESQL,
    Connection,
    DatabaseError,
    DriverMissing,
    InvalidDatabaseUrl,
    Row,
)
from svcnb.extras import install_command

if TYPE_CHECKING:
    import psycopg

_LOCK: Final = 0x73766362
"""Number of the advisory lock that serialises the transactions of all servers."""
_WAITS: Final = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=30s -c statement_timeout=60s"
"""Timeouts that prevent a server with a blocked transaction from blocking the other servers forever."""
_SESSION: Final = "pid || '@' || extract(epoch from backend_start)"
"""SQL expression for the name of a connection, with columns of ``pg_stat_activity``."""
LIVING: Final = f"SELECT {_SESSION} FROM pg_stat_activity WHERE backend_start IS NOT NULL"  # noqa: S608 - the SQL contains no user input
"""Subquery for the names of all open connections. Leases of other connections are free."""
_VALUE: Final = re.compile(r"('(?:[^']|'')*')|(?<![:\w]):([a-z_]\w*)")
"""Pattern for the parts of a statement: a quoted string, which stays unchanged, or a named parameter."""


class PostgresConnection(Connection):
    """Connection to a PostgreSQL database. The transactions of all servers that share the database run in sequence.

    Args:
        url: ``postgresql://user:password@host/name``.

    Raises:
        DatabaseError: The database does not respond, or rejects the credentials.
        InvalidDatabaseUrl: The URL is invalid.
        DriverMissing: The extra ``postgres`` is not installed.
    """

    kind = POSTGRESQL

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise DriverMissing(
                f"the driver for PostgreSQL is not installed: run {install_command('postgres')}"
            ) from error
        self._driver_errors = psycopg
        self._driver: psycopg.Connection[Row] | None = None
        try:
            self._driver = psycopg.connect(
                url, autocommit=True, connect_timeout=5, options=_WAITS, application_name="svcnb"
            )
        except psycopg.ProgrammingError as error:
            # Omit the error message of libpq, because it contains the URL.
            raise InvalidDatabaseUrl(
                "the database URL cannot be parsed: use postgresql://USER:PASSWORD@HOST/NAME"
            ) from error
        except psycopg.Error as error:
            raise self._converted(error) from error

    @property
    def closed(self) -> bool:
        """Whether the connection is unusable. See `Connection`."""
        return self._driver is None or self._driver.closed

    def close(self) -> None:
        """Closes the connection if it was opened, and ignores errors of the driver."""
        if self._driver is not None:
            with suppress(self._driver_errors.Error):
                self._driver.close()

    def has_table(self, name: str) -> bool:
        """Returns whether a table with this name exists. See `Connection`."""
        return self.value("SELECT to_regclass(:name) IS NOT NULL", name=name) is True

    def escaped(self, text: str | None) -> str | None:
        """Returns a user's string, escaped for storage. See `Connection`."""
        return None if text is None else text.replace("\\", "\\\\").replace("\0", "\\0")

    def unescaped(self, text: str | None) -> str | None:
        """Returns the original string from a result of `escaped`. See `Connection`."""
        return None if text is None else "\\".join(part.replace("\\0", "\0") for part in text.split("\\\\"))

    @cached_property
    def session(self) -> str:
        """Unique name of this connection. See `Connection`."""
        return str(self.value(f"SELECT {_SESSION} FROM pg_stat_activity WHERE pid = pg_backend_pid()"))  # noqa: S608 - the SQL contains no user input

    def has_session(self, name: str) -> bool:
        """Returns whether the connection whose `session` is ``name`` is still open. See `Connection`."""
        return self.value(f"SELECT :name IN ({LIVING})", name=name) is True

    def _execute(self, statement: str, values: Mapping[str, Any]) -> Any:
        if self._driver is None:
            raise RuntimeError("the connection to PostgreSQL is not open")
        query: Any = _with_driver_parameters(statement)  # the type that psycopg declares has only literals
        try:
            return self._driver.execute(query, values)
        except self._driver_errors.Error as error:
            raise self._converted(error) from error

    def _begin(self) -> None:
        self._execute("BEGIN", {})
        try:
            # Serialise the transactions of all servers, like SQLite's BEGIN IMMEDIATE.
            self._execute(f"SELECT pg_advisory_xact_lock({_LOCK})", {})
        except BaseException:
            with suppress(DatabaseError):
                self._roll_back()
            raise

    def _roll_back(self) -> None:
        self._execute("ROLLBACK", {})


@cache
def _with_driver_parameters(statement: str) -> str:
    """Returns a statement with the parameter syntax of PostgreSQL's driver."""
    return _VALUE.sub(lambda found: found[1] or f"%({found[2]})s", statement.replace("%", "%%"))
