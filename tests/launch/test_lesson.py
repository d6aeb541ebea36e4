"""Client and emulator of a lesson's first cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import svcnb
from svcnb import lessons
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    yield
    while lessons._running:
        lessons._running.popitem()[1].stop()


def first_outputs(name: str) -> tuple[object, ...]:
    emulator = lessons.lesson(name)
    assert isinstance(emulator, Emulator)
    svc = emulator.client()
    account = svc.accounts.create("reader")
    return emulator.contract_address, account.wallet_address, account.api_key.reveal(), emulator.clock.now()


@pytest.mark.slow
def test_a_lesson_has_the_same_keys_and_time_at_every_start() -> None:
    assert first_outputs("one") == first_outputs("one")


@pytest.mark.slow
def test_two_lessons_differ() -> None:
    assert first_outputs("one")[1] != first_outputs("two")[1]


@pytest.mark.slow
def test_the_first_cell_may_be_run_twice() -> None:
    before = lessons.lesson("twice")
    lessons.lesson("twice")
    assert isinstance(before, Emulator)
    assert not before.running


def test_a_shared_emulator_is_used_when_the_environment_names_one(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_BASE_URL", emulator.base_url)
    shared = lessons.lesson("one")
    assert shared.base_url == emulator.base_url
    assert not isinstance(shared, lessons.LiveService)
    assert lessons._running == {}


def test_a_lesson_of_the_lab_uses_its_own_emulator(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_BASE_URL", emulator.base_url)
    monkeypatch.setenv("SVC_LESSONS", "own")
    assert lessons.lesson("one").base_url != emulator.base_url


def test_a_live_service_can_be_used_but_not_controlled() -> None:
    live = lessons.LiveService("https://api.example.org/")
    assert live.base_url == "https://api.example.org"
    with live.client() as svc:
        assert svc.base_url == "https://api.example.org"
    with pytest.raises(lessons.NotAnEmulator, match="only an emulator has functions that control the service"):
        live.reset()
    with pytest.raises(svcnb.SvcnbError):
        live.clock.advance("10m")
