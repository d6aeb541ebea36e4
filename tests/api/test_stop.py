"""Responses to requests in progress when the emulator stops."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import pytest

from tests.process_groups import running

ENDLESS = "async function main() { await new Promise(done => setTimeout(done, 600000)); }"
BUSY = "function main() { for (;;) {} }"


@pytest.fixture
def process():
    command = [sys.executable, "-m", "svcnb", "emulator", "--starter-credits", "500", "--action-spares", "1"]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as emulator:
        yield emulator


@pytest.mark.slow
@pytest.mark.parametrize("signals", [1, 2], ids=["finished in time", "at once"])
@pytest.mark.parametrize("code", [ENDLESS, BUSY], ids=["waiting", "busy"])
def test_a_run_interrupted_by_a_stop_receives_503_with_json(process, connect, code, signals) -> None:
    ready = json.loads(process.stdout.readline())
    account = connect(ready["base_url"]).account()
    answers = []
    runs = [threading.Thread(target=lambda: answers.append(account.run(code))) for _ in range(2)]
    for run in runs:
        run.start()
    while account.wire.control("/state", method="GET")["engine"]["running"] < len(runs):
        pass
    for _ in range(signals):
        process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    for run in runs:
        run.join(300)
    assert [answer.status_code for answer in answers] == [503, 503]
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.json()["error"] == "service_unavailable"
        assert "is stopping" in answer.json()["message"]
    assert "Traceback" not in err
    assert process.returncode == 0
