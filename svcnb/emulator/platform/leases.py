"""Leases for servers that share a PostgreSQL. A lease is held by one server for as long as that server lives.

A holder is identified by its connection to the database. When it is killed, the database closes that connection, and
its leases are free. So leases have no expiry, and clocks need not agree. A server that only lost its connection counts
as gone too. It takes the leases that it still needs again, unless another server did.

With SQLite there is one server, which holds every lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.sessions import session_lives, session_name
from svcnb.emulator.platform.store import Store

_AGAIN_S: Final = 0.05

Table("leases", "name VARCHAR NOT NULL PRIMARY KEY, holder VARCHAR NOT NULL")


def take(connection: Connection, name: str) -> bool:
    """Takes a lease that is free, or that this server holds already.

    Args:
        connection: Inside a transaction. The lease is taken with its commit.
        name: The name of the lease.

    Returns:
        Whether this server holds it now.
    """
    me = session_name(connection)
    if me is None:
        return True
    holder = connection.value("SELECT holder FROM leases WHERE name = :name", name=name)
    if holder is None:
        connection.insert("leases", name=name, holder=me)
    elif holder != me:
        if session_lives(connection, holder):
            return False
        connection.run("UPDATE leases SET holder = :me WHERE name = :name", me=me, name=name)
    return True


def give_back(connection: Connection, name: str) -> None:
    """Releases a lease of this server. Does nothing when the server no longer holds it."""
    if (me := session_name(connection)) is not None:
        connection.run("DELETE FROM leases WHERE name = :name AND holder = :me", name=name, me=me)


@asynccontextmanager
async def held(store: Store, name: str) -> AsyncIterator[None]:
    """Holds a lease for the length of a block. Waits as long as another living server holds it.

    Args:
        store: The shared database.
        name: The name of the lease.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    while not await store.run(lambda connection: take(connection, name)):  # noqa: ASYNC110 - another process's
        await asyncio.sleep(_AGAIN_S)
    try:
        yield
    finally:
        await store.run(lambda connection: give_back(connection, name))
