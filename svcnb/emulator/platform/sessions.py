"""Servers that are connected to a PostgreSQL. The leases of a server are free once its connection is gone."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.platform.database import SESSION_NAME, Connection, PostgresConnection

LIVING: Final = f"SELECT {SESSION_NAME} FROM pg_stat_activity WHERE backend_start IS NOT NULL"  # noqa: S608 - our own text
"""A subquery: the names of all current connections."""


def session_name(connection: Connection) -> str | None:
    """Name of this server's connection, unique in the database; None for SQLite, which has one server."""
    return connection.session if isinstance(connection, PostgresConnection) else None


def session_lives(connection: Connection, name: str) -> bool:
    """Whether the server with this `session_name` is still connected."""
    if not isinstance(connection, PostgresConnection):
        return False
    return connection.value(f"SELECT :name IN ({LIVING})", name=name) is True
