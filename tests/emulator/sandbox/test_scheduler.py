"""Accounts share the capacity of an engine, so one account with many runs leaves capacity for others."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from svcnb.emulator.sandbox.scheduler import Shares, slots
from svcnb.emulator.sandbox.spawner import _confine

WORKS = "const main = (n) => [n]"
WAITS = "const main = () => new Promise(() => setInterval(() => {}, 60_000))"


class Time:
    """Clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def test_a_single_account_never_exceeds_the_average(time: Time):
    shares = Shares(time)
    shares.add("alone", 1_000.0)
    assert not shares.exceeds_average("alone")


def test_an_account_with_much_recent_use_has_lower_precedence(time: Time):
    shares = Shares(time)
    shares.add("modest", 1.0)
    shares.add("greedy", 3.0)
    assert shares.exceeds_average("greedy")
    assert not shares.exceeds_average("modest")

    time.now += 2.0  # half of the earlier use counts
    shares.add("modest", 1.5)
    assert not shares.exceeds_average("greedy")
    time.now += 60.0
    assert shares.of("greedy") > 0  # the next read reduces the value
    assert not shares.exceeds_average("greedy")
    assert shares.of("greedy") == 0


def test_a_new_account_starts_with_the_lowest_use_of_the_others(time: Time):
    shares = Shares(time)
    shares.add("steady", 5.0)
    shares.add("newcomer", 0.1)
    assert not shares.exceeds_average("steady")
    shares.add("newcomer", 5.0)
    assert shares.exceeds_average("newcomer")


async def test_the_account_with_the_fewest_slots_receives_the_next():
    places = slots(2)
    came: list[str] = []
    leave = asyncio.Event()

    async def stay(account: str) -> None:
        async with places.hold(account):
            came.append(account)
            await leave.wait()

    first = [asyncio.create_task(stay("many")) for _ in range(2)]
    await asyncio.sleep(0)
    line = [asyncio.create_task(stay(account)) for account in ("many", "many", "few")]
    await asyncio.sleep(0)
    assert (came, places.waiting) == (["many", "many"], 3)

    first[0].cancel()
    await asyncio.gather(first[0], return_exceptions=True)
    await asyncio.sleep(0)
    assert came == ["many", "many", "few"]
    leave.set()
    await asyncio.gather(first[1], *line)
    assert (len(came), places.waiting) == (5, 0)


async def test_some_slots_are_reserved_for_accounts_without_a_slot():
    places = slots(16)
    async with AsyncExitStack() as held:
        for account in ["greedy"] * 12 + ["second"] * 2:
            await held.enter_async_context(places.hold(account))
        lines = [
            asyncio.ensure_future(held.enter_async_context(places.hold(account))) for account in ("greedy", "second")
        ]
        await asyncio.sleep(0)
        assert places.waiting == 2
        for account in ("modest", "newcomer"):
            await held.enter_async_context(places.hold(account))
        assert places.waiting == 2
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)


async def test_a_cancelled_caller_passes_its_slot_to_the_next():
    places = slots(1)
    leave = asyncio.Event()
    came: list[str] = []

    async def stay(account: str) -> None:
        async with places.hold(account):
            came.append(account)
            await leave.wait()

    tasks = [asyncio.create_task(stay(account)) for account in ("a", "b", "c")]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)  # the pool assigns its place to the next caller, whose task has not run yet
    tasks[1].cancel()
    leave.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert came == ["a", "c"]
    assert places.waiting == 0


@pytest.mark.engine
def test_an_account_with_endless_runs_does_not_use_all_slots(new_room: Any):
    room = new_room(spares=1, concurrency=4)
    endless = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account="greedy")) for _ in range(6)]
    room.until(lambda: room.engine.state().running == 3, "three of four places are taken")
    assert room.value(WORKS, 1, host=room.host(account="modest")) == [1]
    state = room.engine.state()
    assert (state.running, state.waiting) == (3, 3)
    room.call(room.engine.stop())
    assert {future.result(600).error_kind for future in endless if not future.exception(600)} == {"host"}


@pytest.mark.engine
def test_the_last_spare_is_kept_for_accounts_that_used_less(new_room: Any):
    room = new_room(spares=2)
    room.until(lambda: room.engine.state().ready == 2, "both spares are ready")
    known(room.engine._shares)
    spawner = room.engine._pool._host._spawner.pid
    os.kill(spawner, signal.SIGSTOP)  # no other spare becomes available
    try:
        assert room.value(WORKS, 1, host=room.host(account="greedy")) == [1]
        late = room.submit(WORKS, 2, timeout_ms=600_000, host=room.host(account="greedy"))
        room.until(lambda: room.engine.state().waiting == 1, "it waits although a spare is ready")
        assert room.engine.state().ready == 1
        assert room.value(WORKS, 3, host=room.host(account="modest")) == [3]
        assert not late.done()
    finally:
        os.kill(spawner, signal.SIGCONT)
    assert late.result(600).response == [2]


