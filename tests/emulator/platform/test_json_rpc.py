"""JSON-RPC requests to chains over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from svcnb.emulator.platform.json_rpc import over_http


async def test_a_request_of_a_cancelled_caller_completes():
    came, may_answer, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    was_left: list[bool] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        came.set()
        await may_answer.wait()
        was_left.append(reader.at_eof())
        body = b'{"result":"1"}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body))
        writer.write(body)
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    rpc = over_http(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    call = asyncio.create_task(rpc.request("eth_blockNumber"))
    await came.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    asyncio.get_running_loop().call_later(0.05, may_answer.set)
    await rpc.close()
    await ended.wait()
    server.close()
    await server.wait_closed()
    assert was_left == [False]
