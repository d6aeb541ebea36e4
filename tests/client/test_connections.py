"""Clients keep and share connections over real sockets, and close them with the last client."""

from __future__ import annotations

import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trustme

from svcnb.client import Client, errors
from svcnb.client._http import AsyncTransport, SyncTransport
from svcnb.client.calls import Request


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.peers.add(self.client_address)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        running.peers = set()  # type: ignore[attr-defined]
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_calls_of_derived_clients_share_one_connection(server) -> None:
    with Client(f"http://127.0.0.1:{server.server_port}") as svc:
        for client in (svc, svc.with_key("a2V5"), svc.with_options(timeout=60)):
            client.wallets.list()
            client.node.payers()
    assert len(server.peers) == 1


def test_a_client_that_was_not_closed_does_not_leak_a_socket(server) -> None:
    svc = Client(f"http://127.0.0.1:{server.server_port}")
    svc.wallets.list()
    gc.collect()  # collect objects of other tests now, so that the test ignores them
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        del svc
        gc.collect()
    assert [str(warning.message) for warning in seen] == []


def test_a_derived_client_works_after_the_first_client_is_deleted(server) -> None:
    svc = Client(f"http://127.0.0.1:{server.server_port}").with_key("a2V5")
    gc.collect()
    assert svc.wallets.list() == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
def test_requests_to_this_machine_ignore_the_proxy_of_the_environment(server, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Client(f"http://127.0.0.1:{server.server_port}") as svc:
        assert svc.wallets.list() == []


@pytest.fixture
def https_url(server, tmp_path, monkeypatch) -> str:
    """Address of an HTTPS server with a certificate of an authority that SSL_CERT_FILE contains."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return f"https://localhost:{server.server_port}"


def request_to(url: str) -> Request:
    return Request("GET", url, content=None, headers={}, connect_timeout=60.0, timeout=60.0)


@pytest.mark.parametrize("service", ["http://127.0.0.1:9", "https://service.test"])
async def test_a_client_of_any_address_verifies_the_certificate_of_a_chain_node(https_url: str, service: str) -> None:
    sync, awaited = SyncTransport(service), AsyncTransport(service)
    assert sync.send(request_to(https_url)).status == 200
    assert (await awaited.send(request_to(https_url))).status == 200
    with pytest.raises(errors.TransportError, match=r"the certificate of .* cannot be verified: .*127\.0\.0\.1"):
        sync.send(request_to(https_url.replace("localhost", "127.0.0.1")))  # not a name in the certificate
    sync.close()
    await awaited.aclose()


def test_the_error_for_a_server_without_tls_names_the_other_scheme(server) -> None:
    transport = SyncTransport("http://127.0.0.1:9")
    with pytest.raises(errors.TransportError, match="cannot start TLS with https://127") as caught:
        transport.send(request_to(f"https://127.0.0.1:{server.server_port}"))
    assert "http:// instead of https://" in caught.value.hint
    transport.close()


def test_the_proxy_of_the_environment_is_for_other_machines(server, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_port}")
    transport = SyncTransport("http://127.0.0.1:9")
    assert transport.send(request_to("http://node.test/")).status == 200  # the server answers as a proxy
    with pytest.raises(errors.TransportError):
        transport.send(request_to("http://localhost:9/"))
    transport.close()


@pytest.fixture
def answering() -> Iterator[Callable[[bytes | None], str]]:
    """Returns a function that starts a server, and returns its address.

    The server sends the same bytes to every connection. For None, the server sends nothing.
    """
    listeners: list[socket.socket] = []

    def make(answer: bytes | None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=_answer_all, args=(listener, answer), daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield make
    for listener in listeners:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # `close` alone leaves a thread in accept()
        listener.close()


def _answer_all(listener: socket.socket, answer: bytes | None) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer) if answer is not None else connection.recv(1)


def get(url: str, *, key: str = "k", timeout: float = 300.0) -> None:
    transport = SyncTransport(url)
    try:
        transport.send(Request("GET", url, {"X-Api-Key": key}, None, connect_timeout=300.0, timeout=timeout))
    finally:
        transport.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", b"hello?\r\n\r\n"])
def test_an_incomplete_or_invalid_response_is_a_broken_connection(answering, answer: bytes) -> None:
    with pytest.raises(errors.TransportError, match="was lost") as caught:
        get(answering(answer))
    assert (caught.value.unsent, caught.value.refused) == (False, False)


def test_a_late_response_is_a_timeout(answering) -> None:
    with pytest.raises(errors.TimedOut) as caught:
        get(answering(None), timeout=0.1)
    assert not caught.value.unsent


def test_a_connection_to_a_closed_port_fails_immediately() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # the socket does not listen, and no other program can use its port
        with pytest.raises(errors.TransportError, match="cannot connect") as caught:
            get(f"http://127.0.0.1:{held.getsockname()[1]}")
    assert (caught.value.unsent, caught.value.refused) == (True, True)


def test_the_error_for_an_invalid_header_does_not_contain_its_value(answering) -> None:
    with pytest.raises(errors.TransportError) as caught:
        get(answering(b""), key="marked\r\nsecret")
    cause: BaseException | None = caught.value
    while cause is not None:
        assert "marked" not in repr(cause)
        cause = cause.__cause__
