"""A run ends when its caller closes the connection."""

from __future__ import annotations

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

PATIENCE_S = 120
ENDLESS = "const main = () => { setInterval(() => {}, 100) }"


def wait_for(condition: Any) -> Any:
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < end, "the state that this test waits for did not come"
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("engine", ["auto", *(pytest.param(each, marks=pytest.mark.slow) for each in ("v8", "fast"))])
def test_a_run_whose_caller_closes_the_connection_ends_and_costs_nothing(local: Any, engine: str) -> None:
    wire = local(action_engine=engine)
    account = wire.account()
    address = urlsplit(wire.base_url)
    body = json.dumps({"code": ENDLESS, "js_params": None}).encode()
    head = (
        f"POST /core/v1/svc_action HTTP/1.1\r\nHost: {address.netloc}\r\nX-Api-Key: {account.key}\r\n"
        f"X-Correlation-Id: leaves\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    before = account.credit()
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + body)
        wait_for(lambda: wire.control("/state", method="GET")["engine"]["running"] == 1)

    def record() -> Any:
        runs = wire.control("/runs", method="GET")["runs"]
        return next((run for run in runs if run["correlation_id"] == "leaves"), None)

    run = wait_for(record)
    assert (run["status"], run["http_status"], run["error_kind"], run["cost_cents"]) == (
        "failed",
        499,
        "disconnected",
        0,
    )
    assert wire.control("/state", method="GET")["engine"]["running"] == 0
    assert account.credit() == before
