"""How often somebody did something lately, among all servers that share a PostgreSQL.

One server keeps such counts in memory (`access.rate`, `triggers.webhooks`). Several count here: their transactions come
one after another (`store`), so that together they admit what one of them would.
"""

from __future__ import annotations

from typing import Final

from svcnb.emulator.database import Connection
from svcnb.emulator.schema import Table

Table(
    "recent_times",
    "what VARCHAR(32) NOT NULL, who VARCHAR(128) NOT NULL, at FLOAT NOT NULL",
    recent_times_by_whom="(what, who, at)",
)

_WINDOW_S: Final = 60.0


def admit(connection: Connection, *, what: str, who: str, limit: int, now: float) -> float | None:
    """Counts one more in the last 60 seconds, unless there have been as many as may be.

    Args:
        connection: Inside a transaction; with its commit it is counted.
        what: What is counted.
        who: By whom.
        limit: Most in any 60 seconds, at least 1.
        now: Unix seconds.

    Returns:
        None when it was counted, otherwise the seconds until one more may come.
    """
    # Of everybody: whoever comes once and never again must not stay for ever.
    connection.run("DELETE FROM recent_times WHERE what = :what AND at <= :over", what=what, over=now - _WINDOW_S)
    [(count, first)] = connection.rows(
        "SELECT count(*), min(at) FROM recent_times WHERE what = :what AND who = :who", what=what, who=who
    )
    if count >= limit:
        return float(first) + _WINDOW_S - now
    connection.insert("recent_times", what=what, who=who, at=now)
    return None
