"""Times of fresh processes, interleaved so that a busy machine hits every candidate alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pytest


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which every candidate keeps its byte code, as an installed package does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


@pytest.fixture(scope="session")
def interpreter_times(compiled: dict[str, str]) -> Callable[[Mapping[str, str], int], dict[str, float]]:
    """Median milliseconds of `python -c code`, for several codes in turn."""

    def measure(codes: Mapping[str, str], rounds: int) -> dict[str, float]:
        seen: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(rounds + 1):
            for name, code in codes.items():
                start = time.perf_counter()
                command = [sys.executable, "-c", code]
                subprocess.run(command, check=True, env=compiled, stdout=subprocess.DEVNULL, timeout=60)
                seen[name].append((time.perf_counter() - start) * 1000)
        # The first round fills the caches.
        return {name: statistics.median(times[1:]) for name, times in seen.items()}

    return measure
