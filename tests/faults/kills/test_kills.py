"""Short version of `fault_kills` for every test run, with one kill of each kind of process."""

from __future__ import annotations

import sys

import pytest

pytestmark = [
    pytest.mark.engine,
    pytest.mark.chain,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]


def test_a_kill_of_any_process_loses_no_acknowledged_call(ordeal):
    print(ordeal(workers=2, kills=6, seed=1))  # noqa: T201 - the counts are the point
