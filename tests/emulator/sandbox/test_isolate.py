"""Isolates, their spawner and their monitor, with slow processes and processes that have exited."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from svcnb.emulator.sandbox import pooled
from svcnb.emulator.sandbox.isolate import Isolate, StartFailed
from svcnb.emulator.sandbox.process import ProcessHost

pytestmark = pytest.mark.engine

WORKS = "const main = (n) => [n]"


@pytest.fixture
async def host() -> AsyncIterator[Callable[..., ProcessHost]]:
    """Creates hosts of a small program that reports its warm-up and then waits for its end."""
    made: list[ProcessHost] = []

    def make(on_lost: Callable[[], None] = lambda: None) -> ProcessHost:
        argv = ["/bin/sh", "-c", "printf R; exec cat"]
        made.append(ProcessHost(argv, env={}, cwd=Path("/"), limits={}, remove=None, on_lost=on_lost))
        return made[-1]

    yield make
    for one in made:
        await one.stop()


async def test_a_process_that_cannot_be_started_leaves_no_socket_open(host: Callable[..., ProcessHost]) -> None:
    isolate = Isolate(host())  # the host's spawner never started
    with pytest.raises(StartFailed, match="the spawner is not running"):
        await isolate.start(60)
    del isolate
    gc.collect()  # pytest reports an open socket here as an error


async def test_an_exited_spawner_is_detected_at_its_next_use(host: Callable[..., ProcessHost]) -> None:
    lost: list[str] = []
    one = host(lambda: lost.append("lost"))
    one.start()
    assert one._spawner is not None
    one._spawner.kill()
    one._spawner.wait()  # the event loop has not detected the exit yet
    with pytest.raises(StartFailed):
        await Isolate(one).start(60)
    assert (lost, one.alive) == (["lost"], False)


async def test_a_process_is_used_only_after_its_id_is_known(
    host: Callable[..., ProcessHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine needs the process id to check the memory. On a busy machine, the spawner can report the id late."""
    told: list[dict[str, Any]] = []
    one = host()
    hear = one._handle
    monkeypatch.setattr(one, "_handle", lambda message: told.append(message) if "spawned" in message else hear(message))
    one.start()
    isolate = Isolate(one)
    starting = asyncio.create_task(isolate.start(600))
    async with asyncio.timeout(300):
        while not (isolate._ready.done() and told):  # noqa: ASYNC110 - nobody signals it
            await asyncio.sleep(0.01)
    assert not starting.done()
    hear(told[0])
    await starting
    assert (isolate.pid, isolate.usable) == (told[0]["pid"], True)
    assert sys.platform != "linux" or isolate.growth_bytes() is not None
    isolate.close()


@pytest.mark.slow
def test_a_lost_spawner_counts_as_one_failure(new_room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    room = new_room(spares=1)
    room.until(lambda: room.engine.state().ready == 1, "a spare")
    pool = room.engine._pool
    host, spawner = pool._host, pool._host._spawner.pid
    os.kill(spawner, signal.SIGSTOP)
    room.loop.call_soon_threadsafe(pool.start, 8)
    room.until(lambda: len(pool._starting) == 7, "it has much to do")
    os.kill(spawner, signal.SIGKILL)
    room.until(lambda: pool._host is not host, "the loss is noticed")
    assert room.value(WORKS, 1) == [1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
@pytest.mark.parametrize(
    "source",
    [
        "const main = () => { const a = []; for (;;) a.push(new Uint8Array(4e6).fill(1)); }",
        """const main = () => { const a = []; for (;;) {
          const m = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(m.buffer).fill(1); a.push(m); } }""",
    ],
)
def test_excessive_memory_before_the_first_check_is_reported(
    source: str, new_room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled, "_MONITOR_S", 600.0)
    room = new_room(spares=1)
    outcome = room.run(source)
    assert (outcome.error_kind, "maximum memory of 128 MB" in outcome.error) == ("memory", True)
    # An action with little memory, whose request exceeds the available memory, has made an ordinary mistake.
    assert room.error("const main = () => new ArrayBuffer(2 ** 40)").startswith("Uncaught (in promise) RangeError")
