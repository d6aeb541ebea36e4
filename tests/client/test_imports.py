"""What importing the package costs (performance F, the budget of issue 2)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROUNDS = 3
BUDGET = 0.6


def seconds(code: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=ROOT)
    return time.perf_counter() - begun


@pytest.mark.slow
def test_importing_svcnb_costs_at_most_six_tenths_of_importing_httpx() -> None:
    rounds = [(seconds("pass"), seconds("import svcnb"), seconds("import httpx")) for _ in range(ROUNDS)]
    empty, ours, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    assert ours - empty <= BUDGET * (theirs - empty), f"svcnb {ours - empty:.3f} s, httpx {theirs - empty:.3f} s"


def test_the_errors_alone_load_neither_pydantic_nor_the_http_library() -> None:
    code = "import svcnb.client.errors, sys; sys.exit(bool({'pydantic', 'httpx'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300, cwd=ROOT).returncode == 0
