"""Parts of the HTTP layer whose behaviour over the network depends on time or chance."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

from svcnb.emulator.access.permission_cache import GrantDelay
from svcnb.emulator.actions.sources import SourceCache
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.body import ToleratedRequests
from svcnb.emulator.http.routing import Call, Dispatcher, Endpoint, Router
from svcnb.emulator.platform.quiesce import Quiesce


def dispatcher() -> Dispatcher:
    return Dispatcher(ToleratedRequests(), exact_types=False, max_body_bytes=1_000)


class Watch:
    """Clock that a test advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_grant_takes_effect_after_its_delay_in_order():
    watch = Watch()
    delay = GrantDelay(1_000, 0, watch)
    delay.note("ActionAddedToGroup", 10)
    watch.now += 0.5
    delay.note("UsageApiKeySet", 12)
    assert delay.last_effective_block() == 9
    watch.now += 0.5
    assert delay.last_effective_block() == 11
    watch.now += 0.5
    assert delay.last_effective_block() is None


def test_removals_take_effect_immediately():
    delay = GrantDelay(1_000, 0, Watch())
    delay.note("ActionRemovedFromGroup", 10)
    delay.note("UsageApiKeyRemoved", 11)
    assert delay.last_effective_block() is None
    at_once = GrantDelay(0, 0, Watch())
    at_once.note("UsageApiKeySet", 10)
    assert at_once.last_effective_block() is None


def test_the_jitter_varies_the_delay_within_its_bound():
    watch = Watch()
    waits = set()
    for block in range(20):
        delay = GrantDelay(100, 1_000, watch)
        delay.note("GroupAdded", block)
        waits.add(round(delay._late[block] - watch.now, 6))
    assert len(waits) > 1
    assert all(0.1 <= wait <= 1.1 for wait in waits)


def test_the_oldest_sources_are_deleted():
    sources = SourceCache(limit_bytes=10)
    sources.put("a", "aaaa")
    sources.put("b", "bbbb")
    sources.put("a", "aaaa")
    sources.put("c", "cccc")
    assert [sources.get(cid) for cid in "abc"] == ["aaaa", None, "cccc"]


async def test_the_state_is_replaced_while_no_request_runs():
    traffic = Quiesce()
    seen: list[str] = []
    await traffic.enter()

    async def exchange() -> None:
        async with traffic.exclusive():
            seen.append("exchange")

    async def request() -> None:
        await traffic.enter()
        seen.append("request")
        traffic.leave()

    exchanging = asyncio.ensure_future(exchange())
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(request())
    await asyncio.sleep(0)
    assert seen == []
    traffic.leave()
    assert traffic.idle_s() == 0.0, "an exchange is in progress, and a request waits for its end"
    await asyncio.gather(exchanging, waiting)
    assert seen == ["exchange", "request"]
    assert traffic.idle_s() > 0.0


async def test_the_idle_time_begins_with_the_last_request_of_any_kind():
    traffic = Quiesce()
    await asyncio.sleep(0.05)
    assert traffic.idle_s() >= 0.05
    await traffic.enter()
    assert traffic.idle_s() == 0.0
    traffic.leave()
    traffic.note()
    assert 0.0 < traffic.idle_s() < 0.05


def test_two_rows_of_the_same_method_and_path_are_a_defect():
    async def handler(_call: object, _given: object) -> None: ...

    rows = [Endpoint("GET", "/a/{b}", handler), Endpoint("GET", "/a/{b}", handler)]
    with pytest.raises(ValueError, match="defined twice"):
        Router(dispatcher(), rows)


async def test_later_endpoints_are_created_once_on_the_first_request():
    made = []

    async def handler(call: Call, _given: object) -> str:
        return call.endpoint.path

    def others():
        made.append(threading.get_ident())
        return [Endpoint("GET", "/later/{id}", handler), Endpoint("POST", "/first", handler)]

    router = Router(dispatcher(), [Endpoint("GET", "/first", handler)], others=others)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(router), base_url="http://router") as client:
        assert (await client.get("/first")).json() == "/first"
        assert made == []
        answers = await asyncio.gather(*(client.get(f"/later/{n}") for n in range(5)), client.post("/first"))
        assert [answer.json() for answer in answers] == ["/later/{id}"] * 5 + ["/first"]
        for method, path, status in (("GET", "/nowhere", 404), ("PUT", "/first", 405)):
            with pytest.raises(StructuredError) as caught:
                await client.request(method, path)
            assert caught.value.status == status
    assert len(made) == 1
    assert made != [threading.get_ident()]


async def test_a_failed_creation_of_endpoints_is_retried():
    tries = []

    async def handler(_call: object, _given: object) -> str:
        return "here"

    def others():
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no more files may be opened")
        return [Endpoint("GET", "/later", handler)]

    router = Router(dispatcher(), [], others=others)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(router), base_url="http://router") as client:
        with pytest.raises(OSError, match="no more files"):
            await client.get("/later")
        assert (await client.get("/later")).json() == "here"
