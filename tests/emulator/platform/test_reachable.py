"""Health check of another process, whose result is valid for a second unless the process is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from svcnb.emulator.platform.reachable import FRESH_S, Reachable, is_stopped, process_state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the state of a process is read in /proc")


@pytest.fixture
def process() -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"]) as running:
        yield running.pid
        running.kill()


class Asked:
    """Simulated process that responds when the test sets the response."""

    def __init__(self) -> None:
        self.count = 0
        self.may_answer = asyncio.Event()
        self.works = True

    async def __call__(self) -> bool:
        self.count += 1
        await self.may_answer.wait()
        return self.works


async def test_a_recent_result_is_used_while_the_process_is_busy(process: int) -> None:
    ask, now = Asked(), [0.0]
    reachable = Reachable(ask, clock=lambda: now[0])
    ask.may_answer.set()
    assert await reachable.now(process)
    ask.may_answer.clear()
    now[0] += FRESH_S / 2
    assert await asyncio.wait_for(reachable.now(process), 10)
    await reachable.close()


async def test_an_old_result_is_not_used(process: int) -> None:
    ask, now = Asked(), [0.0]
    reachable = Reachable(ask, clock=lambda: now[0])
    ask.may_answer.set()
    assert await reachable.now(process)
    now[0] += FRESH_S
    ask.works = False
    assert not await reachable.now(process)


async def test_concurrent_checks_share_one_result(process: int) -> None:
    ask = Asked()
    reachable = Reachable(ask)
    asked = [asyncio.create_task(reachable.now(process)) for _ in range(5)]
    await asyncio.sleep(0)
    asked[0].cancel()
    ask.may_answer.set()
    assert await asyncio.gather(*asked[1:]) == [True] * 4
    assert ask.count == 1


async def test_a_stopped_process_is_not_reachable(process: int) -> None:
    ask = Asked()
    ask.may_answer.set()
    reachable = Reachable(ask)
    assert await reachable.now(process)
    os.kill(process, signal.SIGSTOP)
    await asyncio.to_thread(os.waitid, os.P_PID, process, os.WSTOPPED | os.WNOWAIT)
    assert is_stopped(process)
    assert not await reachable.now(process)
    os.kill(process, signal.SIGCONT)


async def test_an_unknown_process_is_checked_every_time() -> None:
    ask = Asked()
    ask.may_answer.set()
    reachable = Reachable(ask)
    for pid in (None, 0, 2**22 + 1):
        assert process_state(pid) == ""
        assert await reachable.now(pid)
    assert ask.count == 3
