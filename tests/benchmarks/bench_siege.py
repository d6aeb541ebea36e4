"""How honest actions fare beside hostile ones: the p99 of a steady stream, quiet and under siege.

    pytest tests/benchmarks -o python_files=bench_siege.py -s

The stream is the one of an editor that runs on every change, five runs a second, while the attempts of
`test_hostile.py` are made two at a time, each attacker with a short breath between two. Without the breath attackers
take every process as soon as it is made, and what is measured is the length of a line.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]

PER_S = 5
STREAM = 100
ATTACKERS = 2
BREATH_S = 0.2


def neighbour(name: str) -> ModuleType:
    """A module of the engine's tests."""
    path = Path(__file__).parents[1] / "actions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"engine_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def room() -> Iterator[Any]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = neighbour("conftest").Room(loop, spares=3)
    yield made
    made.call(made.engine.stop())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def stream(room: Any, source: str) -> list[float]:
    """Milliseconds of honest runs, in order of size."""
    seen = []
    begin = time.perf_counter()
    for n in range(STREAM):
        time.sleep(max(0.0, begin + n / PER_S - time.perf_counter()))
        started = time.perf_counter()
        assert room.value(source, {"n": n}) == {"n": n + 1}
        seen.append((time.perf_counter() - started) * 1000)
    return sorted(seen)


def test_honest_actions_under_siege(room: Any) -> None:
    attempts = neighbour("test_hostile")
    room.until(lambda: room.engine.state().ready == 3, "spares are ready")
    print(f"\nload average at the start {os.getloadavg()[0]:.2f}")
    quiet = stream(room, attempts.HONEST)

    over = threading.Event()
    names = cycle(attempts.ATTEMPTS)
    made = 0

    def attack() -> None:
        nonlocal made
        while not over.is_set():
            source, (how, _) = attempts.ATTEMPTS[next(names)]
            room.run(source, timeout_ms=attempts.TIMEOUT_MS if how == "timeout" else 20_000)
            made += 1
            time.sleep(BREATH_S)

    with ThreadPoolExecutor(ATTACKERS) as attackers:
        futures = [attackers.submit(attack) for _ in range(ATTACKERS)]
        try:
            besieged = stream(room, attempts.HONEST)
        finally:
            over.set()
        for future in futures:
            future.result()
    for name, seen in (("quiet", quiet), (f"under {made} attempts", besieged)):
        print(f"{name}: p50 {statistics.median(seen):.1f} ms, p99 {percentile(seen):.1f} ms, worst {seen[-1]:.1f} ms")
    print(f"p99 {percentile(besieged) / percentile(quiet):.1f} times its quiet value")


def percentile(ordered: list[float], share: float = 0.99) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
