"""Leases for servers that share a PostgreSQL database. A server has a lease until it releases the lease or stops.

A database connection identifies the owner of a lease. After a crash of the server, the database closes this connection
and the leases become free. Therefore, leases do not expire, and the servers do not need synchronised clocks. A running
server that loses its connection also loses its leases. The server acquires the leases again, unless another server has
already acquired them.

With SQLite, there is only one server, which has all leases.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.store import Store, StoreUnavailable

_AGAIN_S: Final = 0.05

Table("leases", "name VARCHAR NOT NULL PRIMARY KEY, holder VARCHAR NOT NULL")


def take(connection: Connection, name: str) -> bool:
    """Acquires a lease, unless another running server has the lease.

    Args:
        connection: Connection inside a transaction. The commit acquires the lease.
        name: Name that identifies the lease, for example ``chain``.

    Returns:
        Whether this server now has the lease.
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


def release(connection: Connection, name: str) -> None:
    """Releases a lease if this server still has the lease."""
    if (me := connection.session) is not None:
        connection.run("DELETE FROM leases WHERE name = :name AND holder = :me", name=name, me=me)


@asynccontextmanager
async def held(store: Store, name: str) -> AsyncIterator[None]:
    """Acquires a lease for the duration of an ``async with`` block. Waits while another running server has the lease.

    Args:
        store: The shared database.
        name: Name that identifies the lease, for example ``chain``.

    Raises:
        StoreUnavailable: The database was unavailable before the block started.
    """
    while not await store.run(lambda connection: take(connection, name)):  # noqa: ASYNC110 - another process releases the lease
        await asyncio.sleep(_AGAIN_S)
    try:
        yield
    finally:
        # Without a connection, the server has already lost its leases. The result of the block remains valid.
        with suppress(StoreUnavailable):
            await store.run(lambda connection: release(connection, name))
