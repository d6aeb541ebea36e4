# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Spares, concurrency, lost processes, and the absence of remaining processes."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from svcnb.bundles import read_bundle
from svcnb.emulator.sandbox import v8
from svcnb.emulator.sandbox.isolate import Isolate, ProcessorUse
from svcnb.emulator.sandbox.pool import Pool, _Waiting
from svcnb.emulator.sandbox.process import ProcessHost
from svcnb.emulator.sandbox.protocol import EngineUnavailable
from svcnb.emulator.sandbox.scheduler import Shares
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.tools import ToolMissing

pytestmark = pytest.mark.engine

WORKS = "const main = (n) => [n]"


def of_room(room: Any, live_isolates: Any) -> list[int]:
    """Returns the live isolates of one engine, because the isolates of shared engines can change during the test."""
    spawner = room.engine._pool._host._spawner.pid
    return [pid for pid, parent in live_isolates().items() if parent == spawner]


def test_starting_does_not_wait_for_spares_and_the_first_run_takes_the_first_one(new_room: Any):
    room = new_room(spares=1)
    assert room.engine.state().ready == 0
    assert room.value(WORKS, 1) == [1]


def test_starts_after_a_loss_share_one_new_host_and_do_not_decompress_bundles_on_the_event_loop(
    new_room: Any, monkeypatch: pytest.MonkeyPatch
):
    readers: list[threading.Thread] = []

    def noted(path: Path) -> bytes:
        if path == V8Engine._bootstrap:
            readers.append(threading.current_thread())
        return read_bundle(path)

    async def loop_thread() -> threading.Thread:
        return threading.current_thread()

    monkeypatch.setattr("svcnb.emulator.sandbox.pooled.read_bundle", noted)
    room = new_room(spares=2)
    pool = room.engine._pool
    room.until(lambda: room.engine.state().ready == 2, "both spares are ready")
    lost = pool._host
    os.kill(lost.pid, signal.SIGKILL)
    room.until(lambda: pool._host not in (None, lost) and room.engine.state().ready == 2, "both spares are replaced")
    assert len(readers) == 2
    assert room.call(loop_thread()) not in readers


def test_the_first_process_starts_alone_and_fills_the_code_cache(new_room: Any, monkeypatch: pytest.MonkeyPatch):
    under_way: list[Isolate] = []
    at_once: list[tuple[object, int]] = []  # shared engines may start processes during the test
    start = Isolate.start

    async def noted(isolate: Isolate, *args: Any, **how: Any) -> None:
        under_way.append(isolate)
        at_once.append((isolate._host, sum(other._host is isolate._host for other in under_way)))
        await start(isolate, *args, **how)
        under_way.remove(isolate)

    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(Isolate, "start", noted)
    room = new_room(spares=4)
    room.until(lambda: room.engine.state().ready == 4, "four spares")
    assert [number for host, number in at_once if host is room.engine._pool._host] == [1, 1, 2, 3]


def test_spares_are_refilled_at_once_and_never_used_twice(new_room: Any):
    room = new_room(spares=1)
    for n in range(5):
        assert room.value(WORKS, n) == [n]
    room.until(lambda: room.engine.state().ready >= 1, "the pool is full again")
    assert room.engine.state().started >= 6


