"""Event loop of the panels in a browser page, which already has a loop."""

from __future__ import annotations

import asyncio

import pytest

from svcnb.panels import loop


@pytest.fixture
def background(monkeypatch):
    monkeypatch.setattr(loop, "IN_PAGE", True)
    return loop.Background()


async def work(value: object) -> object:
    await asyncio.sleep(0)
    if isinstance(value, Exception):
        raise value
    return value


async def test_work_runs_on_the_running_loop(background):
    done = background.submit(work(42))
    heard = []
    done.add_done_callback(lambda each: heard.append(each.result()))
    assert await done == 42
    assert heard == [42]


async def test_an_error_of_the_work_reaches_the_waiting_code(background):
    with pytest.raises(ValueError, match="no"):
        await background.submit(work(ValueError("no")))


async def test_cancelling_the_future_cancels_the_work(background):
    ended = asyncio.Event()

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    done = background.submit(long())
    await asyncio.sleep(0)
    assert done.cancel()
    await ended.wait()
    await asyncio.sleep(0)
    assert done.cancelled()
