"""An external chain behind a real HTTP server with scripted responses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from svcnb.emulator.chain import remote
from svcnb.emulator.chain.errors import ChainUnavailable
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.protocol.limits import CHAIN_EVENT_SCAN_BLOCKS
from svcnb.toolkit.stub_server import Request, StubServer
from tests.emulator.chain.conftest import StartChain

LOG = {"address": "0x" + "11" * 20, "topics": [], "data": "0x", "blockNumber": "0x3", "logIndex": "0x0"}


class Node:
    """Node that returns a log, and block numbers from a list. The node repeats the last block number.

    Attributes:
        longest: Maximum number of blocks in a request of logs, as with most providers.
        ranges: First and last block of each answered request of logs.
    """

    def __init__(self) -> None:
        self.url = ""
        self.numbers: list[Any] = ["0x2"]
        self.longest = 10_000
        self.ranges: list[tuple[int, int]] = []

    def answer(self, request: Request) -> dict[str, Any]:
        asked = request.json
        if asked["method"] == "eth_blockNumber":
            return rpc(result=self.numbers[0] if len(self.numbers) == 1 else self.numbers.pop(0))
        first, last = (int(asked["params"][0][name], 16) for name in ("fromBlock", "toBlock"))
        if last - first >= self.longest:
            return rpc(error={"code": -32005, "message": "block range too large"})
        self.ranges.append((first, last))
        return rpc(result=[LOG])


def rpc(**answer: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, **answer}


@pytest.fixture
def node() -> Iterator[Node]:
    node = Node()
    with StubServer({"/": node.answer}) as server:
        node.url = server.url
        yield node


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


async def test_after_a_long_interruption_the_polling_reads_all_missed_blocks(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_EVENT_POLL_S", 0.01)
    node.longest = 300
    chain = RemoteChain(node.url)
    await chain.follow(str(LOG["address"]))
    head = 3 * CHAIN_EVENT_SCAN_BLOCKS
    node.numbers = [hex(head)]
    try:
        async with asyncio.timeout(60):
            while chain.head < head:  # noqa: ASYNC110 - no event reports the end of the polling
                await asyncio.sleep(0.01)
    finally:
        await chain.stop()
    read = [block for first, last in node.ranges for block in range(first, last + 1)]
    assert read == [*range(3, head + 1)]


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32600, "message": "this API key is not known"}},
        {"result": None},
        {"result": "mainnet"},
        {"result": ["0x1"]},
    ],
)
async def test_a_start_with_an_unusable_node_is_an_error_of_the_chain(
    start_chain: StartChain, answer: dict[str, Any]
) -> None:
    with StubServer({"/": rpc(**answer)}) as server:
        with pytest.raises(ChainUnavailable) as seen:
            await start_chain(chain_rpc=server.url)
        assert "this API key is not known" in str(seen.value) or "eth_chainId" in str(seen.value)


async def test_a_start_with_an_invalid_response_of_the_contract_is_an_error_of_the_chain(
    start_chain: StartChain,
) -> None:
    """Every address has code on this node, but the calls of the contract return no data."""

    def answer(request: Request) -> dict[str, Any]:
        results = {"eth_chainId": "0x1", "eth_getCode": "0x00"}
        return rpc(result=results.get(request.json["method"], "0x"))

    with StubServer({"/": answer}) as server, pytest.raises(ChainUnavailable, match="the data ends at byte 0"):
        await start_chain(chain_rpc=server.url)
