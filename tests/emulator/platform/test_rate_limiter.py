"""A limit applies to each caller separately. Servers that share a PostgreSQL database count calls together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.rate_limiter import RateLimiter, admit
from svcnb.emulator.platform.store import Store
from svcnb.emulator.triggers.errors import Refused
from svcnb.emulator.triggers.webhooks import PostLimit


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened = Store(None if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    yield opened
    opened.close()


@pytest.fixture
def servers(postgres_url: str) -> Iterator[list[Store]]:
    opened = [Store(postgres_url) for _ in range(3)]
    yield opened
    for store in opened:
        store.close()


async def test_a_window_accepts_its_limit_and_slides(store: Store) -> None:
    limiter, other = RateLimiter("post", 3, store), RateLimiter("something else", 3, store)
    for moment in (0.0, 1.0, 2.0):
        assert await limiter.admit("a", moment) is None
    assert await limiter.admit("a", 59.0) == 1.0
    assert await limiter.admit("b", 59.0) is None
    assert await other.admit("a", 59.0) is None
    assert await limiter.admit("a", 60.0) is None
    assert await limiter.admit("a", 60.5) == 0.5
    assert await limiter.admit("a", 61.0) is None


def coming(who: str, now: float) -> Callable[[Connection], float | None]:
    return partial(admit, what="post", who=who, limit=3, now=now)


async def test_rows_of_inactive_callers_are_deleted(store: Store) -> None:
    for number in range(20):
        await store.run(coming(f"once {number}", float(number)))
    await store.run(coming("later", 1_000.0))
    rows = await store.run(lambda connection: connection.value("SELECT count(*) FROM recent_times"))
    assert rows == 1


async def test_servers_together_admit_as_many_calls_as_one(servers: list[Store]) -> None:
    limits = [PostLimit(10, "ip_rate_limited", "address", "--option", store) for store in servers]
    posts = [limits[n % 3].count("1.2.3.4", 100.0) for n in range(30)]
    answers = await asyncio.gather(*posts, return_exceptions=True)
    refused = [answer for answer in answers if answer is not None]
    assert len(refused) == 20
    assert {(answer.status, answer.code) for answer in refused if isinstance(answer, Refused)} == {
        (429, "ip_rate_limited")
    }


async def test_servers_together_limit_new_accounts_like_one(servers: list[Store]) -> None:
    limiters = [RateLimiter("new_account", 4, store) for store in servers]
    taken = await asyncio.gather(*(limiters[n % 3].admit("1.2.3.4", 100.0) for n in range(12)))
    waits = [wait for wait in taken if wait is not None]
    assert len(taken) - len(waits) == 4
    assert all(0 < wait <= 60 for wait in waits)


async def test_many_active_callers_do_not_make_every_call_slow() -> None:
    store = Store(None)
    limiter = RateLimiter("post", 3, store)
    began = time.process_time()
    for number in range(20_000):
        assert await limiter.admit(f"early {number}", 1.0) is None
    assert time.process_time() - began < 5
    for number in range(20_000):
        assert await limiter.admit(f"late {number}", 100.0) is None
    assert not [name for name in limiter._times if name.startswith("early")]
    store.close()
