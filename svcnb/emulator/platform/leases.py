"""What one server holds and the others leave alone, as long as it lives: servers that share a PostgreSQL.

A holder is named by its connection to the database. When it is killed, the database closes that connection, and its
leases are free. No lease has to run out, and no clocks have to agree. A server that only lost its connection counts as
gone too. It takes again what it still needs, unless another server did.

With SQLite there is one server, which holds everything.
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
    """Takes what is free, or was this server's already.

    Args:
        connection: Inside a transaction; with its commit it is taken.
        name: What is taken.

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
    """Lets go of what this server holds; nothing happens when it holds it no more."""
    if (me := session_name(connection)) is not None:
        connection.run("DELETE FROM leases WHERE name = :name AND holder = :me", name=name, me=me)


@asynccontextmanager
async def held(store: Store, name: str) -> AsyncIterator[None]:
    """Holds something for a while; waits for it as long as another server that lives holds it.

    Args:
        store: The database that is shared.
        name: What is held.

    Raises:
        StoreUnavailable: The database cannot be asked.
    """
    while not await store.run(lambda connection: take(connection, name)):  # noqa: ASYNC110 - another process's
        await asyncio.sleep(_AGAIN_S)
    try:
        yield
    finally:
        await store.run(lambda connection: give_back(connection, name))
