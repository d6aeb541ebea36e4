"""Leases for servers that share a PostgreSQL database. A server holds a lease until it releases it or stops.

A holder is identified by its database connection. When the server is killed, the database closes this connection and
the leases become free. So leases do not expire, and clocks need not be synchronised. A server that only loses its
connection also loses its leases. It acquires them again, unless another server was faster.

With SQLite, there is only one server, which holds all leases.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.store import Store

_AGAIN_S: Final = 0.05

Table("leases", "name VARCHAR NOT NULL PRIMARY KEY, holder VARCHAR NOT NULL")


def take(connection: Connection, name: str) -> bool:
    """Acquires a lease, if it is free or this server already holds it.

    Args:
        connection: Inside a transaction. The lease is acquired at its commit.
        name: The name of the lease.

    Returns:
        Whether this server holds the lease now.
    """
    me = connection.session
    if me is None:
        return True
    holder = connection.value("SELECT holder FROM leases WHERE name = :name", name=name)
    if holder is None:
        connection.insert("leases", name=name, holder=me)
    elif holder != me:
        if connection.has_session(holder):
            return False
        connection.run("UPDATE leases SET holder = :me WHERE name = :name", me=me, name=name)
    return True


def give_back(connection: Connection, name: str) -> None:
    """Releases a lease of this server, if the server still holds it."""
    if (me := connection.session) is not None:
        connection.run("DELETE FROM leases WHERE name = :name AND holder = :me", name=name, me=me)


@asynccontextmanager
async def held(store: Store, name: str) -> AsyncIterator[None]:
    """Holds a lease for the duration of a block. Waits while another running server holds it.

    Args:
        store: The shared database.
        name: The name of the lease.

    Raises:
        StoreUnavailable: The database is unavailable.
    """
    while not await store.run(lambda connection: take(connection, name)):  # noqa: ASYNC110 - another process releases the lease
        await asyncio.sleep(_AGAIN_S)
    try:
        yield
    finally:
        await store.run(lambda connection: give_back(connection, name))
