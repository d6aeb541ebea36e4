"""Compressed responses: the emulator decodes gzip and deflate, and never uses more memory than the limit."""

from __future__ import annotations

import asyncio
import gzip
import threading
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from svcnb.emulator.platform.addresses import AddressPolicy, AllowedAddress
from svcnb.emulator.sandbox.content_coding import PIECE_BYTES, BadCoding, decoded
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse, OperationRefused
from svcnb.protocol.limits import ActionLimits

TEXT = b"a text that repeats, " * 20_000
LIMITS = ActionLimits(fetch_timeout_ms=60_000)
BARE = zlib.compressobj(wbits=-zlib.MAX_WBITS)
BODIES = {
    "gzip": gzip.compress(TEXT),
    "X-GZIP": gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:]),
    "gzip ": gzip.compress(TEXT) + b"bytes behind the end",
    "deflate": zlib.compress(TEXT),
    "Deflate": BARE.compress(TEXT) + BARE.flush(),
    "": TEXT,
    "identity": TEXT,
    "other": TEXT,
}


async def pieces_of(body: bytes, chunk: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), chunk):
        yield body[start : start + chunk]


@pytest.mark.parametrize("coding", BODIES)
@pytest.mark.parametrize("chunk", [1, 1_000, 10**9])
async def test_a_body_is_read_however_it_arrives(coding: str, chunk: int) -> None:
    body = BODIES[coding]
    if chunk == 1 and len(body) > 10_000:
        chunk = 7
    pieces = [piece async for piece in decoded(pieces_of(body, chunk), coding)]
    assert b"".join(pieces) == TEXT
    assert coding in {"", "identity", "other"} or max(map(len, pieces)) <= PIECE_BYTES


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_body_that_is_not_what_its_header_says_is_an_error(coding: str) -> None:
    with pytest.raises(BadCoding, match=f"response body is not {coding} data"):
        [piece async for piece in decoded(pieces_of(b"\xff\xffplain text", 100), coding)]


@pytest.fixture(scope="module")
def bomb() -> Iterator[str]:
    """Serves 200 MB of data in a body of 200 kB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    body = b"".join(packer.compress(bytes(10_000_000)) for _ in range(20)) + packer.flush()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def always_compressed() -> Iterator[str]:
    """Server that ignores Accept-Encoding. The path of a request is the content coding of the response."""
    # The bodies for br (RFC 7932) and zstd (RFC 8878) contain the text as an uncompressed block.
    bodies = {
        "br": b"\x0b\x02\x80hello\x03",
        "zstd": b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello",
        "gzip": gzip.compress(b"hello"),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            coding = self.path.lstrip("/")
            self.send_response(200)
            self.send_header("content-encoding", coding)
            self.send_header("content-length", str(len(bodies[coding])))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(bodies[coding])

        do_HEAD = do_GET  # noqa: N815 - the name that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_an_action_can_see_that_a_body_is_still_compressed(always_compressed: str) -> None:
    network = Network(addresses=AddressPolicy([AllowedAddress("127.0.0.1", None)]))
    try:
        plain = await network.fetch(FetchRequest("GET", f"{always_compressed}gzip"), LIMITS)
        assert (plain.body, dict(plain.headers).get("content-encoding")) == (b"hello", None)
        # Deno does not decode zstd either: the action receives the compressed bytes and the header.
        raw = await network.fetch(FetchRequest("GET", f"{always_compressed}zstd"), LIMITS)
        assert raw.body.endswith(b"hello")
        assert dict(raw.headers)["content-encoding"] == "zstd"
        with pytest.raises(OperationRefused, match="content coding br, which the emulator does not support"):
            await network.fetch(FetchRequest("GET", f"{always_compressed}br"), LIMITS)
        empty = await network.fetch(FetchRequest("HEAD", f"{always_compressed}br"), LIMITS)
        assert (empty.status, empty.body) == (200, b"")
    finally:
        await network.close()


async def test_a_response_is_discarded_at_its_size_limit(bomb: str) -> None:
    network = Network(addresses=AddressPolicy([AllowedAddress("127.0.0.1", None)]))
    limits = LIMITS._replace(max_fetch_bytes=4_000_000)

    async def fetch() -> FetchResponse:
        return await network.fetch(FetchRequest("GET", bomb), limits)

    with pytest.raises(OperationRefused, match="longer than 4000000 bytes"):
        await fetch()  # loads the modules
    tracemalloc.start()
    try:
        answers = await asyncio.gather(*(fetch() for _ in range(3)), return_exceptions=True)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        await network.close()
    assert [type(answer) for answer in answers] == [OperationRefused] * 3
    assert most < 30_000_000, "64 KiB of these answers are 64 MB"
