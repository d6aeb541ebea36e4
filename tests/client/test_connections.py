"""Connections over real sockets: kept, shared, and closed when nobody holds them any more."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from svcnb.client import Client


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


def test_calls_share_one_kept_connection_also_between_derived_clients(server) -> None:
    with Client(f"http://127.0.0.1:{server.server_port}") as svc:
        for client in (svc, svc.with_key("a2V5"), svc.with_options(timeout=5)):
            client.wallets.list()
            client.node.payers()
    assert len(server.peers) == 1


def test_a_client_that_nobody_closed_leaves_no_socket_behind(server) -> None:
    svc = Client(f"http://127.0.0.1:{server.server_port}")
    svc.wallets.list()
    gc.collect()  # what others left is not looked at here
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        del svc
        gc.collect()
    assert [str(warning.message) for warning in seen] == []


def test_a_derived_client_works_on_when_the_first_is_gone(server) -> None:
    svc = Client(f"http://127.0.0.1:{server.server_port}").with_key("a2V5")
    gc.collect()
    assert svc.wallets.list() == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(server, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Client(f"http://127.0.0.1:{server.server_port}") as svc:
        assert svc.wallets.list() == []
