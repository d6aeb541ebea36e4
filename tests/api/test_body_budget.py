"""Memory limit for bodies of requests in progress, with real sockets and a complete emulator."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from svcnb.emulator.http.body import BodyBudget
from svcnb.protocol.limits import MAX_BODIES_BYTES, MAX_BODIES_BYTES_PER_CALLER, MAX_BODY_BYTES

PATIENCE_S = 300
# The test sends all bytes except the last one, so that the request stays in progress.
UNFINISHED = b"x" * (MAX_BODY_BYTES - 1)
FIT = MAX_BODIES_BYTES_PER_CALLER // MAX_BODY_BYTES


class Flood:
    """Requests whose bodies do not end."""

    def __init__(self, base_url: str, stack: ExitStack) -> None:
        address = urlsplit(base_url)
        self.where = (str(address.hostname), int(address.port or 0))
        self.stack = stack

    def send(self, path: str, key: str, body: bytes = UNFINISHED) -> socket.socket:
        """Adds a request."""
        connection = self.stack.enter_context(socket.create_connection(self.where, timeout=PATIENCE_S))
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        if key:
            head += f"X-Api-Key: {key}\r\n"
        connection.sendall(f"{head}Content-Length: {MAX_BODY_BYTES}\r\n\r\n".encode() + body)
        return connection


def answer(connection: socket.socket) -> tuple[int, str, dict[str, Any]]:
    """Returns the status, Retry-After and body of a response."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return int(first.split()[1]), headers.get("retry-after", ""), json.loads(body)


def first_refused(held: list[socket.socket]) -> socket.socket:
    """Returns the first connection with a response. Bodies arrive in parallel, so any connection can be the first."""
    refused: socket.socket = select.select(held, [], [], PATIENCE_S)[0][0]
    held.remove(refused)
    return refused


@pytest.fixture
def flood(start_emulator: Callable[..., Any]) -> Iterator[tuple[httpx.Client, Flood, Callable[[], str]]]:
    emulator = start_emulator(starter_credits=1_000)
    with ExitStack() as stack:
        http = stack.enter_context(httpx.Client(base_url=emulator.base_url, timeout=PATIENCE_S, trust_env=False))

        def new_key() -> str:
            made = http.post("/core/v1/new_account", json={"account_name": "a", "account_description": "b"})
            return str(made.json()["api_key"])

        yield http, Flood(emulator.base_url, stack), new_key


def run(http: httpx.Client, key: str) -> httpx.Response:
    body = {"code": "const main = () => [1]", "js_params": {}}
    return http.post("/core/v1/svc_action", headers={"X-Api-Key": key}, json=body)


def test_bodies_of_one_account_are_limited_and_another_account_is_served(flood: Any) -> None:
    http, sockets, new_key = flood
    greedy, neighbour = new_key(), new_key()
    held = [sockets.send("/core/v1/svc_action", greedy) for _ in range(FIT + 1)]
    status, retry_after, body = answer(first_refused(held))
    assert (status, retry_after, body["error"]) == (503, "1", "service_unavailable")
    assert str(MAX_BODIES_BYTES_PER_CALLER) in body["message"]
    assert run(http, neighbour).json()["response"] == [1]
    held[0].sendall(b"x")
    assert answer(held[0])[0] == 400  # the body is not JSON, and the server releases its bytes
    sockets.send("/core/v1/svc_action", greedy).sendall(b"x")
    for connection in held[1:]:
        connection.close()
    assert run(http, greedy).json()["response"] == [1]


@pytest.mark.slow
def test_bodies_of_all_callers_are_limited_together(flood: Any) -> None:
    http, sockets, new_key = flood
    keys = [new_key() for _ in range(3)]
    full, rest = divmod(MAX_BODIES_BYTES, MAX_BODY_BYTES)
    assert rest
    held = [sockets.send("/core/v1/svc_action", keys[n // FIT]) for n in range(full + 1)]
    status, retry_after, body = answer(first_refused(held))
    assert (status, retry_after) == (503, "1")
    assert str(MAX_BODIES_BYTES) in body["message"]
    assert http.get("/health").status_code == 200
    for connection in held:
        connection.sendall(b"x")
        assert answer(connection)[0] == 400
    assert run(http, keys[2]).json()["response"] == [1]


async def test_the_triggers_service_has_its_own_error_for_a_full_budget() -> None:
    from starlette.requests import Request

    from svcnb.emulator.triggers.errors import Refused
    from svcnb.emulator.triggers.requests import Ask

    found: list[Refused] = []

    async def app(scope: Any, receive: Any, _send: Any) -> None:
        ask = Ask(SimpleNamespace(request=Request(scope, receive)), None)  # type: ignore[arg-type]
        try:
            await ask.bytes(1_000)
        except Refused as refusal:
            found.append(refusal)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 100, "more_body": False}

    budget = BodyBudget(app, total=99, per_caller=99)
    await budget({"type": "http", "method": "POST", "headers": []}, receive, None)  # type: ignore[arg-type]
    assert [(refusal.status, refusal.code, refusal.retry_after_s) for refusal in found] == [
        (503, "service_unavailable", 1)
    ]
    assert budget._all == 0


async def test_the_memory_of_an_ended_request_is_available_again() -> None:
    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        held.append(budget._all)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 100, "more_body": False}

    held: list[int] = []
    budget = BodyBudget(app, total=100, per_caller=100)
    for _ in range(2):
        await budget({"type": "http", "method": "POST", "headers": []}, receive, None)  # type: ignore[arg-type]
    assert (held, budget._all) == ([100, 100], 0)
