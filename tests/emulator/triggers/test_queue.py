"""Execution of runs: order, independence of triggers, retries, and the state after a stop."""

from __future__ import annotations

import asyncio
import json

import pytest

from svcnb.emulator.triggers.outcomes import Answer
from svcnb.emulator.triggers.queue import RetryPolicy
from svcnb.emulator.triggers.transitions import INTERRUPTED

THROWN = "Internal server error: Uncaught (in promise) Error: boom\n    at main (<user_provided_script>:2:9)"
UNAVAILABLE = {"error": "service_unavailable", "message": "The chain is away."}


async def test_a_run_succeeds_with_the_whole_answer_as_its_response(parts):
    trigger = await parts.trigger(default_params='{"a":1,"b":1}')
    await parts.run(trigger, "r1", {"b": 2})
    (run,) = await parts.ended(trigger)
    assert (run.status, run.attempt, run.error) == ("success", 1, None)
    assert run.response == '{"response":{"a":1,"b":2},"logs":"","has_error":false}'
    (call,) = parts.execution.calls
    assert (call.run_id, call.usage_key, call.code) == ("r1", "usage key", trigger.action_code)


async def test_an_input_that_is_not_an_object_becomes_the_member_event(parts):
    trigger = await parts.trigger(default_params='{"a":1}')
    await parts.run(trigger, "r1", ["x"])
    await parts.ended(trigger)
    assert parts.execution.calls[0].params == {"a": 1, "event": ["x"]}


async def test_the_runs_of_a_trigger_follow_one_another_in_order(parts):
    trigger = await parts.trigger()
    for number in range(20):
        await parts.run(trigger, f"r{number}")
    await parts.ended(trigger)
    assert [call.run_id for call in parts.execution.calls] == [f"r{number}" for number in range(20)]
    assert parts.execution.most_at_once == 1


async def test_a_hanging_trigger_does_not_delay_forty_others(parts):
    slow = await parts.trigger()
    parts.execution.gates[slow.action_code] = asyncio.Event()
    await parts.run(slow, "slow")
    others = [await parts.trigger() for _ in range(40)]
    for number, trigger in enumerate(others):
        await parts.run(trigger, f"r{number}")
    for trigger in others:
        await parts.ended(trigger)
    assert [run.status for run in await parts.runs(slow)] == ["running"]


async def test_a_worker_limit_bounds_executions_over_all_triggers(make_parts):
    parts = make_parts(workers=2)
    await parts.queues.start()
    triggers = [await parts.trigger() for _ in range(6)]
    gates = [parts.execution.gates.setdefault(trigger.action_code, asyncio.Event()) for trigger in triggers]
    for number, trigger in enumerate(triggers):
        await parts.run(trigger, f"r{number}")
    await parts.execution.calls_made(2)
    for gate in gates:
        gate.set()
    for trigger in triggers:
        await parts.ended(trigger)
    assert parts.execution.most_at_once == 2
    await parts.queues.stop(1)


async def test_one_owner_never_uses_all_workers(make_parts):
    parts = make_parts(workers=4)
    await parts.queues.start()
    greedy = [await parts.trigger(email="greedy@example.org") for _ in range(10)]
    for number, trigger in enumerate(greedy):
        parts.execution.gates[trigger.action_code] = asyncio.Event()
        await parts.run(trigger, f"r{number}")
    await parts.execution.calls_made(3)
    neighbour = await parts.trigger(email="neighbour@example.org")
    await parts.run(neighbour, "theirs")
    await parts.ended(neighbour)
    assert len(parts.execution.calls) == 4
    for gate in parts.execution.gates.values():
        gate.set()
    for trigger in greedy:
        await parts.ended(trigger)
    await parts.queues.stop(1)


# --- retries --------------------------------------------------------------------------------------------------------

TRANSIENT = {
    "network error": Answer(None, trouble="network error: ConnectError"),
    "429": Answer(429, {"error": "too_many_requests", "message": "busy"}),
    "500": Answer(500, {"error": "internal_error", "message": "broke"}),
    "503": Answer(503, UNAVAILABLE),
}
FINAL = {
    "throw": Answer(500, THROWN),
    "400": Answer(400, "There is no code to run"),
    "401": Answer(401, {"error": "unauthorized", "message": "no such key"}),
    "402": Answer(402, {"error": "payment_required", "message": "needs $0.01"}),
    "403": Answer(403, "not authorised"),
}


