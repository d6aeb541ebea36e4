"""Fair shares of a resource that all accounts use."""

from __future__ import annotations

import asyncio

import pytest

from svcnb.emulator.platform.fair_limit import FairLimit, LimitReached

PATIENCE_S = 300


async def test_one_account_never_has_more_than_its_part():
    limit = FairLimit(10, 3, PATIENCE_S)
    for _ in range(3):
        await limit.take("greedy")
    waiting = asyncio.ensure_future(limit.take("greedy"))
    await limit.take("neighbour")
    assert not waiting.done()
    limit.release("greedy")
    await waiting


async def test_the_account_with_the_smallest_amount_is_served_first():
    limit = FairLimit(2, 2, PATIENCE_S)
    await limit.take("greedy")
    await limit.take("greedy")
    served: list[str] = []

    async def take(account: str) -> None:
        await limit.take(account)
        served.append(account)

    tasks = [asyncio.ensure_future(take(account)) for account in ("greedy", "greedy", "neighbour")]
    await asyncio.sleep(0)
    limit.release("greedy")
    limit.release("greedy")
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert served[0] == "neighbour"
    for task in tasks:
        task.cancel()


async def test_a_timeout_is_an_error_and_acquires_nothing():
    limit = FairLimit(1, 1, 0.01)
    await limit.take("a")
    with pytest.raises(LimitReached, match=r"within 0\.01 seconds"):
        await limit.take("b")
    limit.release("a")
    assert limit.held == 0
    await limit.take("b")


async def test_a_cancelled_caller_lets_the_next_one_continue():
    limit = FairLimit(1, 1, PATIENCE_S)
    await limit.take("a")
    first, second = asyncio.ensure_future(limit.take("b")), asyncio.ensure_future(limit.take("c"))
    await asyncio.sleep(0)
    limit.release("a")
    first.cancel()
    await second
    assert limit.held == 1


async def test_an_amount_above_the_maximum_is_reduced_to_the_maximum():
    limit = FairLimit(100, 50, PATIENCE_S)
    async with limit.hold("a", 80):
        assert limit.held == 50
    assert limit.held == 0
