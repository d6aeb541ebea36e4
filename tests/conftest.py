"""What all tests share: an emulator in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from svcnb.launch import Emulator

# A busy machine is no failure: how long an example takes says nothing here.
settings.register_profile("svcnb", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("svcnb")


@pytest.fixture(scope="session")
def session_emulator() -> Iterator[Emulator]:
    """One emulator for the whole run; take `emulator` unless a wider scope is needed."""
    from svcnb.launch import Emulator

    with Emulator(starter_credits=1_000) as running:
        yield running


@pytest.fixture
def emulator(session_emulator: Emulator) -> Emulator:
    """A running emulator (starter_credits 1000 cents). Shared, so a test makes its own account."""
    return session_emulator


@pytest.fixture
def start_emulator() -> Iterator[Callable[..., Emulator]]:
    """Starts further emulators with settings of one's own; they end with the test."""
    from svcnb.launch import Emulator

    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Emulator(**settings))
