"""Response of /health while a process that actions need is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
@pytest.mark.chain
def test_health_reports_a_stopped_chain_within_seconds(local, stand_still) -> None:
    wire = local()
    assert wire.get("/health").status_code == 200
    node = wire.local.service.chain.node_pid
    try:
        stand_still(node)
        asked = time.monotonic()
        answers = [wire.get("/health") for _ in range(2)]
        took = time.monotonic() - asked
    finally:
        os.kill(node, signal.SIGCONT)
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json()["svc_actions_reachable"] is False
    assert took < 25, "it waited for the chain's own timeout"
    assert wire.get("/health").status_code == 200


def _pool(wire: Any) -> Any:
    return wire.local.service.engine._pool


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the state of a process is read in /proc")
@pytest.mark.engine
@pytest.mark.chain
@pytest.mark.parametrize("engine", ["v8", "fast"])
@pytest.mark.parametrize(
    "process",
    [lambda pool: pool._host._spawner.pid, lambda pool: pool._ready[0].pid],
    ids=["the process that starts isolates", "a spare"],
)
def test_health_reports_an_engine_with_a_stopped_process(
    local: Any, engine: str, process: Callable[[Any], int], stand_still: Callable[[int], None]
) -> None:
    wire = local(action_engine=engine)
    account = wire.account()
    assert account.run("const main = () => 1").status_code == 200
    deadline = time.monotonic() + 60
    while not _pool(wire).ready and time.monotonic() < deadline:
        time.sleep(0.02)
    assert wire.get("/health").status_code == 200
    pid = process(_pool(wire))
    try:
        stand_still(pid)
        answers = [wire.get("/health") for _ in range(2)]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json()["svc_actions_reachable"] is False
    assert wire.get("/health").status_code == 200
