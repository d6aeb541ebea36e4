"""Scanner that starts runs for schedules (docs/service/triggers.md#sources-of-runs).

A *tick* is a time that matches a schedule. The interval between scan times is the setting ``schedule_scan_s``, in
seconds of the emulator's clock. The scanner sleeps until the first scan time at which a schedule is due, so idle
schedules use no processor time.

A scan starts at most one run per trigger, for the first tick without a run. After a restart of the emulator, the scans
therefore start the missed runs one after another. After a clock jump, the scanner executes the scans of the skipped
time, except for scan times without a due schedule. If all queues are full, the scanner omits the remaining scans.
"""

from __future__ import annotations

import logging
import math
from datetime import UTC, datetime

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.triggers.admission import admit, is_admitted, room, run_id
from svcnb.emulator.triggers.rules import schedule
from svcnb.emulator.triggers.scanner import Scanner
from svcnb.emulator.triggers.store import (
    TriggerRecord,
    change_trigger,
    enabled_triggers,
    find_trigger,
    from_json,
    to_json,
)

_LOG = logging.getLogger(__name__)


class Schedules(Scanner):
    """Scanner of schedule triggers. See `Scanner` for the arguments."""

    what = "schedules"

    async def _round(self) -> None:
        triggers = await self._store.run_long(lambda connection: enabled_triggers(connection, "schedule"))
        now = self._clock.now()
        if self._next_look > now + self._interval_s:
            self._next_look = now  # a user has set the clock back
        due = {trigger.id: _due(trigger) for trigger in triggers}
        scan = self._scan_for(min(due.values(), default=math.inf))
        if scan > now:
            await self._timer.until(scan, self._woken)
            return
        admitted = [await self._admit(trigger, scan) for trigger in triggers if due[trigger.id] <= scan]
        self._next_look = scan + self._interval_s
        if not any(admitted):
            # All queues are full, so more scans within a clock jump have no effect.
            self._next_look = max(self._next_look, self._last_scan_until(now) + self._interval_s)

    def _scan_for(self, due: float) -> float:
        """Returns the time of the first scan at or after a given time."""
        if due <= self._next_look or math.isinf(due):
            return self._next_look if due <= self._next_look else math.inf
        return self._next_look + math.ceil((due - self._next_look) / self._interval_s) * self._interval_s

    def _last_scan_until(self, now: float) -> float:
        return self._next_look + math.floor((now - self._next_look) / self._interval_s) * self._interval_s

    async def _admit(self, trigger: TriggerRecord, scan: float) -> bool:
        done = await self._store.run(lambda connection: _admit_tick(connection, trigger.id, scan, self._clock.now()))
        if done:
            self._wake_queue(trigger.id)
        return done


def _due(trigger: TriggerRecord) -> float:
    """Returns the time of the next tick, or infinity for an unreadable schedule, so that the scan continues."""
    try:
        return _next_tick(trigger)
    except Exception:  # noqa: BLE001 - see the docstring
        _LOG.exception("the schedule of trigger %s cannot be parsed", trigger.id)
        return math.inf


def _next_tick(trigger: TriggerRecord) -> float:
    return schedule(from_json(trigger.config)).next_after(trigger.watermark)


def _admit_tick(connection: Connection, trigger_id: str, scan: float, now: float) -> bool:
    """Creates a run for the first due tick of a trigger, unless the tick already has a run.

    Returns:
        Whether a tick was due and now has a run. False if no tick is due, the queue is full, or the trigger is disabled
        or is not a schedule.
    """
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
