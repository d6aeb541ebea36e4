"""Connection to a node over a Unix socket. The node is a real server that reads only when a test permits it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from svcnb.emulator.chain import connection
from svcnb.emulator.chain.connection import StreamConnection
from svcnb.emulator.chain.errors import ChainUnavailable

LARGE = "x" * 4_000_000
"""Parameter that does not fit into the buffers of a socket."""
WAIT_S = 20.0


@asynccontextmanager
async def connected(folder: Path, reads: asyncio.Event) -> AsyncIterator[StreamConnection]:
    """Connects to a node that waits for the event, and then returns the method's name as the result of each request."""

    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reads.wait()
        received = b""
        with suppress(ConnectionError):
            while piece := await reader.read(1 << 20):
                *lines, received = (received + piece).split(b"\n")
                for asked in map(json.loads, lines):
                    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": asked["method"]}
                    writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    server = await asyncio.start_unix_server(serve, folder / "rpc")
    opened = await StreamConnection.open(folder / "rpc")
    try:
        yield opened
    finally:
        reads.set()
        await opened.close()
        await ended.wait()
        server.close()


async def until_it_waits(opened: StreamConnection) -> None:
    """Waits until the node's unread data fills all buffers, so that a request cannot write its next part."""
    async with asyncio.timeout(WAIT_S):
        while not opened._writing.locked():  # noqa: ASYNC110 - no event reports a full buffer
            await asyncio.sleep(0.01)


async def test_a_request_to_a_node_that_does_not_read_ends_with_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "RPC_TIMEOUT_S", 0.2)
    async with connected(tmp_path, asyncio.Event()) as opened, asyncio.timeout(WAIT_S):
        for params in ((LARGE,), ()):
            with pytest.raises(ChainUnavailable, match="did not respond to eth_call"):
                await opened.request("eth_call", *params)


async def test_a_cancelled_request_does_not_affect_later_requests(tmp_path: Path) -> None:
    reads = asyncio.Event()
    async with connected(tmp_path, reads) as opened, asyncio.timeout(WAIT_S):
        cancelled = asyncio.create_task(opened.request("eth_call", LARGE))
        await until_it_waits(opened)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        reads.set()
        assert await opened.request("eth_chainId") == "eth_chainId"


async def test_a_connection_closes_even_if_the_node_does_not_read(tmp_path: Path) -> None:
    async with connected(tmp_path, asyncio.Event()) as opened, asyncio.timeout(WAIT_S):
        asked = asyncio.create_task(opened.request("eth_call", LARGE))
        await until_it_waits(opened)
        await opened.close()
        with pytest.raises(ChainUnavailable, match="the connection to the chain node is lost"):
            await asked
