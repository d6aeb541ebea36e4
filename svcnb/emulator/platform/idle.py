"""Components that stop an idle emulator, and restore its state at the next start.

A workshop runs the emulators of many learners. With ``idle_stop_s``, an emulator stops after that number of seconds
without a request. The parent process keeps the listening socket open, and starts the emulator again for the next
request. Clients do not notice the stop, because the emulator also stores the time, the control token and the
state of the random number generators.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Final

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.quiesce import Quiesce
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.schema import get_meta, set_meta
from svcnb.emulator.platform.store import Store
from svcnb.protocol.nesting import parse

_TOKEN: Final = "control_token"  # noqa: S105 - the name of a row, not a secret
_CLOCK: Final = "clock"
_RANDOMNESS: Final = "randomness"
_NOTHING: Final = "null"


async def stop_when_idle(
    quiesce: Quiesce, limit_s: float, stop: Callable[[], None], is_busy: Callable[[], bool]
) -> None:
    """Calls ``stop`` after a period with neither requests nor runs.

    Args:
        quiesce: Lock that counts the requests.
        limit_s: Length of the period, in seconds.
        stop: Function that stops the server.
        is_busy: Function that returns whether an action is running, for example for a webhook whose request has ended.
    """
    while (left := limit_s - quiesce.idle_s()) > 0 or is_busy():  # noqa: ASYNC110 - no event ends the period
        await asyncio.sleep(max(left, min(limit_s, 1.0)))
    stop()


class Resumption:
    """Stored control token, time and state of the random number generators, which the next start uses.

    The class stores the time at each change, so that the time is not lost if the process is killed. The class stores
    the state of the random number generators at a regular stop, and only the next start uses the stored state. After a
    crash, the state is unknown, so the next start uses new generators.

    Args:
        store: The database of the stored state.
        setting: Value of the setting ``clock``. The class ignores a time that it stored with a different value.
    """

    def __init__(self, store: Store, setting: str) -> None:
        self._store = store
        self._setting = setting
        self.control_token, self._clock, self._streams = store.run_now(self._take)

    @property
    def boot(self) -> int | None:
        """Number of starts before the start that created the stored generators, or None if none are stored."""
        return None if self._streams is None else int(self._streams["boot"])

    def resume(self, clock: Clock, randomness: Randomness) -> None:
        """Restores the time and the random number generators. Stores all later changes of the time."""
        if self._clock is not None and self._clock["setting"] == self._setting:
            clock.restore(self._clock["state"])
        if self._streams is not None:
            randomness.restore(self._streams["drawn"])
        clock.on_change(lambda: self._save_clock(clock))

    def keep(self, randomness: Randomness, boot: int) -> None:
        """Stores the state of the random number generators at a regular stop.

        Args:
            randomness: The random number generators.
            boot: Number of starts before the start that created the generators. See `Randomness`.
        """
        kept = json.dumps({"boot": boot, "drawn": randomness.state()})
        self._store.run_now(lambda connection: set_meta(connection, _RANDOMNESS, kept))

    def _take(self, connection: Connection) -> tuple[str, dict[str, Any] | None, dict[str, Any] | None]:
        token = get_meta(connection, _TOKEN) or secrets.token_urlsafe(32)
        set_meta(connection, _TOKEN, token)
        clock, streams = (parse(get_meta(connection, name) or _NOTHING) for name in (_CLOCK, _RANDOMNESS))
        set_meta(connection, _RANDOMNESS, _NOTHING)
        return token, clock, streams

    def _save_clock(self, clock: Clock) -> None:
        kept = json.dumps({"setting": self._setting, "state": clock.state()})
        self._store.run_now(lambda connection: set_meta(connection, _CLOCK, kept))
