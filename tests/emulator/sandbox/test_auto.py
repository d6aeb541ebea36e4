"""The engine `auto`: runs that complete on `fast`, runs that `auto` repeats on `v8`, and no repeated side effects."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from svcnb.emulator.sandbox import fast, pool
from svcnb.emulator.sandbox.isolate import Isolate

pytestmark = pytest.mark.engine
ENGINES = ("auto",)

# Requests a key, and continues to work.
WORKING = """const main = async ({ rounds }) => {
  const key = Svc.Actions.getSvcActionPrivateKey();
  let n = 0;
  for (let i = 0; i < rounds; i++) n = (n * 31 + i) % 1000003;
  return [n, (await key).length];
};"""


@pytest.fixture
def engine_processes(room: Any) -> Iterator[Any]:
    """Returns the number of `fast` processes that are executing a run."""
    stopped: list[int] = []

    def stop() -> list[int]:
        stopped.extend(session.isolate.pid for session in room.engine._fast._sessions)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        return stopped

    yield stop
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.skipif(sys.platform != "linux", reason="the processor's time is counted for each thread")
def test_a_run_that_waits_for_the_processor_stays_on_its_engine(room: Any, engine_processes: Any):
    host = room.host()
    answer = host.key_operation

    async def when_others_have_had_the_processor(kind: str) -> str:
        pids = engine_processes()
        await asyncio.sleep(0.6)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        return str(await answer(kind))

    host.key_operation = when_others_have_had_the_processor
    outcome = room.run(f"{WORKING} // a source that has done no long work yet", {"rounds": 300_000}, host=host)
    assert outcome.ok
    assert outcome.elapsed_s > 0.5
    assert outcome.trace.engine == "fast", outcome.trace.as_dict()


def test_long_work_moves_to_v8_with_all_later_runs_of_its_source(room: Any):
    first, second = (room.run(WORKING, {"rounds": rounds}) for rounds in (20_000_000, 1))
    assert first.ok
    assert (first.trace.engine, second.trace.engine) == ("v8", "v8")
    assert "a long computation" in first.trace.why
    assert "a long computation" in second.trace.why
    assert [event.detail["operation"] for event in first.trace.events if event.kind == "key"] == ["action_key"]


@pytest.mark.skipif(sys.platform != "linux", reason="the processor's time is read from /proc")
def test_work_that_cannot_be_interrupted_is_repeated_on_v8_soon(room: Any):
    """QuickJS compares each private name with all others, and the engine cannot interrupt its parser."""
    names = " ".join(f"#a{n};" for n in range(30_000))
    outcome = room.run(f"const main = () => [7]; class Long {{ {names} }}")
    assert outcome.response == [7], outcome.error
    assert outcome.trace.engine == "v8"
    assert "a long computation" in outcome.trace.why


def test_a_request_is_not_made_again_when_the_run_is_repeated(room: Any, site: Any, open_network: Any):
    source = """const main = async ({ url }) => {
      const { usd } = await (await fetch(url + '/price')).json();
      return new globalThis["In" + "tl"].NumberFormat('de-DE').format(usd);
    };"""
    outcome = room.run(source, {"url": site.url}, host=room.host(network=open_network("allow")))
    assert outcome.response == "3.141,59"
    assert outcome.trace.engine == "v8"
    assert "Intl" in outcome.trace.why
    assert [path for _, path, _, _ in site.seen] == ["/price"]


def test_a_request_in_progress_can_be_aborted_in_the_repetition(room: Any, site: Any, open_network: Any):
    source = """const main = async ({ url }) => {
      const stop = new AbortController();
      const silent = fetch(url + '/silent', { signal: stop.signal }).then(() => 'answered', (error) => error.name);
      const shown = new globalThis["In" + "tl"].NumberFormat('de-DE').format(0.5);
      stop.abort();
      return [shown, await silent];
    };"""
    outcome = room.run(source, {"url": site.url}, host=room.host(network=open_network("allow")))
    assert outcome.response == ["0,5", "AbortError"], outcome.error
    assert outcome.trace.engine == "v8"


def test_a_repetition_with_a_different_request_fails_and_recommends_v8(room: Any, site: Any, open_network: Any):
    source = """const main = async ({ url }) => {
      await fetch(url + '/price', { method: 'POST', body: String(Math.random()) });
      return new globalThis["In" + "tl"].NumberFormat('de-DE').format(0.5);
    };"""
    outcome = room.run(source, {"url": site.url}, host=room.host(network=open_network("allow")))
    assert outcome.error_kind == "unsupported"
    assert "different requests" in outcome.error
    assert "--action-engine v8 " in outcome.error
    assert [path for _, path, _, _ in site.seen] == ["/price"]


def test_v8_has_no_process_while_it_is_not_in_use(
    new_room: Callable[..., Any], live_isolates: Callable[[], dict[int, int]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool, "_SHRINK_AFTER_S", 0.5)
    room = new_room(kind="auto", spares=1, idle=0)
    shown = "const main = (n) => new Intl.NumberFormat('de-DE').format(n)"
    for n in range(6):  # the fifth process starts a template
        assert room.value(shown, n + 0.5) == f"{n},5"
    spawner = room.engine._v8._pool._host.pid
    room.until(lambda: spawner not in live_isolates().values(), "spares and template have ended")
    assert room.value(shown, 7.5) == "7,5"
    assert room.engine._v8._pool._host.pid == spawner


def test_an_idle_engine_has_no_process_until_the_next_run(
    new_room: Callable[..., Any], live_isolates: Callable[[], dict[int, int]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool, "_SHRINK_AFTER_S", 0.1)
    monkeypatch.setattr(fast.FastEngine, "_rest_s", 0.5)
    room = new_room(kind="fast")
    assert room.value("const main = (n) => n + 1", 1) == 2
    spawner = room.engine._pool._host.pid
    room.until(lambda: spawner not in live_isolates().values(), "the processes have ended")
    assert room.value("const main = (n) => n + 1", 2) == 3
    assert room.engine._pool._host.pid == spawner


def test_a_process_that_is_still_starting_when_the_pool_empties_ends_too(
    new_room: Callable[..., Any], live_isolates: Callable[[], dict[int, int]], monkeypatch: pytest.MonkeyPatch
):
    start = Isolate.start

    async def late(isolate: Isolate, *args: Any, **how: Any) -> None:
        await start(isolate, *args, **how)
        await asyncio.sleep(0.6)

    monkeypatch.setattr(pool, "_SHRINK_AFTER_S", 0.2)
    monkeypatch.setattr(Isolate, "start", late)
    room = new_room(kind="auto", spares=1, idle=0)
    assert room.value("const main = (n) => new Intl.NumberFormat('de-DE').format(n)", 0.5) == "0,5"
    spawner = room.engine._v8._pool._host.pid
    room.until(lambda: not room.engine._v8._pool._starting, "the last process has started")
    room.until(lambda: spawner not in live_isolates().values(), "it has ended")
