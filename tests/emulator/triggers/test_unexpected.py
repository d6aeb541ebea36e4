"""After an unexpected error in the start, execution or recording of a run, the run ends and its queue continues.

The errors are real: database triggers reject rows, or a row contains invalid JSON.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.triggers import queue, routes
from svcnb.emulator.triggers.errors import Refused


@pytest.fixture
def database(store_url: str | None) -> str | None:
    """URL of a database of each kind, including one in memory."""
    return store_url


@pytest.fixture
def refuse(store: Store):
    """Makes the database reject updates of matching runs. Returns a function that permits the updates again."""

    async def execute(statement: str) -> None:
        await store.run(lambda connection: connection.run(statement))

    async def begin(condition: str):
        if store.shared:
            await execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'refused' USING DETAIL = NEW.input; END $$"
            )
            await execute(
                "CREATE TRIGGER refuse BEFORE UPDATE ON trigger_runs FOR EACH ROW "
                f"WHEN ({condition}) EXECUTE FUNCTION refuse()"
            )
            return lambda: execute("DROP TRIGGER refuse ON trigger_runs")
        await execute(
            f"CREATE TRIGGER refuse BEFORE UPDATE ON trigger_runs WHEN {condition} "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
        return lambda: execute("DROP TRIGGER refuse")

    return begin


TRIES = 20
"""Number of failures of a queue after which it is certain that the queue never continues."""


@pytest.fixture(autouse=True)
def without_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a failing queue retry quickly, so that the test fails quickly."""
    monkeypatch.setattr(queue, "_STORE_RETRY_S", 0.01)
    monkeypatch.setattr(queue, "_LONGEST_PAUSE_S", 0.05)


@pytest.fixture
def ended(parts, caplog):
    """Waits like `parts.ended`, but fails after this number of failures of the trigger's queue."""

    async def wait(trigger):
        def all_ended(found):
            failed = sum("could not store a result" in record.getMessage() for record in caplog.records)
            assert failed < TRIES, caplog.text
            return all(run.finished_at is not None for run in found)

        await parts.until(trigger, all_ended)
        return await parts.ended(trigger)

    return wait


def told(caplog: pytest.LogCaptureFixture) -> str:
    """Returns the logged errors."""
    return "\n".join(record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR)


async def test_a_run_whose_end_is_refused_fails_and_the_next_one_begins(parts, refuse, caplog, ended):
    trigger = await parts.trigger()
    await refuse("NEW.id = 'bad' AND NEW.status = 'success'")
    await parts.run(trigger, "bad", {"secret": "of the caller"})
    await parts.run(trigger, "good")
    bad, good = await ended(trigger)
    assert (bad.status, good.status) == ("failed", "success")
    assert bad.error.startswith("the run ended (success), but the service could not store the result (")
    assert bad.response is None
    assert [call.run_id for call in parts.execution.calls] == ["bad", "good"]
    assert "refused" in caplog.text
    assert "of the caller" not in caplog.text


async def test_a_run_that_cannot_be_begun_fails_and_the_next_one_begins(parts, refuse, caplog, ended):
    trigger = await parts.trigger()
    await refuse("NEW.id = 'bad' AND NEW.status = 'running'")
    await parts.run(trigger, "bad")
    await parts.run(trigger, "good")
    bad, good = await ended(trigger)
    assert (bad.status, good.status) == ("failed", "success")
    assert bad.error.startswith("the service could not start this run (")
    assert [call.run_id for call in parts.execution.calls] == ["good"]
    assert "refused" in caplog.text


async def test_an_error_in_the_next_run_does_not_affect_the_ended_one(parts, refuse, ended):
    trigger = await parts.trigger()
    await refuse("NEW.id = 'bad' AND NEW.status = 'running'")
    gate = parts.execution.gates[trigger.action_code] = asyncio.Event()
    await parts.run(trigger, "first")
    await parts.execution.calls_made(1)
    await parts.run(trigger, "bad")
    gate.set()
    first, bad = await ended(trigger)
    assert (first.status, first.error, bad.status) == ("success", None, "failed")


async def test_a_result_waits_until_the_database_is_available(parts, refuse):
    stuck, other = await parts.trigger(), await parts.trigger()
    take_again = await refuse("NEW.id = 'bad' AND NEW.status <> 'running'")
    await parts.run(stuck, "bad")
    await parts.run(stuck, "next")
    await parts.run(other, "other")
    assert [run.status for run in await parts.ended(other)] == ["success"]
    await parts.execution.calls_made(2)
    assert [run.status for run in await parts.runs(stuck)] == ["running", "queued"]
    await take_again()
    bad, after = await parts.ended(stuck)
    assert (bad.status, bad.error, after.status) == ("success", None, "success")
    assert [call.run_id for call in parts.execution.calls].count("bad") == 1


async def test_a_run_whose_input_cannot_be_read_fails_and_the_next_one_begins(parts, store, caplog):
    trigger = await parts.trigger()
    await parts.change(trigger, enabled=False)
    await parts.run(trigger, "bad")
    await parts.run(trigger, "good")
    damaged = "UPDATE trigger_runs SET input = :input WHERE id = 'bad'"
    await store.run(lambda connection: connection.run(damaged, input='{"cut off'))
    await parts.change(trigger, enabled=True)
    parts.queues.wake(trigger.id)
    bad, good = await parts.ended(trigger)
    assert (bad.status, good.status) == ("failed", "success")
    assert bad.error == queue.BROKEN.format("JSONDecodeError")
    assert "run bad could not be executed" in told(caplog)


async def test_a_schedule_that_cannot_be_read_does_not_delay_others(store, clock, parts, caplog):
    from svcnb.emulator.triggers.schedules import Schedules

    broken = await parts.trigger("schedule", {"cron": "no cron at all"})
    sound = await parts.trigger("schedule", {"cron": "* * * * *"})
    schedules = Schedules(store, clock, 30, parts.queues.wake)
    looking = asyncio.create_task(schedules.run())
    try:
        clock.advance(90)
        (run,) = await parts.until(sound, lambda found: len(found) == 1 and found[0].finished_at is not None)
        assert run.status == "success"
        assert f"the schedule of trigger {broken.id} cannot be parsed" in told(caplog)
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def test_a_failed_search_for_runs_at_the_start_is_repeated(door, monkeypatch):
    from svcnb.emulator.triggers import service

    triggers = await door.service.get_triggers()
    monkeypatch.setattr(service, "_LOOK_S", 0.05)
    looks = 0

    async def away() -> None:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise StoreUnavailable("somebody else holds it")

    triggers.queues.start = triggers.queues.look = away
    async with asyncio.timeout(60):
        await triggers._begin()
    assert looks == 3


def test_values_that_json_cannot_store_have_separate_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match=r"the body contains NaN or Infinity: send finite numbers"):
        routes._json({"n": float("nan")})

    def too_deep(_value: object) -> str:
        raise RecursionError  # a real deep value crashes Python if a library has raised the recursion limit

    monkeypatch.setattr(routes, "to_json", too_deep)
    with pytest.raises(Refused, match=r"nested too deeply: send at most 200 levels of nesting"):
        routes._json([])
