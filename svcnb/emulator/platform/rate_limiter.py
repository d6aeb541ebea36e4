"""Sliding-window rate limiter for all servers that share a PostgreSQL database.

A single server keeps its counts in memory (`token_bucket`, `triggers.webhooks`). Several servers use this limiter.
Their transactions run in sequence (`store`), so together they admit as many calls as a single server.
"""

from __future__ import annotations

from typing import Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table

Table(
    "recent_times",
    "what VARCHAR(32) NOT NULL, who VARCHAR(128) NOT NULL, at FLOAT NOT NULL",
    recent_times_by_whom="(what, who, at)",
)

_WINDOW_S: Final = 60.0
CLOCK_DIFFERENCE_S: Final = 5.0
"""Maximum difference between the clocks of servers that share a database, in seconds."""


def admit(connection: Connection, *, what: str, who: str, limit: int, now: float) -> float | None:
    """Counts a call, unless the caller has reached the limit for the last 60 seconds.

    Args:
        connection: Connection inside a transaction. The count takes effect at the commit.
        what: Name of the limit.
        who: The limited caller.
        limit: Maximum number of calls in any 60 seconds, at least 1.
        now: Current time, in Unix seconds.

    Returns:
        None if the function counted the call, otherwise the number of seconds until the caller can try again.
    """
    # Delete the old rows of all callers, including callers who never return. Delete times in the future, which exist
    # after a change of the clock. Allow small differences between server clocks.
    connection.run(
        "DELETE FROM recent_times WHERE what = :what AND (at <= :over OR at > :ahead)",
        what=what,
        over=now - _WINDOW_S,
        ahead=now + CLOCK_DIFFERENCE_S,
    )
    [(count, first)] = connection.rows(
        "SELECT count(*), min(at) FROM recent_times WHERE what = :what AND who = :who", what=what, who=who
    )
    if count >= limit:
        return min(float(first) + _WINDOW_S - now, _WINDOW_S)
    connection.insert("recent_times", what=what, who=who, at=now)
    return None
