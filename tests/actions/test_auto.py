"""The engine `auto`: what it keeps on `fast`, what it repeats on `v8`, and that nothing is done twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.engine
ENGINES = ("auto",)

# Asks for a key and works on meanwhile.
WORKING = """const main = async ({ rounds }) => {
  const key = Svc.Actions.getSvcActionPrivateKey();
  let n = 0;
  for (let i = 0; i < rounds; i++) n = (n * 31 + i) % 1000003;
  return [n, (await key).length];
};"""


@pytest.fixture
def engine_processes(room: Any) -> Iterator[Any]:
    """Processes of `fast` that work at the moment."""
    stopped: list[int] = []

    def stop() -> list[int]:
        stopped.extend(session._isolate.pid for session in room.engine._fast._sessions)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        return stopped

    yield stop
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.skipif(sys.platform != "linux", reason="the processor's time is counted for each thread")
def test_a_run_that_waits_for_the_processor_stays_where_it_is(room: Any, engine_processes: Any):
    host = room.host()
    answer = host.get_action_private_key

    async def when_others_have_had_the_processor() -> str:
        pids = engine_processes()
        await asyncio.sleep(0.6)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        return str(await answer())

    host.get_action_private_key = when_others_have_had_the_processor
    outcome = room.run(f"{WORKING} // a source that has done no long work yet", {"rounds": 300_000}, host=host)
    assert outcome.ok
    assert outcome.elapsed_s > 0.5
    assert outcome.trace.engine == "fast", outcome.trace.as_dict()


def test_work_that_v8_does_sooner_goes_there_and_so_does_its_source_from_then_on(room: Any):
    first, second = (room.run(WORKING, {"rounds": rounds}) for rounds in (20_000_000, 1))
    assert first.ok
    assert (first.trace.engine, second.trace.engine) == ("v8", "v8")
    assert "long work" in first.trace.why
    assert "long work" in second.trace.why
    assert [event.detail["operation"] for event in first.trace.events if event.kind == "key"] == ["action_key"]


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


def test_a_request_that_goes_on_meanwhile_can_be_aborted_in_the_repetition(room: Any, site: Any, open_network: Any):
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
