"""Processor time of importing the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_ROUNDS = 20
BUDGET = 0.6


def seconds(code: str) -> float:
    """Returns the processor time of a process, which does not include other processes."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=ROOT)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.slow
def test_importing_svcnb_takes_at_most_sixty_percent_of_the_time_of_importing_httpx() -> None:
    codes = ("pass", "import svcnb", "import httpx")
    least = dict.fromkeys(codes, float("inf"))
    # Other load only increases the time, so the minimum of several rounds is the best estimate.
    for _ in range(MOST_ROUNDS):
        least = {code: min(known, seconds(code)) for code, known in least.items()}
        empty, ours, theirs = (least[code] for code in codes)
        if 0 < ours - empty <= BUDGET * (theirs - empty):
            return
    pytest.fail(f"svcnb {ours - empty:.3f} s, httpx {theirs - empty:.3f} s")


def test_importing_the_errors_loads_neither_pydantic_nor_the_http_library() -> None:
    code = "import svcnb.client.errors, sys; sys.exit(bool({'pydantic', 'httpx'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300, cwd=ROOT).returncode == 0
