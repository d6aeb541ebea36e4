"""What each of several servers has set aside, where all of them see it: in the PostgreSQL that they share.

A server writes down all that it holds, in one row, in the very transaction in which a hold begins, grows or is charged;
the transactions of all servers come one after another (`store`). The row bears the name of the server's connection, as
a lease does (`leases`): when the server is killed the database closes the connection, and what it held is free.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import Column, Connection, String, Table, Text, delete, select

from svcnb.emulator.store import living_sessions, metadata, session_name

table = Table(
    "ledger_holds",
    metadata,
    Column("holder", String, primary_key=True),
    # Cents by account: a JSON object. A server holds for few accounts at a time, and always writes down all of them.
    Column("held", Text, nullable=False),
)

_LIVES: Final = table.c.holder.in_(living_sessions())


def of_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Cents that other servers have set aside.

    Args:
        connection: Inside a transaction.
        accounts: Whose.
    """
    found: Counter[str] = Counter()
    query = select(table.c.held).where(table.c.holder != session_name(connection), _LIVES)
    for text in connection.execute(query).scalars():
        held: dict[str, int] = json.loads(text)
        for account in accounts & held.keys():
            found[account] += held[account]
    return found


def write_down(connection: Connection, held: Mapping[str, int]) -> None:
    """Lets the others see what this server has set aside.

    Args:
        connection: Inside a transaction; with its commit they see it.
        held: All of it: cents by account.
    """
    # Only PostgreSQL is shared, and loading a dialect takes as long as starting the chain.
    from sqlalchemy.dialects.postgresql import insert

    into: Any = insert(table).values(holder=session_name(connection), held=json.dumps(held, separators=(",", ":")))
    connection.execute(into.on_conflict_do_update(index_elements=["holder"], set_={"held": into.excluded.held}))


def clear_away(connection: Connection) -> None:
    """Removes the rows of servers that are gone, which nobody counts any more."""
    connection.execute(delete(table).where(~_LIVES))
