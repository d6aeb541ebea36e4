"""The offload thread processes accounts in turn, so that many tasks of one account do not block other accounts."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest

from svcnb.emulator.platform.offload import FairQueue, current_account, offload


def test_accounts_take_turns():
    queue, begun, release = FairQueue(), threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        begun.set()
        release.wait(300)

    blocked = queue.submit("greedy", first)
    assert begun.wait(300)
    burst = [queue.submit("greedy", partial(order.append, f"greedy {n}")) for n in range(50)]
    theirs = queue.submit("neighbour", partial(order.append, "neighbour"))
    release.set()
    for done in (blocked, *burst, theirs):
        done.result(300)
    assert order.index("neighbour") == 1
    assert [each for each in order if each != "neighbour"] == [f"greedy {n}" for n in range(50)]


async def test_a_task_of_a_cancelled_caller_does_not_run():
    begun, release = threading.Event(), threading.Event()
    done: list[int] = []

    def first() -> None:
        begun.set()
        release.wait(300)

    blocked = asyncio.ensure_future(offload(first))
    assert await asyncio.to_thread(begun.wait, 300)
    left = asyncio.ensure_future(offload(done.append, 1))
    await asyncio.sleep(0)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    await asyncio.sleep(0)  # the thread reports its end
    release.set()
    await blocked
    await offload(done.append, 2)
    assert done == [2]


async def test_an_error_is_raised_in_the_caller():
    with pytest.raises(ZeroDivisionError):
        await offload(lambda: 1 / 0)


async def test_work_belongs_to_the_account_of_the_current_task(monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    submit = FairQueue.submit

    def noted(queue: FairQueue, account: str, work: Callable[[], Any]) -> Future[Any]:
        seen.append(account)
        return submit(queue, account, work)

    monkeypatch.setattr(FairQueue, "submit", noted)
    context = contextvars.copy_context()
    context.run(current_account.set, "0xabc")
    await asyncio.get_running_loop().create_task(offload(int), context=context)
    await offload(int)
    assert seen == ["0xabc", ""]
