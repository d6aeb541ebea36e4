"""Exchange of reserved credit between servers that share a PostgreSQL database.

A server writes all its holds to one row, in the transaction that begins, grows or charges a hold. The transactions of
all servers run in sequence (`store`). As with a lease (`leases`), the name of the server's connection identifies the
row. When the server stops, the database closes the connection, and its holds no longer count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.postgresql import LIVING
from svcnb.emulator.platform.schema import Table

# "held" is a JSON object of cents by account. Servers always write it as a whole, because a server has holds of few
# accounts at a time.
HOLDS: Final = Table("ledger_holds", "holder VARCHAR NOT NULL PRIMARY KEY, held TEXT NOT NULL")


def of_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Returns the cents that other servers have reserved.

    Args:
        connection: Connection inside a transaction.
        accounts: Billing wallets.
    """
    found: Counter[str] = Counter()
    others = f"SELECT held FROM ledger_holds WHERE holder <> :me AND holder IN ({LIVING})"  # noqa: S608 - the SQL contains no user input
    for text in connection.column(others, me=connection.session):
        held: dict[str, int] = json.loads(text)
        for account in accounts & held.keys():
            found[account] += held[account]
    return found


def write_down(connection: Connection, held: Mapping[str, int]) -> None:
    """Publishes the reserved credit of this server.

    Args:
        connection: Connection inside a transaction. Other servers see the change after the commit.
        held: All reserved cents of this server, by account.
    """
    connection.run(
        "INSERT INTO ledger_holds (holder, held) VALUES (:me, :held) "
        "ON CONFLICT (holder) DO UPDATE SET held = excluded.held",
        me=connection.session,
        held=json.dumps(held, separators=(",", ":")),
    )


def clear_away(connection: Connection) -> None:
    """Deletes the rows of stopped servers, which no longer count."""
    connection.run(f"DELETE FROM ledger_holds WHERE holder NOT IN ({LIVING})")  # noqa: S608 - the SQL contains no user input
