"""What each of several servers has set aside, where all of them see it: in the PostgreSQL that they share.

A server writes everything that it holds in one row, in the transaction in which a hold begins, grows or is charged. The
transactions of all servers run one after another (`store`). The row has the name of the server's connection, as a lease
does (`leases`). When the server is killed, the database closes the connection, and its holds are free.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.sessions import LIVING, session_name

# What is held is cents by account, a JSON object: a server holds for few accounts at a time, and always writes down all
# of them.
HOLDS: Final = Table("ledger_holds", "holder VARCHAR NOT NULL PRIMARY KEY, held TEXT NOT NULL")


def of_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Cents that other servers have set aside.

    Args:
        connection: Inside a transaction.
        accounts: Whose.
    """
    found: Counter[str] = Counter()
    others = f"SELECT held FROM ledger_holds WHERE holder <> :me AND holder IN ({LIVING})"  # noqa: S608 - our own text
    for text in connection.column(others, me=session_name(connection)):
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
    connection.run(
        "INSERT INTO ledger_holds (holder, held) VALUES (:me, :held) "
        "ON CONFLICT (holder) DO UPDATE SET held = excluded.held",
        me=session_name(connection),
        held=json.dumps(held, separators=(",", ":")),
    )


def clear_away(connection: Connection) -> None:
    """Removes the rows of servers that are gone, which are no longer counted."""
    connection.run(f"DELETE FROM ledger_holds WHERE holder NOT IN ({LIVING})")  # noqa: S608 - our own text