@pytest.mark.parametrize("answer", TRANSIENT.values(), ids=TRANSIENT.keys())
async def test_a_transient_failure_is_tried_three_times_more_after_1_5_and_30_seconds(parts, clock, answer):
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [answer] * 4
    begun = clock.now()
    await parts.run(trigger, "r1")
    for number, delay in enumerate((1, 5, 30), start=1):
        (waiting,) = await parts.until(trigger, lambda found: found[0].status == "retrying")
        assert (waiting.attempt, waiting.finished_at) == (number, None)
        assert waiting.error is not None
        clock.advance(delay - 0.25)
        await asyncio.sleep(0.03)
        assert len(parts.execution.calls) == number, "tried again before the delay was over"
        clock.advance(0.25)
        await parts.execution.calls_made(number + 1)
    (run,) = await parts.ended(trigger)
    assert (run.status, run.attempt) == ("failed", 4)
    assert [time - begun for time in parts.execution.times] == [0, 1, 6, 36]
    if answer.status is None:
        assert run.response is None
        assert run.error == answer.trouble
    else:
        assert f"HTTP {answer.status}" in str(run.error)


@pytest.mark.parametrize("answer", FINAL.values(), ids=FINAL.keys())
async def test_any_other_refusal_fails_at_once_and_keeps_the_body(parts, answer):
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [answer]
    await parts.run(trigger, "r1")
    (run,) = await parts.ended(trigger)
    assert (run.status, run.attempt, len(parts.execution.calls)) == ("failed", 1, 1)
    assert str(run.error).startswith(f"HTTP {answer.status}")
    assert run.response is not None


async def test_a_retry_that_succeeds_clears_the_error(parts, clock):
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [TRANSIENT["503"]]
    await parts.run(trigger, "r1")
    await parts.until(trigger, lambda found: found[0].status == "retrying")
    clock.advance(1)
    (run,) = await parts.ended(trigger)
    assert (run.status, run.attempt, run.error) == ("success", 2, None)


async def test_the_error_of_a_failed_action_contains_its_stack(parts):
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [FINAL["throw"]]
    await parts.run(trigger, "r1")
    (run,) = await parts.ended(trigger)
    assert "Error: boom\n    at main" in str(run.error)


async def test_a_failed_action_is_retried_only_with_the_setting(make_parts, clock):
    parts = make_parts(policy=RetryPolicy(3, retry_thrown=True))
    await parts.queues.start()
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [FINAL["throw"]] * 4
    await parts.run(trigger, "r1")
    for number, delay in enumerate((1, 5, 30), start=2):
        await parts.until(trigger, lambda found: found[0].status == "retrying")
        clock.advance(delay)
        await parts.execution.calls_made(number)
    (run,) = await parts.ended(trigger)
    assert (run.status, run.attempt) == ("failed", 4)
    await parts.queues.stop(1)


async def test_a_waiting_retry_delays_only_its_own_trigger(parts, clock):
    failing, healthy = await parts.trigger(), await parts.trigger()
    parts.execution.answers[failing.action_code] = [TRANSIENT["503"]]
    await parts.run(failing, "first")
    await parts.run(failing, "second")
    await parts.until(failing, lambda found: found[0].status == "retrying")
    await parts.run(healthy, "other")
    await parts.ended(healthy)
    assert [run.status for run in await parts.runs(failing)] == ["retrying", "queued"]
    clock.advance(1)
    await parts.ended(failing)
    assert [call.run_id for call in parts.execution.calls] == ["first", "other", "first", "second"]


# --- disabling, deleting, stopping ----------------------------------------------------------------------------------


async def test_queued_runs_of_a_disabled_trigger_wait_until_it_is_enabled(parts):
    trigger = await parts.trigger()
    await parts.change(trigger, enabled=False)
    await parts.run(trigger, "r1")
    await asyncio.sleep(0.05)
    assert parts.execution.calls == []
    await parts.change(trigger, enabled=True)
    parts.queues.wake(trigger.id)
    (run,) = await parts.ended(trigger)
    assert run.status == "success"


async def test_a_trigger_deleted_during_a_run_leaves_no_rows(parts, store):
    from svcnb.emulator.triggers.store import delete_trigger

    trigger = await parts.trigger()
    parts.execution.gates[trigger.action_code] = asyncio.Event()
    await parts.run(trigger, "r1")
    await parts.execution.calls_made(1)
    await store.run(lambda connection: delete_trigger(connection, trigger.id, trigger.user_id))
    parts.execution.gates[trigger.action_code].set()
    await asyncio.sleep(0.05)
    assert await parts.runs(trigger) == []


async def test_queued_runs_survive_a_restart_in_order(make_parts):
    before = make_parts()
    trigger = await before.trigger()
    for number in range(5):
        await before.run(trigger, f"r{number}")
    after = make_parts()
    await after.queues.start()
    await after.ended(trigger)
    assert [call.run_id for call in after.execution.calls] == [f"r{number}" for number in range(5)]
    await after.queues.stop(1)


async def test_a_run_that_was_admitted_at_the_very_moment_of_a_restart_is_executed(parts):
    trigger = await parts.trigger()
    await parts.run(trigger, "r1")
    await parts.queues.restart()  # this iteration of the event loop has woken the queue, but the queue has not started
    assert not any(queue.done() for queue in parts.queues._queues.values())
    (run,) = await parts.ended(trigger)
    assert (run.status, len(parts.execution.calls)) == ("success", 1)


