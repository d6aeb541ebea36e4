"""Stop of an unused emulator, and a later start in the same state.

A workshop runs one emulator for each learner. With ``idle_stop_s`` an emulator ends after that time without a request.
The process that started it keeps the listening socket, and starts it again with the next request. To be invisible to
clients, the next start needs data that only the process has: its time, its random streams and its control token.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from typing import Any, Final

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.schema import get_meta, set_meta
from svcnb.emulator.platform.store import Store
from svcnb.protocol.nesting import parse

_TOKEN: Final = "control_token"  # noqa: S105 - the name of a row
_CLOCK: Final = "clock"
_RANDOMNESS: Final = "randomness"
_NOTHING: Final = "null"


class Activity:
    """Requests under way, and the time of the last one."""

    def __init__(self) -> None:
        self._under_way = 0
        self._last = time.monotonic()

    def begin(self) -> None:
        """Counts a request."""
        self._under_way += 1

    def end(self) -> None:
        """Counts the end of a request."""
        self._under_way -= 1
        self._last = time.monotonic()

    def idle_s(self) -> float:
        """Seconds since the last request ended; 0.0 while one is under way."""
        return 0.0 if self._under_way else time.monotonic() - self._last


async def stop_when_idle(
    activity: Activity, limit_s: float, stop: Callable[[], None], is_busy: Callable[[], bool]
) -> None:
    """Calls ``stop`` after a time without requests and runs.

    Args:
        activity: The requests.
        limit_s: How long, in seconds.
        stop: Stops the server.
        is_busy: Whether an action runs, for example for a webhook whose request has ended.
    """
    while (left := limit_s - activity.idle_s()) > 0 or is_busy():  # noqa: ASYNC110 - the end of a time is no event
        await asyncio.sleep(max(left, min(limit_s, 1.0)))
    stop()


class Resumption:
    """What the next start of a kept state goes on with: control token, time and random streams.

    Time is kept at each change, so it survives a process that was killed. Random streams are kept at a regular stop
    and used once. After a crash their position is not known, so new streams are used.

    Args:
        store: The database of the kept state.
        setting: The setting ``clock``. A kept time belongs to it; with another setting it does not count.
    """

    def __init__(self, store: Store, setting: str) -> None:
        self._store = store
        self._setting = setting
        self.control_token, self._clock, self._streams = store.run_now(self._take)

    @property
    def boot(self) -> int | None:
        """The number of the start whose random streams continue; None when it is unknown."""
        return None if self._streams is None else int(self._streams["boot"])

    def resume(self, clock: Clock, randomness: Randomness) -> None:
        """Restores time and random streams, and saves the time from now on."""
        if self._clock is not None and self._clock["setting"] == self._setting:
            clock.restore(self._clock["state"])
        if self._streams is not None:
            randomness.restore(self._streams["drawn"])
        clock.on_change(lambda: self._keep_clock(clock))

    def keep(self, randomness: Randomness, boot: int) -> None:
        """Saves the random streams at a regular stop.

        Args:
            randomness: The streams.
            boot: The number of the start that they belong to.
        """
        kept = json.dumps({"boot": boot, "drawn": randomness.state()})
        self._store.run_now(lambda connection: set_meta(connection, _RANDOMNESS, kept))

    def _take(self, connection: Connection) -> tuple[str, dict[str, Any] | None, dict[str, Any] | None]:
        token = get_meta(connection, _TOKEN) or secrets.token_urlsafe(32)
        set_meta(connection, _TOKEN, token)
        clock, streams = (parse(get_meta(connection, name) or _NOTHING) for name in (_CLOCK, _RANDOMNESS))
        set_meta(connection, _RANDOMNESS, _NOTHING)
        return token, clock, streams

    def _keep_clock(self, clock: Clock) -> None:
        kept = json.dumps({"setting": self._setting, "state": clock.state()})
        self._store.run_now(lambda connection: set_meta(connection, _CLOCK, kept))
