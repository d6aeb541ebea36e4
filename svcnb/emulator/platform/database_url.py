"""Parser for database URLs, and factory for connections."""

from __future__ import annotations

from urllib.parse import urlsplit

from svcnb.emulator.platform.database import POSTGRESQL, SQLITE, Connection, InvalidDatabaseUrl, SqliteConnection


class Address:
    """Parsed URL of a database.

    Args:
        url: ``sqlite:////absolute/path.db``, ``postgresql://user:password@host/name``, or None for SQLite in memory.

    Raises:
        InvalidDatabaseUrl: The URL cannot be parsed.

    Attributes:
        kind: `SQLITE`, `POSTGRESQL`, or the scheme of a URL for an unsupported database.
        path: Path of the SQLite file, or None for a database that is in memory or is not SQLite.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url
        self.kind, self.path = SQLITE, None
        if url is None:
            return
        head, found, rest = url.partition("://")
        self.kind = head.partition("+")[0]  # other tools append the name of the driver to the scheme
        if not found or not self.kind:
            raise InvalidDatabaseUrl(
                "the database URL cannot be parsed: use sqlite:////absolute/path.db, or "
                "postgresql://USER:PASSWORD@HOST/NAME"
            )
        self._url = f"{self.kind}://{rest}"
        if self.kind == SQLITE and rest.strip("/"):
            if not rest.startswith("/"):
                raise InvalidDatabaseUrl(
                    "the database URL has only two slashes before the path: use sqlite:////absolute/path.db, or "
                    "sqlite:///relative/path.db"
                )
            self.path = rest[1:]
        elif self.kind == POSTGRESQL:
            _check_port(self._url)

    def connect(self) -> Connection:
        """Opens and returns a connection.

        Raises:
            DatabaseError: The database cannot be opened.
            InvalidDatabaseUrl: The URL is invalid.
            DriverMissing: The driver is not installed.
        """
        if self.kind == SQLITE:
            return SqliteConnection(self.path)
        from svcnb.emulator.platform.postgresql import PostgresConnection

        return PostgresConnection(self._url or "")

    def __str__(self) -> str:
        """Returns the URL for display, without the password, or ``memory`` for a database in memory.

        The text also omits the query of a PostgreSQL URL, because the query can contain a password.
        """
        if self._url is None:
            return "memory"
        head, found, tail = self._url.partition("://")
        user, at, place = tail.rpartition("@")
        shown = user.partition(":")[0] + ":***@" if ":" in user else user + at
        return head + found + shown + (place.partition("?")[0] if self.kind == POSTGRESQL else place)


def _check_port(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        # Omit the message of the error, because it repeats the port. If a password contains a slash, the parser reads
        # the beginning of the password as the port.
        raise InvalidDatabaseUrl(
            "the port in the database URL is not a number from 0 to 65535. Correct the port, and percent-encode "
            "special characters in the password, for example %2F for a slash."
        ) from None
