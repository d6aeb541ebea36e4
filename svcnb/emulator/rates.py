"""How often somebody did something lately, among all servers that share a PostgreSQL.

One server keeps such counts in memory (`access.rate`, `triggers.webhooks`). Several count here: their transactions come
one after another (`store`), so that together they admit what one of them would.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Connection, Float, Index, String, Table, delete, func, insert, select

from svcnb.emulator.store import metadata

times = Table(
    "recent_times",
    metadata,
    Column("what", String(32), nullable=False),
    Column("who", String(128), nullable=False),
    Column("at", Float, nullable=False),
    Index("recent_times_by_whom", "what", "who", "at"),
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
    mine = (times.c.what == what, times.c.who == who)
    # Of everybody: whoever comes once and never again must not stay for ever.
    connection.execute(delete(times).where(times.c.what == what, times.c.at <= now - _WINDOW_S))
    count, first = connection.execute(select(func.count(), func.min(times.c.at)).where(*mine)).one()
    if count >= limit:
        return float(first) + _WINDOW_S - now
    connection.execute(insert(times).values(what=what, who=who, at=now))
    return None