def known(shares: Shares) -> None:
    """Records that one account used much more time than another account, and stops the decrease of the recorded use."""
    now = shares._as_of
    shares._clock = lambda: now
    shares.add("modest", 0.1)
    shares.add("greedy", 1000.0)


@pytest.mark.engine
def test_spares_for_accounts_that_used_more_are_warmed_one_at_a_time(new_room: Any):
    room = new_room(spares=3)
    room.until(lambda: room.engine.state().ready == 3, "all spares are ready")
    pool = room.engine._pool
    known(room.engine._shares)
    spawner = pool._host._spawner.pid
    os.kill(spawner, signal.SIGSTOP)  # the runs that started do not end
    try:
        waiting = [
            room.submit(WORKS, n, timeout_ms=600_000, host=room.host(account="greedy"))
            for n in range(2 + 2)  # they can use two spares, but not the last one
        ]
        room.until(lambda: room.engine.state().waiting == 2, "the others wait")
        room.until(lambda: len(pool._starting) == 1, "one spare is being warmed")
        assert room.value(WORKS, 9, host=room.host(account="modest")) == [9]
        assert len(pool._starting) == 1
        late = room.submit(WORKS, 10, timeout_ms=600_000, host=room.host(account="modest"))
        room.until(lambda: len(pool._starting) == pool._max_starting, "now one is wanted by somebody else")
    finally:
        os.kill(spawner, signal.SIGCONT)
    assert late.result(600).response == [10]
    assert [run.result(600).response for run in waiting] == [[0], [1], [2], [3]]


@pytest.mark.engine
def test_runs_of_accounts_with_more_use_have_a_lower_priority_from_the_start(new_room: Any):
    room = new_room(spares=2)
    room.engine._brief_s = 1_000_000.0  # the engine lowers no priority during this test
    known(room.engine._shares)
    runs = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account=name)) for name in ("modest", "greedy")]
    room.until(lambda: room.engine.state().running == 2, "both run")
    lowered = {session.host.account: session.lowered for session in room.engine._sessions}
    assert lowered == {"modest": False, "greedy": True}
    room.call(room.engine.stop())
    assert [run.result(600).error_kind for run in runs] == ["host", "host"]


CORES = os.sched_getaffinity(0) if sys.platform == "linux" else set()
KEPT = set(sorted(CORES)[: max(1, len(CORES) // 4)])
several_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs Linux and two cores")


def cores_of(pid: int) -> set[frozenset[int]]:
    """Returns the cores that the threads of a process can use."""
    found = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            found.add(frozenset(os.sched_getaffinity(int(thread.name))))
        except ProcessLookupError:
            continue  # the thread has ended
    return found


def niceness_of_session(pid: int) -> int:
    """Returns the niceness of a session, or 0 if the kernel does not schedule by session."""
    try:
        return int(Path(f"/proc/{pid}/autogroup").read_text().split()[-1])
    except OSError:
        return 0


@pytest.mark.engine
@several_cores
def test_runs_of_accounts_with_more_use_leave_the_reserved_cores(new_room: Any):
    room = new_room(spares=2)
    room.engine._brief_s = 1_000_000.0  # the engine lowers no priority during this test
    room.until(lambda: room.engine.state().ready == 2, "both spares are ready")
    known(room.engine._shares)
    runs = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account=name)) for name in ("modest", "greedy")]
    room.until(lambda: room.engine.state().running == 2, "both run")
    pids = {session.host.account: session.isolate.pid for session in room.engine._sessions}
    room.until(lambda: cores_of(pids["greedy"]) == {frozenset(CORES - KEPT)}, "one stands aside")
    assert cores_of(pids["modest"]) == {frozenset(CORES)}
    room.call(room.engine.stop())
    assert [run.result(600).error_kind for run in runs] == ["host", "host"]


@pytest.mark.engine
@several_cores
def test_a_low_priority_spare_warms_up_off_the_reserved_cores(new_room: Any):
    room = new_room(spares=2)
    room.until(lambda: room.engine.state().ready == 2, "both spares are ready")
    pool = room.engine._pool
    first = pool._ready[0]
    known(room.engine._shares)
    spawner = pool._host._spawner.pid
    assert room.value(WORKS, 1, host=room.host(account="greedy")) == [1]
    room.until(lambda: room.engine.state().ready >= 2, "another spare is warm")
    second, third = list(pool._ready)[:2]
    assert second is not first
    assert cores_of(second.pid) == {frozenset(CORES)}
    room.until(lambda: os.sched_getaffinity(third.pid) == KEPT, "its main thread was brought near")
    assert cores_of(third.pid) == {frozenset(KEPT), frozenset(CORES - KEPT)}
    assert cores_of(spawner) == {frozenset(CORES)}

    runs = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account="modest")) for _ in range(2)]
    room.until(lambda: room.engine.state().running == 2, "both run")
    assert {session.isolate.pid for session in room.engine._sessions} == {second.pid, third.pid}
    room.until(lambda: cores_of(third.pid) == {frozenset(CORES)}, "a run that goes on may use all cores")
    room.call(room.engine.stop())
    assert [run.result(600).error_kind for run in runs] == ["host", "host"]


