"""One emulator for all tests of the workshop; each test has learners of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from svcnb.launch import Emulator
from svcnb.workshop import Workshop


@pytest.fixture(scope="session")
def shared() -> Iterator[Emulator]:
    with Emulator(control_token="the teacher's", action_spares=1) as emulator:
        yield emulator


@pytest.fixture
def room(shared: Emulator) -> Iterator[Workshop]:
    tag = uuid.uuid4().hex[:6]
    workshop = Workshop(shared, [f"ada-{tag}", f"grace-{tag}"], credit_cents=300)
    yield workshop
    workshop.close()


@pytest.fixture
def names(room: Workshop) -> list[str]:
    return [each.name for each in room.roster]


@pytest.fixture
def at_desk(room: Workshop, names: list[str], monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """The room with its desk open, and this process in the place of the first learner's notebook."""
    room.open_desk()
    for name, value in room.environment(names[0]).items():
        monkeypatch.setenv(name, value)
    return room
