"""Latency (p99) of normal actions in a constant stream, without and with concurrent hostile actions.

    pytest tests/benchmarks -o python_files=bench_siege.py -s

The stream is that of an editor that runs the action after every change: five runs per second for a minute. Another
account runs the hostile actions of `test_hostile.py`, two at a time, with a short pause between them.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
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
STREAM = 300
ATTACKERS = 2
BREATH_S = 0.2


def neighbour(name: str) -> ModuleType:
    """Imports a module of the engine's tests."""
    path = Path(__file__).parents[1] / "emulator" / "sandbox" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"engine_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look up their own module
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


def stream(room: Any, source: str) -> tuple[list[float], int]:
    """Returns the sorted milliseconds of normal runs, and the number of runs that found no spare."""
    seen, waited = [], 0
    begin = time.perf_counter()
    for n in range(STREAM):
        time.sleep(max(0.0, begin + n / PER_S - time.perf_counter()))
        started = time.perf_counter()
        outcome = room.run(source, {"n": n}, host=room.host(account="honest"))
        seen.append((time.perf_counter() - started) * 1000)
        assert outcome.response == {"n": n + 1}, outcome.error
        waited += outcome.trace.events[0].detail["took_ms"] > 1
    return sorted(seen), waited


def test_honest_actions_under_siege(room: Any) -> None:
    attempts = neighbour("test_hostile")
    room.until(lambda: room.engine.state().ready == 3, "spares are ready")
    print(f"\nload average at the start {os.getloadavg()[0]:.2f}")
    quiet, _ = stream(room, attempts.HONEST)

    over = threading.Event()
    names = cycle(attempts.ATTEMPTS)
    made = 0

    def attack() -> None:
        nonlocal made
        while not over.is_set():
            source, (how, _) = attempts.ATTEMPTS[next(names)]
            timeout_ms = attempts.TIMEOUT_MS if how == "timeout" else 20_000
            room.run(source, timeout_ms=timeout_ms, host=room.host(account="attacker"))
            made += 1
            time.sleep(BREATH_S)

    with ThreadPoolExecutor(ATTACKERS) as attackers:
        futures = [attackers.submit(attack) for _ in range(ATTACKERS)]
        try:
            besieged, waited = stream(room, attempts.HONEST)
        finally:
            over.set()
        for future in futures:
            future.result()
    for name, seen in (("quiet", quiet), (f"under {made} attempts", besieged)):
        shares = [f"p{share} {percentile(seen, share):.1f} ms" for share in (50, 90, 95, 99)]
        print(f"{name}: {', '.join(shares)}")
    print(
        f"p99 {percentile(besieged) / percentile(quiet):.1f} times its quiet value; {waited} runs waited for a process"
    )


def percentile(ordered: list[float], share: int = 99) -> float:
    """Returns a percentile with the nearest-rank method."""
    return ordered[-(-len(ordered) * share // 100) - 1]