@pytest.mark.slow
def test_idle_spares_use_no_processor_time(new_room: Any, live_isolates: Any):
    room = new_room(spares=2)
    room.until(lambda: room.engine.state().ready == 2, "both spares are ready")
    mine = of_room(room, live_isolates)
    assert len(mine) == 2

    def ticks() -> int:
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in mine]
        return sum(int(f[11]) + int(f[12]) for f in fields)

    def spent_in_a_second() -> int:
        before = ticks()
        time.sleep(1)
        return ticks() - before

    # Hundredths of a second, for both processes together. V8 continues to compile in the background after the warm-up.
    assert any(spent_in_a_second() <= 1 for _ in range(60))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_a_run_stops_after_its_response(new_room: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(v8, "_END_S", 1_000_000.0)  # otherwise, the process has just ended
    room = new_room(spares=1)
    assert room.value("const main = () => { AbortSignal.timeout(60_000); return ['out']; }") == ["out"]
    room.until(lambda: len(room.engine._ending) == 1, "the answer is out")
    (isolate,) = room.engine._ending

    def ticks() -> int:
        fields = Path(f"/proc/{isolate.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def spent_in_a_second() -> int:
        before = ticks()
        time.sleep(1)
        return ticks() - before

    # Hundredths of a second. V8 continues to compile in the background for a while.
    assert any(spent_in_a_second() <= 1 for _ in range(60))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_large_runs_do_not_leak_memory(new_room: Any):
    room = new_room(spares=1)
    source = """const main = ({ n }) => {
      for (let i = 0; i < 10; i++) console.log('x'.repeat(10_000));
      return 'r'.repeat(1_000_000) + n;
    }"""

    def run(times: int) -> None:
        for n in range(times):
            outcome = room.run(source, {"n": n, "ballast": "p" * 500_000})
            assert len(outcome.response) > 1_000_000
            assert len(outcome.logs) == 100_010

    def resident_mb() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def growth_mb() -> float:
        gc.collect()
        before = resident_mb()
        run(20)
        gc.collect()
        return resident_mb() - before

    run(5)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    # Twenty runs transfer 30 MB of responses, logs and parameters. A leak increases the memory use every time. The
    # allocator can increase it once.
    assert any(growth_mb() < 5 for _ in range(8))
    room.until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= descriptors + 2, "descriptors are closed")


@pytest.mark.slow
def test_many_concurrent_runs_start_fewer_processes(new_room: Any, live_isolates: Any):
    room = new_room(spares=1, concurrency=2)
    room.until(lambda: room.engine.state().ready == 1, "the spare is ready")
    spawner = room.engine._pool._host._spawner.pid
    most = 0
    futures = [
        room.submit("const main = async (n) => { await null; return [n]; }", n, timeout_ms=600_000) for n in range(40)
    ]
    while not all(future.done() for future in futures):
        most = max(most, list(live_isolates().values()).count(spawner))
        time.sleep(0.02)
    assert [future.result().response for future in futures] == [[n] for n in range(40)]
    # Running processes, spares (up to four times the setting under load), and starting processes. A busy machine can
    # also still have processes that have just ended.
    assert 0 < most <= 2 + 4 + 2 + 12


@pytest.mark.parametrize(
    ("used_s", "waited_s", "ended", "late", "more"),
    [
        (0.002, 0.001, 5, 1, 1),  # runs wait for something else, such as a request
        (0.030, 0.010, 5, 1, 0),  # the runs use the processors, and another process only makes each run slower
        (0.005, 0.040, 5, 1, 0),  # other programs use the processors
        (0.005, 0.040, 0, 1, 0),
        (0.002, 0.001, 5, 4, 0),  # the service itself waits for a processor
        (0.045, 0.001, 0, 1, 1),  # long runs occupy every process
    ],
)
async def test_another_process_starts_only_where_it_helps_the_runs_that_wait(
    used_s: float, waited_s: float, ended: int, late: float, more: int
) -> None:
    class Working(Isolate):
        def __init__(self) -> None:
            pass

        def processor(self) -> ProcessorUse:
            return ProcessorUse(1 + late * used_s, 1 + late * waited_s)

    now = 100.0
    pool = Pool(ProcessHost, spares=2, shares=Shares(), reuse=True, clock=lambda: now)  # type: ignore[arg-type]
    place = asyncio.get_running_loop().create_future()
    pool._waiting.append(_Waiting("account", place, now - 0.06))
    before = pool._target
    pool._returned = ended
    pool._check_queue(now - late * 0.05, 0, {Working(): ProcessorUse(1, 1), Working(): ProcessorUse(1, 1)})
    assert pool._target - before == more


def test_a_killed_isolate_fails_its_run_alone_and_is_replaced(new_room: Any):
    room = new_room(spares=1)
    future = room.submit("const main = () => new Promise(() => setInterval(() => {}, 60_000))", timeout_ms=600_000)
    room.until(lambda: room.engine.state().running == 1, "it runs")
    (session,) = room.engine._sessions
    os.kill(session.isolate.pid, signal.SIGKILL)
    outcome = future.result(600)
    assert (outcome.ok, outcome.error_kind, outcome.response) == (False, "host", None)
    assert "Nothing was charged" in outcome.error
    assert room.value(WORKS, 1) == [1]


def test_a_killed_spare_is_detected_and_never_used(new_room: Any, live_isolates: Any):
    room = new_room(spares=1)
    room.until(lambda: room.engine.state().ready == 1, "a spare is ready")
    (spare,) = of_room(room, live_isolates)
    begun = room.engine.state().started
    os.kill(spare, signal.SIGKILL)
    # The next spare can be ready before the check.
    room.until(lambda: room.engine.state().ready == 0 or room.engine.state().started > begun, "the spare is gone")
    assert room.value(WORKS, 2) == [2]


def test_a_lost_spawner_and_its_isolates_are_replaced(new_room: Any, live_isolates: Any):
    room = new_room(spares=1)
    future = room.submit("const main = () => new Promise(() => setInterval(() => {}, 60_000))", timeout_ms=600_000)
    room.until(lambda: room.engine.state().running == 1, "it runs")
    spawner = room.engine._pool._host._spawner.pid
    children = of_room(room, live_isolates)
    assert children
    folder = Path(room.engine._pool._host._setup["remove"])
    os.kill(spawner, signal.SIGKILL)
    assert future.result(600).error_kind == "host"
    room.until(lambda: not set(children) & set(live_isolates()), "the kernel ended its isolates")
    room.until(lambda: not folder.exists(), "its folder is gone")
    assert room.value(WORKS, 3) == [3]


def test_a_bundle_that_cannot_start_opens_the_circuit_breaker(
    new_room: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bootstrap = tmp_path / "engine.js"
    bootstrap.write_text("throw new Error('broken bundle');")
    monkeypatch.setattr(V8Engine, "_bootstrap", bootstrap)
    room = new_room()
    with pytest.raises(EngineUnavailable, match="broken bundle"):
        room.run(WORKS)
    assert room.engine.state().available is False
    host = room.engine._pool._host
    with pytest.raises(EngineUnavailable):
        room.run(WORKS)
    assert room.engine._pool._host is host
    room.until(lambda: not room.engine._pool._starting, "what had been begun before has failed, too; nothing follows")


def test_the_module_that_deno_searches_for_imports_is_short():
    # The bootstrap script is a text, which V8 runs directly. V8 reads a module twice in the first processes.
    assert V8Engine._bootstrap.stat().st_size < 2_000
    assert len(read_bundle(V8Engine._bootstrap.with_name("bootstrap.js"))) > 200_000


def test_a_missing_bundle_names_the_command_that_makes_it(
    new_room: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(V8Engine, "_bootstrap", tmp_path / "none.js")
    with pytest.raises(ToolMissing, match=r"python hatch_build\.py"):
        new_room()


def test_after_a_stop_no_process_and_no_file_remains(new_room: Any, live_isolates: Any):
    room = new_room(spares=2)
    future = room.submit("const main = () => new Promise(() => setInterval(() => {}, 60_000))", timeout_ms=600_000)
    room.until(lambda: room.engine.state().running == 1, "it runs")
    folder = Path(room.engine._pool._host._setup["remove"])
    assert folder.is_dir()
    children = of_room(room, live_isolates)
    assert children
    room.call(room.engine.stop())
    assert future.result(600).error_kind == "host"
    room.until(lambda: not folder.exists(), "its folder is gone")
    assert not any(_runs(pid) for pid in children)
    with pytest.raises(EngineUnavailable):
        room.run(WORKS)


def test_an_emulator_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path):
    script = tmp_path / "emulator.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio, json, sys
        from svcnb.emulator.sandbox.host import ActionHost
        from svcnb.emulator.sandbox.network import Network
        from svcnb.emulator.sandbox.v8 import V8Engine
        from svcnb.emulator.keys.custody import Custody
        from svcnb.emulator.platform.randomness import Randomness
        from svcnb.protocol.limits import ActionLimits
        from svcnb.protocol.vocabulary import Vocabulary

        async def main():
            words = Vocabulary()
            engine = V8Engine(ActionLimits(), spares=1)
            await engine.start()
            host = ActionHost(custody=Custody(b"1" * 32, words, Randomness("x")), cid="Qm", wallet_secret=None,
                              headers={}, network=Network("deny"))
            runs = [asyncio.create_task(engine.run("const main = () => { for (;;); }", None, ActionLimits(), host)) for _ in range(2)]
            while engine.state().running < 2:
                await asyncio.sleep(0.01)
            pool = engine._pool._host
            print(json.dumps({"pids": [s.isolate.pid for s in engine._sessions] + [pool._spawner.pid],
                              "folder": pool._setup["remove"]}), flush=True)
            await asyncio.gather(*runs)

        asyncio.run(main())
        """)
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert all(Path(f"/proc/{pid}").exists() for pid in told["pids"])
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    end = time.monotonic() + 600
    while any(_runs(pid) for pid in told["pids"]) or Path(told["folder"]).exists():
        assert time.monotonic() < end, told
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_every_isolate_has_resource_limits_and_its_own_session(new_room: Any, live_isolates: Any):
    room = new_room(spares=1)
    room.until(lambda: room.engine.state().ready == 1, "a spare is ready")
    for pid in of_room(room, live_isolates):
        limits = Path(f"/proc/{pid}/limits").read_text()
        rows = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}
        assert rows["Max core file size"] == "0"
        assert rows["Max file size"] == str(64 * 2**20)
        assert rows["Max data size"] == str(900 * 2**20)
        assert rows["Max open files"] == "256"
        assert os.getsid(pid) == pid
        assert b"NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_bytes()
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert {entry.partition(b"=")[0] for entry in environment.split(b"\0") if entry} == {
            b"DENO_DIR", b"DENO_NO_UPDATE_CHECK", b"LANG", b"NO_COLOR", b"TZ",
        }  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_a_long_run_gets_a_lower_priority(new_room: Any):
    room = new_room(spares=1)
    future = room.submit("const main = () => new Promise(() => setInterval(() => {}, 60_000))", timeout_ms=600_000)
    room.until(lambda: room.engine.state().running == 1 and room.engine.state().ready >= 1, "one runs, one is spare")
    (session,) = room.engine._sessions
    running = session.isolate.pid

    def niceness(pid: int) -> set[int]:
        found = set()
        with suppress(FileNotFoundError):  # the pool stops a surplus spare
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with suppress(OSError):  # the process has already ended
                    found.add(int((thread / "stat").read_text().rpartition(")")[2].split()[16]))
        return found

    own = os.getpriority(os.PRIO_PROCESS, 0)
    # Ten other runs, each of which needs a new process. They take longer than the check interval, and the spawner
    # executes its commands in sequence.
    for _ in range(10):
        assert room.value("const main = () => 1") == 1
    assert niceness(running) == {min(19, own + 10)}, "all its threads have a lower priority"
    room.until(lambda: room.engine.state().ready >= 1, "there is a spare again")
    spares = [spare.pid for spare in list(room.engine._pool._ready)]
    assert running not in spares
    assert {own} == set().union(*map(niceness, spares))
    os.kill(running, signal.SIGKILL)
    future.result(600)


def test_isolates_inherit_no_descriptor_of_the_emulator(new_room: Any, live_isolates: Any):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        room = new_room(spares=1)
        room.until(lambda: room.engine.state().ready == 1, "a spare is ready")
        for pid in of_room(room, live_isolates):
            links = [str(Path(f"/proc/{pid}/fd/{fd}").readlink()) for fd in ("0", "1", "2")]
            assert links[0].startswith("socket:")
            assert links[0] == links[1]
            assert "stderr" in links[2]
            inode = os.fstat(listener.fileno()).st_ino
            everything = []
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):  # the engine is closing, but still writes compiled code to the cache
                    everything.append(str(entry.readlink()))
            assert f"socket:[{inode}]" not in everything
            assert len(everything) >= 3


def test_the_memory_of_a_run_does_not_count_as_that_of_the_next_one(new_room: Any):
    room = new_room(kind="fast", processes=1, concurrency=1)
    for _ in range(6):
        assert room.value("const main = () => { globalThis.kept = new Uint8Array(1e8).fill(1); return ['kept'] }") == [
            "kept"
        ]


def test_a_process_of_a_cancelled_run_is_passed_to_the_next_run(new_room: Any):
    room = new_room(kind="fast", processes=1, concurrency=8)
    room.until(lambda: room.engine.state().ready == 1, "the process is warm")
    pool = room.engine._pool
    pool._grow = lambda: None  # there is no second process, so all runs wait for this one

    async def scene() -> bool:
        isolate = await pool.take()
        leaving, staying = asyncio.ensure_future(pool.take()), asyncio.ensure_future(pool.take())
        await asyncio.sleep(0)
        pool.give(isolate, again=True)  # the isolate belongs to the first run, which has not been notified yet
        leaving.cancel()
        async with asyncio.timeout(60):
            same = await staying is isolate
        pool.give(isolate, again=True)
        return same

    assert room.call(scene())
    assert room.value(WORKS, 1) == [1]
