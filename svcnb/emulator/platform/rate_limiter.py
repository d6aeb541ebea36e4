"""Sliding-window rate limiter for all servers that share a PostgreSQL.

One server keeps such counts in memory (`token_bucket`, `triggers.webhooks`). Several servers count here. Their
transactions run one after another (`store`), so that together they admit as many as one of them would.
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
"""How far the clocks of servers that share a database may differ, in seconds."""


def admit(connection: Connection, *, what: str, who: str, limit: int, now: float) -> float | None:
    """Counts one more in the last 60 seconds, unless the limit is reached.

    Args:
        connection: Inside a transaction. The count takes effect with its commit.
        what: What is counted.
        who: The caller for whom it is counted.
        limit: Maximum in any 60 seconds, at least 1.
        now: Unix seconds.

    Returns:
        None when it was counted, otherwise the seconds until the next one is allowed.
    """
    # Deletes old rows of all callers, so that those of a caller who never returns do not stay forever.
    # Times in the future were recorded before the clock was set back. Those within the difference of server clocks
    # stay.
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
