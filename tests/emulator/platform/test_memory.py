"""An idle service releases unused memory to the operating system."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import weakref

import pytest

from svcnb.emulator.platform.memory import GROWN_BYTES, MUCH_BYTES, MemoryKeeper


class Ring:
    """Object that refers to itself, like a closed connection and its protocol."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def no_collector():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    ("busy", "grown", "collected"),
    [(False, GROWN_BYTES, True), (True, GROWN_BYTES, False), (True, MUCH_BYTES, True)],
)
async def test_a_large_idle_process_collects_garbage_and_releases_freed_memory(
    *, busy: bool, grown: int, collected: bool
):
    sizes = iter([100 * 2**20, 100 * 2**20 + grown])
    given_back: list[bool] = []
    keeper = MemoryKeeper(lambda: busy, resident=lambda: next(sizes), release=lambda: given_back.append(True))
    await keeper.look()
    assert given_back == []
    ring = weakref.ref(Ring())
    await keeper.look()
    assert given_back == [True]
    assert (ring() is None) is collected


async def test_a_process_that_has_not_grown_releases_nothing():
    sizes = iter([100 * 2**20, 90 * 2**20, 90 * 2**20 + GROWN_BYTES - 1])
    given_back: list[bool] = []
    keeper = MemoryKeeper(resident=lambda: next(sizes), release=lambda: given_back.append(True))
    for _ in range(3):
        await keeper.look()
    assert given_back == []


async def test_without_a_known_size_nothing_is_released():
    given_back: list[bool] = []
    await MemoryKeeper(resident=lambda: None, release=lambda: given_back.append(True)).look()
    assert given_back == []


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library")
def test_memory_between_blocks_in_use_is_released():
    program = """
        import asyncio
        from svcnb.emulator.platform.memory import MemoryKeeper, configure_allocator, resident_bytes

        configure_allocator()
        keeper = MemoryKeeper()
        asyncio.run(keeper.look())
        blocks = [bytes(100_000) for _ in range(2_000)]
        kept = blocks[::50]
        del blocks
        large = resident_bytes()
        asyncio.run(keeper.look())
        print(large - resident_bytes())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], check=True, capture_output=True, text=True, timeout=120
    )
    assert int(done.stdout) > 100 * 2**20
