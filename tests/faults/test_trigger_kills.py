"""Short version of `fault_trigger_kills` for every test run."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


def test_every_accepted_run_ends_once_although_the_service_is_killed_twice(siege):
    print(siege(runs=40, triggers=5, kills=2, seed=1))  # noqa: T201 - the counts are the point