@several_cores
def test_without_control_of_cores_nothing_changes():
    nowhere = {max(CORES) + 1024}
    with pytest.raises(OSError, match="Invalid argument"):
        os.sched_setaffinity(0, nowhere)
    _confine(os.getpid(), nowhere)
    assert cores_of(os.getpid()) == {frozenset(CORES)}
    _confine(os.getpid(), set())  # macOS
    assert cores_of(os.getpid()) == {frozenset(CORES)}


@pytest.mark.slow
@pytest.mark.engine
def test_many_operations_are_processed_a_few_at_a_time(new_room: Any):
    room = new_room(spares=1)
    turns = [0]
    heard_in: list[int] = []
    host = room.host()

    async def decrypt(*_: str) -> str:
        heard_in.append(turns[0])
        return "plain"

    host.key_operation = decrypt

    async def count_turns() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    counting = asyncio.run_coroutine_threadsafe(count_turns(), room.loop)
    try:
        source = """const main = async () => (await Promise.all(Array.from({ length: 5000 },
          () => Svc.Actions.Decrypt({ pkpId: '0x', ciphertext: '00' })))).length"""
        assert room.value(source, host=host, timeout_ms=600_000) == 5000
    finally:
        counting.cancel()
    assert len(heard_in) == 5000
    assert max(heard_in.count(turn) for turn in set(heard_in)) <= 16


def two_processes(room: Any) -> None:
    """Two processes of the engine `fast`, without a third process, which a waiting run can request."""
    room.until(lambda: room.engine.state().ready == 1, "the first process is ready")
    assert room.value(WORKS, 0, host=room.host(account="modest")) == [0]
    room.until(lambda: room.engine.state().ready == 2, "both processes are ready")


@pytest.mark.engine
def test_the_last_reused_process_is_kept_for_accounts_with_less_use(new_room: Any):
    room = new_room(kind="fast", processes=2)
    two_processes(room)
    pool = room.engine._pool
    known(room.engine._shares)
    spawner = pool._host._spawner.pid
    os.kill(spawner, signal.SIGSTOP)  # no other process starts
    try:
        endless = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account="greedy")) for _ in range(3)]
        room.until(lambda: room.engine.state().running == 1 and len(pool._waiting) == 2, "one runs, two wait")
        assert room.value(WORKS, 9, host=room.host(account="modest")) == [9]
    finally:
        os.kill(spawner, signal.SIGCONT)
    room.call(room.engine.stop())
    assert {run.exception(600) is None and run.result().error_kind for run in endless} <= {"host", False}


@pytest.mark.engine
def test_the_last_process_is_not_for_an_account_with_other_runs(new_room: Any):
    room = new_room(kind="fast", processes=2)
    two_processes(room)
    shares = room.engine._shares
    now = shares._as_of
    shares._clock = lambda: now  # the recorded use does not decrease
    shares._used = dict.fromkeys(("modest", "greedy"), 1000.0)
    spawner = room.engine._pool._host._spawner.pid
    os.kill(spawner, signal.SIGSTOP)  # no other process starts
    try:
        endless = [room.submit(WAITS, timeout_ms=600_000, host=room.host(account="greedy")) for _ in range(2)]
        room.until(lambda: room.engine.state().running + len(room.engine._pool._waiting) == 2, "both were looked at")
        assert room.engine.state().running == 1
        assert room.value(WORKS, 9, host=room.host(account="modest")) == [9]
    finally:
        os.kill(spawner, signal.SIGCONT)
    room.call(room.engine.stop())
    assert {run.exception(600) is None and run.result().error_kind for run in endless} <= {"host", False}


@pytest.mark.slow
@pytest.mark.engine
@several_cores
def test_a_reused_process_leaves_the_reserved_cores_only_during_a_run(new_room: Any):
    room = new_room(kind="fast", processes=2)
    room.engine._brief_s = 1_000_000.0
    assert room.value(WORKS, 0, host=room.host(account="modest")) == [0]
    known(room.engine._shares)
    short = "const main = () => new Promise((done) => setTimeout(() => done([1]), 500))"
    run = room.submit(short, timeout_ms=600_000, host=room.host(account="greedy"))
    room.until(lambda: room.engine.state().running == 1, "it runs")
    (pid,) = (session.isolate.pid for session in room.engine._sessions)
    room.until(lambda: run.done() or cores_of(pid) == {frozenset(CORES - KEPT)}, "it stands aside")
    if os.geteuid() == 0 and Path("/proc/self/autogroup").exists():
        room.until(lambda: run.done() or niceness_of_session(pid) == 19, "its session is nice")
    assert not run.done()
    assert run.result(600).response == [1]
    room.until(lambda: cores_of(pid) == {frozenset(CORES)}, "it is back on all cores")
    room.until(lambda: niceness_of_session(pid) == 0, "its session has its share again")
