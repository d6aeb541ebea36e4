# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""A run ends when its event loop is empty (docs/service/runtime.md#calling-main)."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.engine
ENGINES = ("v8", "fast", "auto")

# The limit is far below every deadline. A run that waits for a deadline fails with the timeout error.
DEADLINE_MS = 60_000
RESPONSES = {
    "a timer sets the response after main": (
        "const main = () => { setTimeout(() => SvcActions.setResponse({ response: 1 }), 50) }",
        1,
    ),
    "a timer replaces the value of main": (
        "const main = () => { setTimeout(() => SvcActions.setResponse({ response: 'late' }), 5); return 'early' }",
        "late",
    ),
    "a timer of a timer": (
        "const main = () => { setTimeout(() => setTimeout(() => SvcActions.setResponse({ response: 2 }), 5), 5) }",
        2,
    ),
    "a promise that is not awaited": (
        "async function side() { await null; await null; SvcActions.setResponse({ response: 3 }) } const main = () => { side() }",
        3,
    ),
    "a key operation that is not awaited": (
        "const main = () => { SvcActions.getSvcActionWalletAddress({ ipfsId: 'x' }).then((a) => SvcActions.setResponse({ response: a.slice(0, 2) + 'ok' })) }",
        "0xok",
    ),
    "an interval that is cleared": (
        "const main = () => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); SvcActions.setResponse({ response: [n] }) } }, 1) }",
        [3],
    ),
    "main never settles": ("const main = () => new Promise(() => {})", ""),
    "main never settles after setResponse": (
        "const main = async () => { SvcActions.setResponse({ response: 'set' }); await new Promise(() => {}); return 'never' }",
        "set",
    ),
    "main returns a thenable that never answers": ("const main = () => ({ then() {} })", ""),
    "main settles after a timer that is cleared": (
        "const main = () => { clearTimeout(setTimeout(() => {}, 900000)); return 'done' }",
        "done",
    ),
    "a signal with a timer that nothing listens to": (
        "const main = () => { AbortSignal.timeout(900000); return 'done' }",
        "done",
    ),
    "a signal with a timer that something listens to": (
        "const main = () => { AbortSignal.timeout(5).addEventListener('abort', () => SvcActions.setResponse({ response: 'aborted' })) }",
        "aborted",
    ),
}


@pytest.mark.parametrize("case", RESPONSES)
def test_a_run_ends_when_its_event_loop_is_empty(case: str, room: Any):
    source, expected = RESPONSES[case]
    assert room.value(source, timeout_ms=DEADLINE_MS) == expected


def test_late_logs_are_recorded(room: Any):
    source = "const main = () => { console.log('early'); setTimeout(() => console.log('late'), 20); return 1 }"
    outcome = room.run(source, timeout_ms=DEADLINE_MS)
    assert (outcome.response, outcome.logs) == (1, "early\nlate\n")


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        ("const main = () => { setTimeout(() => { throw new Error('late') }, 20); return 1 }", "Uncaught Error: late"),
        (
            "const main = () => { setTimeout(() => Promise.reject(new Error('late')), 20); return 1 }",
            r"Uncaught \(in promise\) Error: late",
        ),
        (
            "const main = () => { setTimeout(() => SvcActions.setResponse({ response: 'x'.repeat(2_000_000) }), 5); return 1 }",
            "too long, maximum",
        ),
    ],
)
def test_a_late_uncaught_error_fails_the_run(source: str, pattern: str, room: Any):
    outcome = room.run(source, timeout_ms=DEADLINE_MS)
    if room.kind == "fast" and outcome.error_kind == "unsupported":
        pytest.skip(f"not supported by the fast engine: {outcome.error}")
    assert re.search(pattern, outcome.error)


def test_work_left_behind_runs_until_the_deadline(room: Any):
    outcome = room.run("const main = () => { setInterval(() => {}, 1); return 'done' }", timeout_ms=1_000)
    assert outcome.error_kind == "timeout"


def test_a_request_that_is_aborted_does_not_keep_the_run(room: Any, site: Any, open_network: Any):
    source = (
        "const main = async (url) => { const c = new AbortController(); setTimeout(() => c.abort(), 20);"
        " return [await fetch(url + '/silent', { signal: c.signal }).catch((e) => e.name)] }"
    )
    host = room.host(network=open_network("allow"))
    assert room.value(source, site.url, host=host, timeout_ms=DEADLINE_MS) == ["AbortError"]


def test_a_completed_request_with_a_timeout_does_not_keep_the_run(room: Any, site: Any, open_network: Any):
    source = (
        "const main = async (url) => [(await fetch(url + '/price', { signal: AbortSignal.timeout(900000) })).status]"
    )
    host = room.host(network=open_network("allow"))
    assert room.value(source, site.url, host=host, timeout_ms=DEADLINE_MS) == [200]
