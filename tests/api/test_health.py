"""What /health says while a process that actions need is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def wait_until_stopped(process: int) -> None:
    """A busy machine stops a process some time after the signal: its threads may answer until then."""
    threads = Path(f"/proc/{process}/task")
    while threads.exists() and not all(
        each.read_text().rpartition(")")[2].split()[0] == "T" for each in threads.glob("*/stat")
    ):
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
@pytest.mark.chain
def test_health_tells_within_seconds_that_the_chain_stands_still(local) -> None:
    wire = local()
    assert wire.get("/health").status_code == 200
    node = wire.local.service.chain.node_pid
    os.kill(node, signal.SIGSTOP)
    try:
        wait_until_stopped(node)
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


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


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
def test_health_says_that_the_engine_is_not_reachable_while_one_of_its_processes_is_stopped(
    local: Any, engine: str, process: Callable[[Any], int]
) -> None:
    wire = local(action_engine=engine)
    account = wire.account()
    assert account.run("const main = () => 1").status_code == 200
    deadline = time.monotonic() + 60
    while not _pool(wire).ready and time.monotonic() < deadline:
        time.sleep(0.02)
    assert wire.get("/health").status_code == 200
    pid = process(_pool(wire))
    os.kill(pid, signal.SIGSTOP)
    try:
        while not _is_stopped(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        answers = [wire.get("/health") for _ in range(2)]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json()["svc_actions_reachable"] is False
    assert wire.get("/health").status_code == 200
