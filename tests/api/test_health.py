"""What /health says while a process that actions need is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
@pytest.mark.chain
def test_health_tells_within_seconds_that_the_chain_stands_still(local) -> None:
    wire = local()
    assert wire.get("/health").status_code == 200
    node = wire.local.service.chain.node_pid
    os.kill(node, signal.SIGSTOP)
    try:
        asked = time.monotonic()
        answers = [wire.get("/health") for _ in range(2)]
        took = time.monotonic() - asked
    finally:
        os.kill(node, signal.SIGCONT)
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json()["svc_actions_reachable"] is False
    assert took < 25, "it waited for the chain's own timeout"
    assert wire.get("/health").status_code == 200
