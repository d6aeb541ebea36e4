"""An external chain behind a real HTTP server with scripted responses."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from svcnb.emulator.chain import remote
from svcnb.emulator.chain.remote import RemoteChain

LOG = {"address": "0x" + "11" * 20, "topics": [], "data": "0x", "blockNumber": "0x3", "logIndex": "0x0"}


class Node:
    """Node that returns a log, and block numbers from a list. The node repeats the last block number."""

    def __init__(self) -> None:
        self.numbers: list[Any] = ["0x2"]
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                result: Any = [LOG]
                if asked["method"] == "eth_blockNumber":
                    result = node.numbers[0] if len(node.numbers) == 1 else node.numbers.pop(0)
                body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def node() -> Iterator[Node]:
    started = Node()
    yield started
    started.close()


async def test_an_invalid_response_does_not_end_the_polling(
    node: Node, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(remote, "_EVENT_POLL_S", 0.01)
    chain = RemoteChain(node.url)
    heard = asyncio.Event()
    seen: list[Any] = []

    async def on_receipt(receipt: dict[str, Any]) -> None:
        seen.append(receipt["logs"])
        heard.set()

    chain.on_receipt = on_receipt
    await chain.follow(str(LOG["address"]))
    node.numbers = [None, "no number", [], "0x3"]
    try:
        async with asyncio.timeout(60):
            await heard.wait()
    finally:
        await chain.stop()
    assert seen == [[LOG]]
    assert "events of the chain cannot be read" in caplog.text
    assert chain.head == 3
