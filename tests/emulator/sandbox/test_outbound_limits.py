"""Limits on the outbound requests of one account, so that other accounts can still send requests."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest

from svcnb.emulator.platform.addresses import AddressPolicy, AllowedAddress
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse, OperationRefused
from svcnb.emulator.sandbox.repeat import RepeatableHost
from svcnb.protocol.limits import (
    MAX_HELD_BYTES_PER_ACCOUNT,
    MAX_OUTBOUND_PER_ACCOUNT,
    MAX_OUTBOUND_PER_RUN,
    MAX_REPEATABLE_BYTES,
    ActionLimits,
)

LIMITS = ActionLimits()
LARGE = 40 * 2**20

HERE = AddressPolicy([AllowedAddress("127.0.0.1", None)])


@pytest.fixture
def room_host() -> Any:
    """Creates hosts of one account, without an engine."""
    from svcnb.emulator.keys.custody import Custody
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.sandbox.host import ActionHost
    from svcnb.protocol.vocabulary import Vocabulary

    async def no_wallet(_: str) -> bytes:
        return b""

    custody = Custody(b"\7" * 32, Vocabulary(), Randomness("tests"))
    return lambda network: ActionHost(
        custody=custody, cid="Qm", wallet_secret=no_wallet, headers={}, network=network, account="one"
    )


class Slow:
    """Web server that responds to `/quick` immediately, and delays all other responses until the test releases them."""

    def __init__(self) -> None:
        self.waiting = 0
        self.arrived = asyncio.Condition()
        self.released = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            body = b"x" * LARGE if b"/large" in head else b"fine"
            if b"/slow" in head:
                async with self.arrived:
                    self.waiting += 1
                    self.arrived.notify_all()
                await self.released.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()

    async def until_waiting(self, count: int) -> None:
        async with self.arrived:
            await self.arrived.wait_for(lambda: self.waiting >= count)


@asynccontextmanager
async def slow_site() -> AsyncIterator[Slow]:
    slow = Slow()
    server = await asyncio.start_server(slow.serve, "127.0.0.1", 0)
    slow.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield slow
    finally:
        slow.released.set()
        server.close()


async def test_many_requests_to_a_slow_host_do_not_delay_other_accounts():
    network = Network(addresses=HERE)
    async with slow_site() as slow:
        flood = [
            asyncio.ensure_future(network.fetch(FetchRequest("GET", slow.url + "/slow"), LIMITS, "greedy"))
            for _ in range(150)
        ]
        await slow.until_waiting(MAX_OUTBOUND_PER_ACCOUNT)
        answer = await network.fetch(FetchRequest("GET", slow.url + "/quick"), LIMITS, "neighbour")
        assert answer.body == b"fine"
        assert slow.waiting == MAX_OUTBOUND_PER_ACCOUNT
        slow.released.set()
        assert {found.body for found in await asyncio.gather(*flood)} == {b"fine"}
        await network.close()


async def test_one_run_has_a_lower_request_limit_than_its_account(room_host: Any):
    network = Network(addresses=HERE)
    async with slow_site() as slow:
        host = room_host(network)
        tasks = [asyncio.ensure_future(host.fetch(FetchRequest("GET", slow.url + "/slow"), LIMITS)) for _ in range(30)]
        await slow.until_waiting(MAX_OUTBOUND_PER_RUN)
        other = asyncio.ensure_future(room_host(network).fetch(FetchRequest("GET", slow.url + "/slow"), LIMITS))
        await slow.until_waiting(MAX_OUTBOUND_PER_RUN + 1)
        assert slow.waiting == MAX_OUTBOUND_PER_RUN + 1
        slow.released.set()
        await asyncio.gather(other, *tasks)
        await network.close()


@pytest.mark.slow
async def test_large_responses_have_a_memory_budget_that_is_released():
    network = Network(addresses=HERE)
    async with slow_site() as slow:
        large = FetchRequest("GET", slow.url + "/large")
        first = await network.fetch(large, LIMITS, "greedy")
        second = asyncio.ensure_future(network.fetch(large, LIMITS, "greedy"))
        neighbour = await network.fetch(large, LIMITS, "neighbour")
        assert 2 * LARGE > MAX_HELD_BYTES_PER_ACCOUNT
        assert not second.done()
        assert network._held.held == 2 * LARGE
        for held in (first, neighbour):
            for release in (*held.held, *held.held):
                release()
        for release in (await second).held:
            release()
        assert network._held.held == 0
        await network.close()


async def test_the_budget_of_a_too_long_response_is_released():
    network = Network(addresses=HERE)
    async with slow_site() as slow:
        with pytest.raises(OperationRefused, match="longer than 1000000 bytes"):
            await network.fetch(
                FetchRequest("GET", slow.url + "/large"), LIMITS._replace(max_fetch_bytes=1_000_000), "a"
            )
        assert network._held.held == 0
        await network.close()


async def test_a_run_that_received_much_from_requests_with_effects_is_not_repeated():
    class Host:
        account = ""
        headers: ClassVar[dict[str, str]] = {}

        async def fetch(self, request: FetchRequest, _: ActionLimits) -> FetchResponse:
            return FetchResponse(200, "", (), b"x" * (MAX_REPEATABLE_BYTES // 2 + 1), request.url)

    host = RepeatableHost(Host())  # type: ignore[arg-type]
    for n in range(2):
        await host.fetch(FetchRequest("POST", f"http://127.0.0.1/{n}"), LIMITS)
    assert host.operations == 0
    host.repeat(0.0)
    with pytest.raises(OperationRefused, match="different requests"):
        await host.fetch(FetchRequest("POST", "http://127.0.0.1/0"), LIMITS)
    assert host.diverged


class Refusing:
    """Host that returns a long text for encryptions, or rejects the encryptions."""

    account = ""
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, answer: str | None) -> None:
        self.answer = answer

    async def key_operation(self, *_: str) -> str:
        if self.answer is None:
            raise OperationRefused("no such wallet")
        return self.answer

    async def fetch(self, request: FetchRequest, _: ActionLimits) -> FetchResponse:
        return FetchResponse(200, "", (), b"", request.url)


@pytest.mark.parametrize("answer", [None, "short"])
async def test_stored_operations_have_a_size_limit(answer: str | None):
    host = RepeatableHost(Refusing(answer))  # type: ignore[arg-type]
    for n in range(40):
        with contextlib.suppress(OperationRefused):
            await host.key_operation("encrypt", "0x", f"{n}" * 10**6)
    remembered = sum(len(str(part)) for entry in host._entries for part in entry.asked)
    assert remembered <= MAX_REPEATABLE_BYTES
    host.repeat(0.0)
    assert not host.diverged  # a repeated run can execute a key operation again


async def test_a_run_that_sent_large_requests_is_not_repeated():
    host = RepeatableHost(Refusing(None))  # type: ignore[arg-type]
    body = b"x" * (MAX_REPEATABLE_BYTES // 2 + 1)
    for n in range(2):
        await host.fetch(FetchRequest("POST", f"http://127.0.0.1/{n}", (), body), LIMITS)
    assert host.operations == 0
    host.repeat(0.0)
    assert host.diverged


async def test_requests_are_repeated_if_only_key_operations_were_discarded():
    host = RepeatableHost(Refusing("short"))  # type: ignore[arg-type]
    for n in range(10):
        await host.key_operation("encrypt", "0x", f"{n}" * 10**6)
    host.repeat(0.0)
    for n in range(2):
        assert (await host.fetch(FetchRequest("GET", f"http://127.0.0.1/{n}"), LIMITS)).status == 200
    assert not host.diverged


async def test_the_budget_of_an_unused_response_is_released_at_the_end():
    given_back: list[str] = []

    class Holding(Refusing):
        async def fetch(self, request: FetchRequest, _: ActionLimits) -> FetchResponse:
            body = b"x" * (MAX_REPEATABLE_BYTES + 1)
            return FetchResponse(200, "", (), body, request.url, held=(lambda: given_back.append(request.url),))

    host = RepeatableHost(Holding(None))  # type: ignore[arg-type]
    await host.fetch(FetchRequest("GET", "http://127.0.0.1/1"), LIMITS)
    assert host.operations == 0
    host.close()
    assert given_back == ["http://127.0.0.1/1"]


async def test_a_failed_request_leaves_no_references_to_its_bytes():
    class Failing(Refusing):
        async def fetch(self, request: FetchRequest, _: ActionLimits) -> FetchResponse:
            answer = Large()
            held.append(weakref.ref(answer))
            await asyncio.sleep(0)
            raise OperationRefused(f"{request.url} failed half way")

    held: list[weakref.ref[Large]] = []
    gc.disable()
    try:
        host = RepeatableHost(Failing(None))  # type: ignore[arg-type]
        with contextlib.suppress(OperationRefused):
            await host.fetch(FetchRequest("GET", "http://127.0.0.1/1"), LIMITS)
        host.close()
        await asyncio.sleep(0)
        assert [each() for each in held] == [None]
    finally:
        gc.enable()


class Large:
    """Object of a failed request to which no reference must remain."""