async def test_an_interrupted_execution_runs_again_first_with_the_same_id(make_parts):
    before = make_parts()
    await before.queues.start()
    trigger = await before.trigger()
    before.execution.gates[trigger.action_code] = asyncio.Event()
    await before.run(trigger, "cut")
    await before.run(trigger, "next")
    await before.execution.calls_made(1)
    await before.queues.stop(0)
    assert [run.status for run in await before.runs(trigger)] == ["running", "queued"]
    after = make_parts()
    after.execution.gates[trigger.action_code] = asyncio.Event()
    await after.queues.start()
    await after.execution.calls_made(1)
    (cut, _) = await after.runs(trigger)
    assert (cut.attempt, cut.interruptions, cut.error) == (1, 1, INTERRUPTED)
    after.execution.gates[trigger.action_code].set()
    runs = await after.ended(trigger)
    assert [(run.id, run.status, run.error) for run in runs] == [("cut", "success", None), ("next", "success", None)]
    await after.queues.stop(1)


async def test_a_stop_waits_for_an_execution_that_ends_in_time(make_parts):
    parts = make_parts()
    await parts.queues.start()
    trigger = await parts.trigger()
    gate = parts.execution.gates[trigger.action_code] = asyncio.Event()
    await parts.run(trigger, "r1")
    await parts.execution.calls_made(1)
    stopping = asyncio.create_task(parts.queues.stop(5))
    await asyncio.sleep(0.02)
    gate.set()
    await stopping
    assert [run.status for run in await parts.runs(trigger)] == ["success"]


async def test_a_waiting_retry_survives_a_restart_with_its_delay(make_parts, clock):
    before = make_parts()
    await before.queues.start()
    trigger = await before.trigger()
    before.execution.answers[trigger.action_code] = [TRANSIENT["503"]]
    await before.run(trigger, "r1")
    await before.until(trigger, lambda found: found[0].status == "retrying")
    await before.queues.stop(1)
    after = make_parts()
    await after.queues.start()
    await asyncio.sleep(0.05)
    assert after.execution.calls == []
    clock.advance(1)
    (run,) = await after.ended(trigger)
    assert (run.status, run.attempt, run.interruptions) == ("success", 2, 0)
    await after.queues.stop(1)


async def test_a_key_that_cannot_be_opened_fails_the_run_without_a_call(parts):
    trigger = await parts.trigger(sealed_usage_key="00" * 40)
    await parts.run(trigger, "r1")
    (run,) = await parts.ended(trigger)
    assert (run.status, parts.execution.calls) == ("failed", [])
    assert "usage key" in str(run.error)


async def test_a_new_run_starts_immediately_without_a_timer(parts, monkeypatch):
    """`bench_triggers` measures the delay. This test checks that no queue waits for a poll interval."""
    trigger = await parts.trigger()
    loop = asyncio.get_running_loop()
    call_at, timers = loop.call_at, []

    def noted(when, callback, *args, **options):
        timers.append(callback)
        return call_at(when, callback, *args, **options)

    async with asyncio.timeout(300):
        monkeypatch.setattr(loop, "call_at", noted)
        for number in range(3):
            await parts.run(trigger, f"r{number}")
            await parts.execution.calls_made_without_a_timer(number + 1)
        monkeypatch.undo()
    assert timers == []


async def test_only_the_oldest_ended_runs_of_a_trigger_are_deleted(make_parts, clock):
    parts = make_parts(kept_runs=3)
    await parts.queues.start()
    trigger, other = await parts.trigger(), await parts.trigger()
    await parts.run(other, "of another")
    for number in range(6):
        await parts.run(trigger, f"r{number}")
    assert len(await parts.ended(trigger)) == 6, "the rate limit still counts what began within a minute"
    await parts.queues.stop(1)
    clock.advance(61)
    again = make_parts(kept_runs=3)  # the first ended run after a start triggers the check
    await again.queues.start()
    await again.run(trigger, "last")
    await again.until(trigger, lambda found: {run.id for run in found} == {"last", "r5", "r4"})
    assert [run.id for run in await again.ended(other)] == ["of another"]
    await again.queues.stop(1)


async def test_a_run_ends_with_any_thrown_text(parts):
    """A JavaScript string can contain NUL and half a surrogate pair, which databases cannot store without an escape."""
    trigger = await parts.trigger()
    parts.execution.answers[trigger.action_code] = [
        Answer(500, "boom \0 and \ud83d half"),
        Answer(404, {"error": "\ud83d"}),
    ]
    await parts.run(trigger, "r1", {"text": "\0 \ud83d"})
    await parts.run(trigger, "r2")
    thrown, missing = await parts.ended(trigger)
    assert (thrown.status, missing.status) == ("failed", "failed")
    assert thrown.error == "HTTP 500: boom \0 and \ufffd half"
    assert json.loads(thrown.response) == "boom \0 and \ud83d half"
    assert missing.error == "HTTP 404 \ufffd"
