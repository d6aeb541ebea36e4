"""Sliding-window rate limiter, with a window of 60 seconds.

A single server counts in memory. Servers that share a PostgreSQL database count in the database. Their transactions run
in sequence (see `store`), so together they admit as many calls as a single server.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.schema import Table
from svcnb.protocol.limits import RATE_WINDOW_S

if TYPE_CHECKING:
    from svcnb.emulator.platform.store import Store

Table(
    "recent_times",
    "what VARCHAR(32) NOT NULL, who VARCHAR(128) NOT NULL, at FLOAT NOT NULL",
    recent_times_by_whom="(what, who, at)",
)

_MANY_CALLERS: Final = 10_000
CLOCK_DIFFERENCE_S: Final = 5.0
"""Difference in seconds that the limiter tolerates between the clocks of servers that share a database."""


class RateLimiter:
    """Limit for the number of calls of each caller in any 60 seconds.

    Args:
        what: Name of the limit in the database.
        limit: Maximum number of calls. None means no limit.
        store: The database, which several servers can share.
    """

    def __init__(self, what: str, limit: int | None, store: Store) -> None:
        self._what = what
        self._limit = limit
        self._store = store
        self._times: dict[str, deque[float]] = {}
        self._cleanup_above = _MANY_CALLERS

    async def admit(self, who: str, now: float) -> float | None:
        """Counts a call, unless the caller has reached the limit.

        Args:
            who: Name of the caller, for example an IP address.
            now: Current time, in Unix seconds.

        Returns:
            None if the method counted the call, otherwise the number of seconds until the caller can try again.

        Raises:
            StoreUnavailable: The shared database is unavailable.
        """
        limit = self._limit
        if limit is None:
            return None
        if self._store.shared:
            return await self._store.run(partial(admit, what=self._what, who=who, limit=limit, now=now))
        if len(self._times) > self._cleanup_above:
            self._times = {
                name: times for name, times in self._times.items() if times and times[-1] > now - RATE_WINDOW_S
            }
            # With many active callers, a fixed number would cause a clean-up at each call.
            self._cleanup_above = max(_MANY_CALLERS, 2 * len(self._times))
        times = self._times.setdefault(who, deque())
        while times and times[-1] > now:  # delete times in the future, which exist if a user sets the clock back
            times.pop()
        while times and times[0] <= now - RATE_WINDOW_S:
            times.popleft()
        if len(times) >= limit:
            return times[0] + RATE_WINDOW_S - now
        times.append(now)
        return None

    def clear(self) -> None:
        """Deletes all counts in memory. The counts in a shared database stay."""
        self._times.clear()


def admit(connection: Connection, *, what: str, who: str, limit: int, now: float) -> float | None:
    """Counts a call in the database, unless the caller has reached the limit for the last 60 seconds.

    Args:
        connection: Connection inside a transaction. The count takes effect at the commit.
        what: Name of the limit.
        who: Name of the caller, for example an IP address.
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
        over=now - RATE_WINDOW_S,
        ahead=now + CLOCK_DIFFERENCE_S,
    )
    [(count, first)] = connection.rows(
        "SELECT count(*), min(at) FROM recent_times WHERE what = :what AND who = :who", what=what, who=who
    )
    if count >= limit:
        return min(float(first) + RATE_WINDOW_S - now, RATE_WINDOW_S)
    connection.insert("recent_times", what=what, who=who, at=now)
    return None
