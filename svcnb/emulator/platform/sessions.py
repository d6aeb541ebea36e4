"""Which servers are connected to a PostgreSQL: what one of them holds is free once its connection is gone."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.platform.database import SESSION_NAME, Connection, PostgresConnection

LIVING: Final = f"SELECT {SESSION_NAME} FROM pg_stat_activity WHERE backend_start IS NOT NULL"  # noqa: S608 - our own text
"""A subquery: the names of all that are connected now."""


def session_name(connection: Connection) -> str | None:
    """Name of this server's connection, unique in the database; None for SQLite, which has one server."""
    return connection.session if isinstance(connection, PostgresConnection) else None


def session_lives(connection: Connection, name: str) -> bool:
    """Whether the server that a `session_name` belongs to is still connected."""
    if not isinstance(connection, PostgresConnection):
        return False
    return connection.value(f"SELECT :name IN ({LIVING})", name=name) is True
