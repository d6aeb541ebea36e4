"""What one server holds and the others leave alone, as long as it lives: servers that share a PostgreSQL.

A holder is named by its connection to the database. When it is killed the database closes that connection, and what
it held is free: nothing has to run out, and no clocks have to agree. A server that merely lost its connection counts as
gone, too; it takes again what it still needs, if nobody else did meanwhile.

With SQLite there is one server, which holds everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import Column, Connection, String, Table, delete, insert, select, update

from svcnb.emulator.store import Store, metadata, session_lives, session_name

_AGAIN_S: Final = 0.05

leases = Table(
    "leases",
    metadata,
    Column("name", String, primary_key=True),
    Column("holder", String, nullable=False),
)


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
    holder = connection.execute(select(leases.c.holder).where(leases.c.name == name)).scalar_one_or_none()
    if holder is None:
        connection.execute(insert(leases).values(name=name, holder=me))
    elif holder != me:
        if session_lives(connection, holder):
            return False
        connection.execute(update(leases).where(leases.c.name == name).values(holder=me))
    return True


def give_back(connection: Connection, name: str) -> None:
    """Lets go of what this server holds; nothing happens when it holds it no more."""
    if (me := session_name(connection)) is not None:
        connection.execute(delete(leases).where(leases.c.name == name, leases.c.holder == me))


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
