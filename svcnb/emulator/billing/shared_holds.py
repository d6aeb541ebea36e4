"""Reserved credit of each of several servers, visible to all of them in the PostgreSQL that they share.

A server writes all its holds in one row, in the transaction in which a hold begins, grows or is charged. The
transactions of all servers run one after another (`store`). Like a lease (`leases`), the row has the name of the
server's connection. When the server is killed, the database closes the connection, and its holds are released.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.sessions import LIVING, session_name

# The holds are cents by account, a JSON object. A server holds credit for few accounts at a time, and always writes all
# of them.
HOLDS: Final = Table("ledger_holds", "holder VARCHAR NOT NULL PRIMARY KEY, held TEXT NOT NULL")


def of_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Cents that other servers have reserved.

    Args:
        connection: Inside a transaction.
        accounts: The accounts.
    """
    found: Counter[str] = Counter()
    others = f"SELECT held FROM ledger_holds WHERE holder <> :me AND holder IN ({LIVING})"  # noqa: S608 - our own text
    for text in connection.column(others, me=session_name(connection)):
        held: dict[str, int] = json.loads(text)
        for account in accounts & held.keys():
            found[account] += held[account]
    return found


def write_down(connection: Connection, held: Mapping[str, int]) -> None:
    """Writes the reserved credit of this server for the others.

    Args:
        connection: Inside a transaction. The others see the change after its commit.
        held: All of it: cents by account.
    """
    connection.run(
        "INSERT INTO ledger_holds (holder, held) VALUES (:me, :held) "
        "ON CONFLICT (holder) DO UPDATE SET held = excluded.held",
        me=session_name(connection),
        held=json.dumps(held, separators=(",", ":")),
    )


def clear_away(connection: Connection) -> None:
    """Deletes the rows of servers that are gone. They are no longer counted."""
    connection.run(f"DELETE FROM ledger_holds WHERE holder NOT IN ({LIVING})")  # noqa: S608 - our own text
