"""500 runs of 20 triggers, and ten kills of the service: ``pytest tests/faults -o python_files=fault_*.py -s``."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


@pytest.mark.parametrize("seed", [1])
def test_every_accepted_run_ends_once_though_the_service_is_killed_ten_times(siege, seed):
    print(siege(runs=500, triggers=20, kills=10, seed=seed))  # noqa: T201 - the counts are the point
