"""Starting runs by the clock (specification 6.2; reference facts 10.3).

Schedules are looked at every 30 seconds of the emulator's clock; a look starts at most one run a trigger, that of the
first tick after the last one that had its run. So after a stop the missed ticks follow, one a scan, none twice. A
clock that jumps ahead is scanned as often as it would have been had it walked.

The scanner sleeps until the first scan at which something is due, so idle schedules cost nothing.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection

from svcnb.emulator.clock import Clock
from svcnb.emulator.store import Store, StoreUnavailable
from svcnb.emulator.triggers.admission import admit, is_admitted, room, run_id
from svcnb.emulator.triggers.rules import schedule
from svcnb.emulator.triggers.store import (
    TriggerRecord,
    change_trigger,
    enabled_triggers,
    find_trigger,
    from_json,
    to_json,
)
from svcnb.emulator.triggers.timing import Timer

_LOG = logging.getLogger(__name__)
_STORE_RETRY_S: Final = 1.0


class Schedules:
    """The scanner of schedule triggers.

    Args:
        store: The database.
        clock: The time that counts.
        interval_s: Seconds between scans.
        wake: Called with the trigger's id after a run was admitted.
    """

    def __init__(self, store: Store, clock: Clock, interval_s: float, wake: Callable[[str], None]) -> None:
        self._store = store
        self._clock = clock
        self._interval_s = interval_s
        self._wake = wake
        self._timer = Timer(clock)
        self._poke = asyncio.Event()
        self._next_scan = clock.now()

    def poke(self) -> None:
        """A schedule was added, changed or removed."""
        self._poke.set()

    async def run(self) -> None:
        """Scans until cancelled."""
        self._next_scan = self._clock.now()
        while True:
            self._poke.clear()
            try:
                await self._round()
            except StoreUnavailable as error:
                _LOG.warning("the database is away (%s): schedules wait", error.message)
                await asyncio.sleep(_STORE_RETRY_S)

    async def _round(self) -> None:
        triggers = await self._store.run(lambda connection: enabled_triggers(connection, "schedule"))
        now = self._clock.now()
        if self._next_scan > now + self._interval_s:
            self._next_scan = now  # the clock was set back
        due = {trigger.id: _next_tick(trigger) for trigger in triggers}
        scan = self._scan_for(min(due.values(), default=math.inf))
        if scan > now:
            await self._timer.until(scan, self._poke)
            return
        admitted = [await self._admit(trigger, scan) for trigger in triggers if due[trigger.id] <= scan]
        self._next_scan = scan + self._interval_s
        if not any(admitted):
            # All queues are full: scans within a jump of the clock would find the same again and again.
            self._next_scan = max(self._next_scan, self._last_scan_until(now) + self._interval_s)

    def _scan_for(self, due: float) -> float:
        """The first scan at or after a moment."""
        if due <= self._next_scan or math.isinf(due):
            return self._next_scan if due <= self._next_scan else math.inf
        return self._next_scan + math.ceil((due - self._next_scan) / self._interval_s) * self._interval_s

    def _last_scan_until(self, now: float) -> float:
        return self._next_scan + math.floor((now - self._next_scan) / self._interval_s) * self._interval_s

    async def _admit(self, trigger: TriggerRecord, scan: float) -> bool:
        done = await self._store.run(lambda connection: _admit_tick(connection, trigger.id, scan, self._clock.now()))
        if done:
            self._wake(trigger.id)
        return done


def _next_tick(trigger: TriggerRecord) -> float:
    return schedule(from_json(trigger.config)).next_after(trigger.watermark)


def _admit_tick(connection: Connection, trigger_id: str, scan: float, now: float) -> bool:
    """Admits the first due tick; everything is looked at again, inside the transaction."""
    trigger = find_trigger(connection, trigger_id)
    if trigger is None or not trigger.enabled or trigger.kind != "schedule":
        return False
    tick = _next_tick(trigger)
    if tick > scan or room(connection, trigger) == 0:
        return False
    scheduled_at = datetime.fromtimestamp(tick, UTC).isoformat().replace("+00:00", "Z")
    identifier = run_id(trigger_id, f"schedule:{scheduled_at}")
    change_trigger(connection, trigger_id, {"watermark": tick})
    if is_admitted(connection, identifier):
        return True
    given = {"source": "schedule", "scheduled_at": scheduled_at, "cron": from_json(trigger.config)["cron"]}
    admit(connection, trigger, identifier, to_json(given), now)
    return True
