from __future__ import annotations

from collections.abc import Iterator

import pytest

from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.billing.processor import Processor
from svcnb.emulator.clock import Clock
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.randomness import Randomness
from svcnb.emulator.settings import Settings
from svcnb.emulator.store import Store

NOON = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'state.db'}" if request.param == "file" else None)
    yield opened
    opened.close()


@pytest.fixture
def ledger(store, clock) -> Ledger:
    return Ledger(store, clock)


@pytest.fixture
def processor(store, clock) -> Processor:
    settings = Settings(crypto_delay_ms=60_000)
    randomness = Randomness()
    custody = Custody(b"\7" * 32, settings.vocabulary, randomness)
    return Processor(store=store, clock=clock, randomness=randomness, custody=custody, settings=settings)
