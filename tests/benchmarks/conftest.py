"""Times of fresh processes, interleaved so that a busy machine hits every candidate alike."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pytest


@pytest.fixture(scope="session")
def interpreter_times() -> Callable[[Mapping[str, str], int], dict[str, float]]:
    """Median milliseconds of `python -I -c code`, for several codes in turn."""

    def measure(codes: Mapping[str, str], rounds: int) -> dict[str, float]:
        seen: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(rounds + 1):
            for name, code in codes.items():
                start = time.perf_counter()
                subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, timeout=60)
                seen[name].append((time.perf_counter() - start) * 1000)
        # The first round warms the caches of the file system.
        return {name: statistics.median(times[1:]) for name, times in seen.items()}

    return measure
