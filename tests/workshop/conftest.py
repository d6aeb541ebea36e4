"""Fixtures with one workshop for all tests. A test that changes a learner adds a new learner."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcnb.workshop import Workshop


@pytest.fixture(scope="package")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with Workshop(folder=tmp_path_factory.mktemp("room") / "kept", credit_cents=300) as workshop:
        workshop.serve()
        yield workshop


@pytest.fixture
def ada(room: Workshop) -> str:
    """Learner of one test."""
    return room.add(f"ada-{uuid.uuid4().hex[:6]}").name


@pytest.fixture
def at_desk(room: Workshop, ada: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sets the environment variables of a learner's notebook in this process."""
    for name, value in room.environment(ada).items():
        monkeypatch.setenv(name, value)
    return ada


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "room"
