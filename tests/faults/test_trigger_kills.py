"""The short form of `fault_trigger_kills`, for every test run."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


def test_every_accepted_run_ends_once_though_the_service_is_killed_three_times(siege):
    print(siege(runs=60, triggers=6, kills=3, seed=1))
