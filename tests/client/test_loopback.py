from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from svcnb.client import errors
from svcnb.client._http import SyncTransport
from svcnb.client._loopback import simple
from svcnb.client.calls import Answer, Request

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n{}"


class Site:
    """Answers each connection by what a test decides."""

    def __init__(self, serve: Callable[[socket.socket], object]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            self._serve(connection)

    def close(self) -> None:
        # Closing alone leaves a thread in accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def site() -> Iterator[Callable[[Callable[[socket.socket], object]], Site]]:
    made: list[Site] = []

    def make(serve: Callable[[socket.socket], object]) -> Site:
        made.append(Site(serve))
        return made[-1]

    yield make
    for one in made:
        one.close()


def heard(connection: socket.socket) -> bytes:
    """The head of a request without a body; empty when the caller is gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    return data


def always(connection: socket.socket) -> None:
    while heard(connection):
        connection.sendall(ANSWER)


def get(transport: SyncTransport, url: str, timeout: float = 300.0, key: str = "k") -> Answer:
    return transport.send(Request("GET", url, {"X-Api-Key": key}, None, connect_timeout=300.0, timeout=timeout))


def test_a_connection_is_used_again_and_its_answers_are_whole(site) -> None:
    where = site(always)
    transport = SyncTransport(where.address)
    answers = [get(transport, f"{where.address}/x?a=1") for _ in range(5)]
    assert {(answer.status, answer.content, answer.headers["x-twice"]) for answer in answers} == {(200, b"{}", "a, b")}
    assert where.connections == 1
    transport.close()


def test_a_request_asks_for_path_and_query_with_its_headers(site) -> None:
    asked: list[bytes] = []

    def note(connection: socket.socket) -> None:
        asked.append(heard(connection))
        connection.sendall(ANSWER)

    where = site(note)
    get(SyncTransport(where.address), f"{where.address}/core/v1/list?page_size=2")
    line, *headers = asked[0].decode().split("\r\n")
    assert line == "GET /core/v1/list?page_size=2 HTTP/1.1"
    assert "X-Api-Key: k" in headers
    assert "Host: " + where.address.removeprefix("http://") in headers


def test_threads_have_connections_of_their_own_at_once(site) -> None:
    together = threading.Barrier(4, timeout=300)

    def all_at_once(connection: socket.socket) -> None:
        while heard(connection):
            together.wait()
            connection.sendall(ANSWER)

    where = site(all_at_once)
    transport = SyncTransport(where.address)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            list(pool.map(lambda _: get(transport, where.address), range(4)))
    assert where.connections == 4


@pytest.mark.parametrize("said", [b"", b"Connection: close\r\n"], ids=["silently", "as it said"])
def test_a_connection_that_the_server_closed_is_not_used_again(site, said) -> None:
    closed = threading.Event()

    def once(connection: socket.socket) -> None:
        heard(connection)
        connection.sendall(ANSWER.replace(b"\r\nX-Twice: a\r\n", b"\r\n" + said))
        connection.shutdown(socket.SHUT_RDWR)
        closed.set()

    where = site(once)
    transport = SyncTransport(where.address)
    for number in range(1, 4):
        assert get(transport, where.address).content == b"{}"
        assert closed.wait(300)
        closed.clear()
        assert where.connections == number


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", b"hello?\r\n\r\n"])
def test_an_answer_that_breaks_off_or_is_none_is_a_broken_connection(site, answer) -> None:
    def broken(connection: socket.socket) -> None:
        heard(connection)
        connection.sendall(answer)

    where = site(broken)
    with pytest.raises(errors.TransportError, match="broke") as caught:
        get(SyncTransport(where.address), where.address)
    assert not caught.value.unsent
    assert not caught.value.refused


def test_an_answer_that_does_not_come_in_time_is_late_and_its_connection_is_left(site) -> None:
    left = threading.Semaphore(0)

    def silent(connection: socket.socket) -> None:
        heard(connection)
        connection.recv(1)  # ends when the caller hangs up
        left.release()

    where = site(silent)
    transport = SyncTransport(where.address)
    for number in (1, 2):
        with pytest.raises(errors.TimedOut) as caught:
            get(transport, where.address, timeout=0.05)
        assert not caught.value.unsent
        assert left.acquire(timeout=300)
        assert where.connections == number


def test_a_port_that_nobody_listens_on_refuses_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(errors.TransportError, match="nothing answers") as caught:
        get(SyncTransport(address), address)
    assert caught.value.unsent
    assert caught.value.refused


def test_a_header_that_cannot_be_sent_is_not_shown(site) -> None:
    where = site(always)
    with pytest.raises(errors.TransportError) as caught:
        get(SyncTransport(where.address), where.address, key="marked\r\nsecret")
    cause: BaseException | None = caught.value
    while cause is not None:
        assert "marked" not in repr(cause)
        cause = cause.__cause__


def test_a_closed_client_says_so(site) -> None:
    where = site(always)
    transport = SyncTransport(where.address)
    get(transport, where.address)
    transport.close()
    with pytest.raises(errors.TransportError, match="closed"):
        get(transport, where.address)


@pytest.mark.parametrize(
    "url",
    [
        "https://localhost/",
        "http://user:word@localhost/",
        "http://localhost/ü",
        "http://localhost/a b",
        "ftp://x/",
        "http://localhost:70000/",
        "http://[::1/",
    ],
)
def test_addresses_that_need_more_are_left_to_the_library(url) -> None:
    assert simple(url) is None
