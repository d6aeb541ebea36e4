"""Schedules with a clock that tests advance."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.triggers.schedules import Schedules
from svcnb.emulator.triggers.store import from_json

NOON = datetime(2027, 3, 1, 12, 0, 10, tzinfo=UTC).timestamp()


@pytest.fixture
def clock():
    return Clock(NOON)


@pytest.fixture
async def scanner(parts, store, clock):
    made = Schedules(store, clock, 30, parts.queues.wake)
    task = asyncio.create_task(made.run())
    yield made
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def ticks(parts: Any, trigger: Any, count: int) -> list[str]:
    runs = await parts.until(trigger, lambda found: len(found) >= count)
    return [from_json(run.input)["scheduled_at"][11:] for run in runs]


async def settled() -> None:
    await asyncio.sleep(0.1)


async def test_a_due_tick_starts_one_run_with_flat_input(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/5 * * * *"})
    scanner.wake()
    clock.advance(300)
    await ticks(parts, trigger, 1)
    (run,) = await parts.ended(trigger)
    assert from_json(run.input) == {
        "source": "schedule",
        "scheduled_at": "2027-03-01T12:05:00Z",
        "cron": "*/5 * * * *",
    }
    assert parts.execution.calls[0].params["scheduled_at"] == "2027-03-01T12:05:00Z"


async def test_nothing_fires_before_its_time(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/5 * * * *"})
    scanner.wake()
    clock.advance(289)
    await settled()
    assert await parts.runs(trigger) == []


async def test_a_tick_fires_at_the_next_scan_not_between(parts, scanner, clock):
    # The scans are at :10 and :40 in this test, so the tick of 12:05:00 starts a run at 12:05:10.
    trigger = await parts.trigger("schedule", {"cron": "*/5 * * * *"})
    scanner.wake()
    clock.advance(295)
    await settled()
    assert await parts.runs(trigger) == []
    clock.advance(5)
    assert await ticks(parts, trigger, 1) == ["12:05:00Z"]


async def test_a_clock_that_jumps_two_hours_fires_every_tick_once_in_order(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"})
    scanner.wake()
    clock.advance(7200)
    seen = await ticks(parts, trigger, 12)
    await settled()
    assert len(await parts.runs(trigger)) == 12
    assert seen[:3] == ["12:10:00Z", "12:20:00Z", "12:30:00Z"]
    await parts.ended(trigger)
    assert [call.params["scheduled_at"][11:] for call in parts.execution.calls] == seen


async def test_after_a_stop_each_scan_starts_one_missed_tick(parts, store, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"})
    clock.advance(3600)  # no scanner is running
    scanner = Schedules(store, clock, 30, parts.queues.wake)
    task = asyncio.create_task(scanner.run())
    assert await ticks(parts, trigger, 1) == ["12:10:00Z"]
    await settled()
    assert len(await parts.runs(trigger)) == 1
    clock.advance(30)
    assert await ticks(parts, trigger, 2) == ["12:10:00Z", "12:20:00Z"]
    clock.advance(30)
    assert len(await ticks(parts, trigger, 3)) == 3
    task.cancel()


async def test_a_second_scanner_over_the_same_ticks_admits_nothing_twice(parts, store, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"})
    clock.advance(700)
    for _ in range(3):
        # The test sets the watermark back, as after a lost write. The run's id still identifies the tick.
        await parts.change(trigger, watermark=NOON)
        task = asyncio.create_task(Schedules(store, clock, 30, parts.queues.wake).run())
        await parts.until_changed(trigger, "watermark", NOON)
        await settled()
        task.cancel()
    assert len(await parts.runs(trigger)) == 1


async def test_a_full_queue_keeps_the_tick_for_a_later_scan(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"}, max_queued_runs=1)
    gate = parts.execution.gates[trigger.action_code] = asyncio.Event()
    scanner.wake()
    clock.advance(1800)
    await parts.execution.calls_made(1)
    await settled()
    assert len(await parts.runs(trigger)) == 1
    gate.set()
    await parts.ended(trigger)
    clock.advance(30)
    assert await ticks(parts, trigger, 2) == ["12:10:00Z", "12:20:00Z"]


async def test_a_disabled_trigger_does_not_fire(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"}, enabled=False)
    scanner.wake()
    clock.advance(3600)
    await settled()
    assert await parts.runs(trigger) == []


async def test_a_schedule_with_seconds_fires_twice_a_minute(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "5,35 * * * * *"})
    scanner.wake()
    clock.advance(120)
    assert await ticks(parts, trigger, 4) == ["12:00:35Z", "12:01:05Z", "12:01:35Z", "12:02:05Z"]


async def test_a_clock_set_back_does_not_stop_the_scans(parts, scanner, clock):
    trigger = await parts.trigger("schedule", {"cron": "*/10 * * * *"})
    scanner.wake()
    clock.advance(86_400)
    await ticks(parts, trigger, 5)
    later = await parts.trigger("schedule", {"cron": "*/10 * * * *"}, watermark=NOON)
    clock.freeze(NOON)
    scanner.wake()
    await settled()
    clock.advance(600)
    assert await ticks(parts, later, 1) == ["12:10:00Z"]


async def test_an_idle_scanner_sleeps_until_the_first_scan_that_matters(parts, store, clock, monkeypatch):
    await parts.trigger("schedule", {"cron": "0 0 1 1 *"})
    looks = []
    work = store.run

    async def counted(fn):
        looks.append(fn)
        return await work(fn)

    monkeypatch.setattr(store, "run", counted)
    task = asyncio.create_task(Schedules(store, clock, 30, parts.queues.wake).run())
    await settled()
    for _ in range(20):
        clock.advance(30)
    await settled()
    task.cancel()
    assert len(looks) <= 22
