"""Deeply nested JSON in requests, for every parser of requests in the emulator.

Python's JSON parser is recursive. If a library has raised the recursion limit, an unchecked text crashes the process.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.api.conftest import Local, Wire

LEVELS = 100_000
SMALL_LEVELS = 2_500
"""Levels that fit into the smallest limit for a body, 16 KiB."""
BOUND_S = 20
AUTHORIZATION = {"Authorization": f"Bearer {'nested-bodies-' * 3}"}
SHAPES: dict[str, Callable[[int], str]] = {
    "arrays": lambda levels: "[" * levels + "]" * levels,
    "objects": lambda levels: '{"a":' * levels + "1" + "}" * levels,
    "incomplete arrays": lambda levels: "[" * levels,
    "incomplete objects": lambda levels: '{"a":' * levels,
}

pytestmark = [
    pytest.mark.usefixtures("high_recursion_limit"),
    pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES),
]


@pytest.fixture(scope="module")
def here() -> Iterator[Wire]:
    """Emulator in this process, so that the emulator has the raised recursion limit."""
    with Local(auto_approve_agents=True) as connected:
        yield connected


@pytest.fixture(scope="module")
def key(here: Wire) -> str:
    return here.account().key


@pytest.fixture(scope="module")
def trigger(here: Wire) -> str:
    """Returns the id of a webhook trigger."""
    body = {"name": "t", "kind": "webhook", "action_code": "main", "usage_api_key": "k", "config": {}}
    answer = here.call("POST", "/api/triggers", json=body, headers=AUTHORIZATION)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def send(wire: Wire, path: str, text: str, *, method: str = "POST", **headers: str) -> httpx.Response:
    """Sends a JSON body, and checks that the response arrives in a bounded time."""
    started = time.monotonic()
    headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    answer = wire.call(method, path, content=text.encode(), headers=headers)
    assert time.monotonic() - started < BOUND_S
    return answer


@pytest.mark.parametrize("path", ["svc_action", "get_svc_action_ipfs_id", "new_account", "/_emulator/clock"])
def test_a_deeply_nested_body_of_the_api_is_400(here, key, path, shape):
    answer = send(here, path, shape(LEVELS), **{"X-Api-Key": key})
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert "levels of nesting" in answer.json()["message"]


def test_a_deeply_nested_body_for_the_processor_is_400(here, shape):
    publishable = here.get("billing/processor_config").json()["publishable_key"]
    path = "/processor/v1/payment_intents/pi_1/confirm"
    answer = send(here, path, shape(SMALL_LEVELS), Authorization=f"Bearer {publishable}")
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


@pytest.mark.parametrize("asked", ["POST /api/triggers", "PATCH /api/triggers/{id}", "POST /api/triggers/{id}/test"])
def test_a_deeply_nested_body_for_the_triggers_service_is_400(here, trigger, asked, shape):
    method, path = asked.format(id=trigger).split()
    answer = send(here, path, shape(LEVELS), method=method, **AUTHORIZATION)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_json")
    assert "levels of nesting" in answer.json()["message"]


def test_a_deeply_nested_body_for_the_sign_in_page_is_400(here, shape):
    answer = send(here, "/agent/login", shape(LEVELS))
    assert answer.status_code == 400
    assert "levels of nesting" in answer.text


def test_an_action_receives_a_deeply_nested_webhook_body_as_text(here, trigger, shape):
    text = shape(LEVELS // 3)  # a webhook accepts less data than other calls
    answer = send(here, f"/webhook/{trigger}", text)
    assert answer.status_code == 202
    runs = here.call("GET", f"/api/triggers/{trigger}/runs", headers=AUTHORIZATION).json()["runs"]
    (run,) = [run for run in runs if run["id"] == answer.json()["run_id"]]
    assert run["input"]["event"] == text


def test_a_deeply_nested_json_rpc_message_is_a_parse_error(here, shape):
    error = send(here, "/rpc", shape(LEVELS)).json()["error"]
    assert error["code"] == -32700
    assert "levels of nesting" in error["message"]


def test_a_deeply_nested_wallet_header_is_ignored(here, key, shape):
    header = base64.b64encode(shape(SMALL_LEVELS).encode()).decode()
    answer = here.call("GET", "billing/balance", headers={"X-Wallet-Auth": header})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert here.call("GET", "billing/balance", key, headers={"X-Wallet-Auth": header}).status_code == 200
