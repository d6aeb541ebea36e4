"""60 kills of all kinds of an emulator's processes: ``pytest tests/faults -o python_files=fault_*.py -s``.

`SVC_FAULT_KILLS` sets the number of kills, and `SVC_FAULT_SEED` their times.
"""

from __future__ import annotations

import os

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


def test_sixty_kills_lose_no_acknowledged_call_and_charge_no_other(ordeal):
    kills, seed = int(os.environ.get("SVC_FAULT_KILLS", "60")), int(os.environ.get("SVC_FAULT_SEED", "1"))
    print(ordeal(workers=4, kills=kills, seed=seed))  # noqa: T201 - the counts are the point
