"""The timeline of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import MAX_TRACE_EVENTS, MAX_TRACE_HOST_CHARS, MAX_TRACE_METHOD_CHARS, MAX_TRACE_TEXT_CHARS

pytestmark = pytest.mark.engine


def kinds(outcome: Any) -> list[str]:
    return [event["kind"] for event in outcome.trace.as_dict()["events"]]


def test_a_run_records_its_events_in_order_with_times_and_memory(room: Any, site: Any, open_network: Any, wallet: Any):
    source = """const main = async ({ url, pkpId }) => {
      console.log('one');
      await Svc.Actions.getSvcActionPrivateKey();
      const ciphertext = await Svc.Actions.Encrypt({ pkpId, message: 'plain-words' });
      await Svc.Actions.Decrypt({ pkpId, ciphertext });
      await (await fetch(url + '/price?token=query-secret')).json();
      globalThis.kept = new Uint8Array(6e7).fill(1);
      console.log('two');
    }"""
    host = room.host(network=open_network("allow"))
    outcome = room.run(source, {"url": site.url, "pkpId": wallet[0]}, host=host)
    events = outcome.trace.as_dict()["events"]
    assert kinds(outcome) == ["start", "console", "key", "encrypt", "decrypt", "fetch", "fetch", "console", "end"]
    assert outcome.trace.engine == ("fast" if room.kind == "auto" else "v8"), outcome.trace.why
    times = [event["at_ms"] for event in events]
    assert times == sorted(times)
    assert times[-1] <= outcome.elapsed_s * 1000 + 1
    begun, answered = events[5:7]
    assert (begun["method"], begun["host"], begun["phase"]) == ("GET", "127.0.0.1", "start")
    assert (answered["status"], answered["bytes"]) == (200, 30)
    assert events[-2]["memory_bytes"] - events[0]["memory_bytes"] > 25_000_000
    text = json.dumps(outcome.trace.as_dict())
    for secret in (wallet[1].hex(), "plain-words", "query-secret", room.custody.action_secret("QmRunningAction").hex()):
        assert secret not in text


@pytest.mark.parametrize(
    ("source", "kind"),
    [("const main = () => { for (;;); }", "timeout"), ("const main = () => x", "throw"), ("const main = (", "syntax")],
)
def test_failed_runs_have_a_timeline(source: str, kind: str, room: Any):
    outcome = room.run(source, timeout_ms=150 if kind == "timeout" else 30_000)  # parsing can be slow on a busy machine
    assert outcome.trace.as_dict()["events"][-1] | {"at_ms": 0, "memory_bytes": 0} == {
        "at_ms": 0, "memory_bytes": 0, "kind": "end", "ok": False, "error_kind": kind,
    }  # fmt: skip


def test_refusals_are_marked(room: Any):
    source = "const main = async () => { for (let i = 0; i < 2; i++) await fetch('http://x.example/').catch(() => 0); }"
    refused = [e["refused"] for e in room.run(source, max_fetch_count=1).trace.as_dict()["events"] if "refused" in e]
    assert "disabled" in refused[0]
    assert refused[1] == "limit"


def test_a_flood_of_events_is_counted_and_the_end_is_kept(room: Any):
    outcome = room.run("const main = () => { for (let i = 0; i < 3000; i++) console.log(i); }")
    trace = outcome.trace.as_dict()
    assert len(trace["events"]) == MAX_TRACE_EVENTS + 1
    assert trace["dropped"] == 3002 - len(trace["events"])
    assert trace["events"][-1]["kind"] == "end"


def test_times_are_milliseconds_since_the_start():
    now = [10.0]
    trace = Trace("v8", clock=lambda: now[0])
    now[0] = 10.25
    trace.add("key", operation="x")
    assert trace.as_dict() == {"engine": "v8", "events": [{"at_ms": 250.0, "kind": "key", "operation": "x"}]}


def test_long_texts_of_a_trace_are_shortened():
    trace = Trace("v8")
    trace.add("fetch", method="M" * 10**6, host="h" * 10**6, refused="r" * 10**6, status=200)
    detail = trace.events[0].detail
    assert [len(str(detail[name])) for name in ("method", "host", "refused")] == [
        MAX_TRACE_METHOD_CHARS,
        MAX_TRACE_HOST_CHARS,
        MAX_TRACE_TEXT_CHARS,
    ]
    assert detail["status"] == 200
