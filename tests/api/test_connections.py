"""Limits on the time, size and number of connections, with real sockets and the server's own connection class."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import failure
from svcnb.emulator.http.connection import Connection, connection_limit, watch

PATIENCE_S = 300
LARGE = 20 * 2**20


class _Answers:
    def minimal_response(self, refusal: StructuredError) -> Response:
        return failure(refusal, "http://127.0.0.1")


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/large":
        await Response(b"x" * LARGE)(scope, receive, send)
        return
    if scope["path"] == "/unread":
        await Response(b"refused", 403)(scope, receive, send)
        return
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    if message["type"] == "http.request":
        await Response(b"fine")(scope, receive, send)


class _Served:
    """Server with small limits, in a separate thread."""

    def __init__(self, **limits: float) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        kind = type("Small", (Connection,), {"limit": 100, "answers": _Answers(), **limits})
        self.server = uvicorn.Server(
            uvicorn.Config(_app, http=kind, lifespan="off", ws="none", log_config=None, timeout_keep_alive=1)
        )
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.thread.start()

    async def _serve(self) -> None:
        watcher = asyncio.create_task(watch(self.server.server_state.connections))  # type: ignore[arg-type]
        await self.server.serve(sockets=[self.listener])
        watcher.cancel()

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE_S)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(PATIENCE_S)
        self.listener.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., _Served]]:
    with ExitStack() as stack:

        def start(**limits: float) -> _Served:
            served = _Served(**limits)
            stack.callback(served.stop)
            return served

        yield start


def answered(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Returns the data that arrives until the other side closes the connection. Without data, the status is 0."""
    data = b""
    while chunk := connection.recv(65_536):
        data += chunk
    if not data:
        return 0, {}, b""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"),
    # The head has more time, because the first byte can arrive late on a busy machine.
    [
        (b"", 0),
        (b"POST / HTTP/1.1\r\nHost: a\r\n", 408),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc", 408),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 408),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n\r\n", 200),
        (b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 403),
        (b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 403),
    ],
    ids=["nothing", "half a head", "half a body", "half a chunk", "whole", "blank lines", "unread", "half unread"],
)  # fmt: skip
def test_a_connection_ends_when_its_time_is_over(serve: Callable[..., _Served], sent: bytes, status: int) -> None:
    with serve(head_s=3, body_s=0.1).connect() as connection:
        connection.sendall(sent)
        assert answered(connection)[0] == status


@pytest.mark.slow
def test_a_client_that_does_not_read_is_disconnected_after_a_time(serve: Callable[..., _Served]) -> None:
    served = serve(write_s=0.1)
    with served.connect() as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        while not served.server.server_state.connections:
            pass
        while served.server.server_state.connections:
            pass  # the client does not read a single byte


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * 300_000, 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: 1\r\n" % n for n in range(300)) + b"\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: " + b"a" * 600_000, 400),
        (b"nonsense\r\n\r\n", 400),
    ],
    ids=["a long head", "many headers", "a long trailer", "nonsense"],
)  # fmt: skip
def test_an_oversized_request_is_rejected(serve: Callable[..., _Served], sent: bytes, status: int) -> None:
    with serve().connect() as connection:
        connection.sendall(sent)
        found, headers, body = answered(connection)
    assert (found, headers["content-type"]) == (status, "application/json")
    assert set(json.loads(body)) == {"error", "message", "fix", "docs_url"}


def test_an_unreadable_request_does_not_replace_the_previous_response(
    serve: Callable[..., _Served],
) -> None:
    with serve().connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n")
        assert answered(connection)[::2] == (200, b"fine")


def test_too_many_pipelined_requests_end_the_connection(serve: Callable[..., _Served]) -> None:
    with serve().connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 1_000)
        data = b""
        while chunk := connection.recv(65_536):
            data += chunk
    assert 1 <= data.count(b"HTTP/1.1 200 OK") <= 20
    assert data.endswith(b"fine")


def test_an_excess_connection_receives_503_until_others_close(
    serve: Callable[..., _Served],
) -> None:
    served = serve(limit=5)
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(served.connect()).sendall(b"GET / HTTP/1.1\r\n")
        while len(served.server.server_state.connections) < 5:
            pass
        with served.connect() as late:
            late.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            status, headers, body = answered(late)
        assert (status, headers["retry-after"]) == (503, "1")
        assert json.loads(body)["error"] == "service_unavailable"
    while served.server.server_state.connections:
        pass
    with served.connect() as late:
        late.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert answered(late)[0] == 200


def test_an_idle_connection_is_closed_for_a_new_one(serve: Callable[..., _Served]) -> None:
    served = serve(limit=2)
    with ExitStack() as stack:
        for _ in range(2):
            idle = stack.enter_context(served.connect())
            idle.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert re.match(rb"HTTP/1.1 200", idle.recv(4_096))
        with served.connect() as late:
            late.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert answered(late)[0] == 200


def test_the_limit_is_below_that_of_file_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    found = []
    for soft in (64, 1_024, 4_096, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        found.append(connection_limit(1_000))
    assert found == [32, 512, 1_000, 1_000]


@pytest.mark.slow
def test_the_emulator_returns_503_for_an_excess_connection(start_emulator: Callable[..., Any]) -> None:
    emulator = start_emulator(max_connections=3)
    address = urlsplit(emulator.base_url)
    where = (str(address.hostname), int(address.port or 0))
    with ExitStack() as stack:
        for _ in range(8):
            half = stack.enter_context(socket.create_connection(where, timeout=PATIENCE_S))
            half.sendall(b"GET / HTTP/1.1\r\n")
        status, headers, body = answered(half)
    assert (status, headers["retry-after"]) == (503, "1")
    assert "x-request-id" in headers
    assert json.loads(body)["error"] == "service_unavailable"
