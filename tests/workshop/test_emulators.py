"""Emulators of learners: start on demand, separation, storage, reset and restore."""

from __future__ import annotations

import json
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb import lessons
from svcnb.control import ControlRefused, EmulatorControl
from svcnb.launch import Emulator
from svcnb.workshop import Workshop

pytestmark = [pytest.mark.chain, pytest.mark.engine]

START_S = lessons.LESSON_TIME_S


def own(room: Workshop, name: str) -> svcnb.Client:
    """Returns a client of a learner's own emulator, like `svcnb.Client()` in the learner's notebook."""
    return svcnb.Client(base_url=room.environment(name)["SVC_BASE_URL"])


def lesson(name: str, **options: Any) -> EmulatorControl:
    handle = svcnb.lesson(name, **options)
    assert isinstance(handle, EmulatorControl)
    return handle


def test_the_first_request_starts_a_learners_emulator(room: Workshop, ada: str) -> None:
    assert room.running(ada) == []
    with own(room, ada) as svc:
        account = svc.accounts.create("mine")
        assert svc.with_key(account).billing.balance().available_cents == 300
    assert len(room.running(ada)) == 1


@pytest.mark.usefixtures("at_desk")
def test_a_lesson_has_the_usual_outputs_with_the_learners_data() -> None:
    with Emulator(**lessons.lesson_settings("same"), starter_credits=500) as home:
        expected = home.client().accounts.create("reader")
        shown = repr(home)
    emu = lesson("same", starter_credits=500)
    account = emu.client().accounts.create("reader")
    assert account.wallet_address == expected.wallet_address
    assert account.api_key.reveal() == expected.api_key.reveal()
    assert repr(emu) == shown
    emu.clock.advance("10m")
    assert emu.clock.now() == START_S + 600
    emu.faults.next("billing")
    with pytest.raises(svcnb.Unavailable):
        emu.client(api_key=account.api_key).with_options(retries=0).groups.create("unlucky")
    emu.snapshot("mine")
    emu.reset()
    assert emu.faucet("0x" + "11" * 20) == 10 * 10**18
    emu.close()


@pytest.mark.slow
@pytest.mark.usefixtures("at_desk")
def test_the_first_cell_starts_a_lesson_again_or_resumes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = svcnb.LocalSigner.from_key(svcnb.practice_key(1))
    emu = lesson("again")
    emu.faucet(owner.address)
    first = emu.client().chain_secured.create(owner, "mine")
    # After a restart, a kernel runs the same cells again. Without a new state, the cells raise AccountAlreadyExists.
    again = lesson("again")
    again.faucet(owner.address)
    assert again.client().chain_secured.create(owner, "mine").api_key_hash == first.api_key_hash
    assert again.base_url == emu.base_url
    resumed = lesson("again", resume=True)
    assert resumed.client().chain_secured.open(owner).api_key_hash == first.api_key_hash
    # The solution of a lesson is another notebook with the same first cell.
    monkeypatch.setenv("JPY_SESSION_NAME", "solutions/again.ipynb")
    assert lesson("again").base_url != emu.base_url
    assert lesson("again", resume=True).base_url != emu.base_url


@pytest.mark.slow
def test_an_idle_emulator_stops_and_the_next_cell_finds_it_as_it_was(folder: Path) -> None:
    with Workshop(["ada"], folder=folder, idle_stop_s=0.5) as room:
        handle = room.start_lesson("ada", "pause", {"starter_credits": 500})
        account = handle.client().accounts.create("reader")
        handle.clock.advance("10m")
        assert room.emulators is not None
        [process] = [each.process for each in room.emulators._of("ada").values()]
        assert process is not None
        process.wait()  # only the idle limit stops this emulator
        assert handle.clock.now() == START_S + 600
        assert handle.client(api_key=account.api_key).billing.balance().available_cents == 500
        handle.close()


@pytest.mark.slow
def test_states_and_addresses_survive_a_restart(folder: Path) -> None:
    with Workshop(["ada"], folder=folder) as room:
        before = room.environment("ada")
        with own(room, "ada") as svc:
            account = svc.accounts.create("mine")
            svc.with_key(account).groups.create("numbers")
        address = room.start_lesson("ada", "keys", {}).base_url
        assert {stat.S_IMODE(each.stat().st_mode) for each in folder.rglob("*.json")} == {0o600}
    with Workshop(folder=folder) as room:
        assert room.environment("ada") == before
        with own(room, "ada") as svc:
            assert [group.name for group in svc.with_key(account).groups.list()] == ["numbers"]
        assert room.start_lesson("ada", "keys", {}, resume=True).base_url == address


@pytest.mark.slow
def test_a_reset_affects_one_learner_and_keeps_the_environment(room: Workshop, ada: str) -> None:
    grace = room.add(f"grace-of-{ada}").name
    accounts = {}
    for name in (ada, grace):
        with own(room, name) as svc:
            accounts[name] = svc.accounts.create("mine")
    room.record(ada, "quickstart.length", right=True)
    room.save(ada, "before")
    hand_out = room.hand_out()

    room.reset(ada)

    assert room.hand_out() == hand_out
    with own(room, ada) as svc:
        assert not svc.with_key(accounts[ada]).accounts.exists()
    with own(room, grace) as svc:
        assert svc.with_key(accounts[grace]).accounts.exists()
    assert room.board().solved(ada) == 0
    with pytest.raises(svcnb.InvalidArgument, match=r"has no saved state 'before'"):
        room.restore(ada, "before")


@pytest.mark.slow
def test_a_saved_state_restores_removed_keys_and_the_time(room: Workshop, at_desk: str) -> None:
    emu = lesson("saving", starter_credits=500)
    svc = emu.client(api_key=emu.client().accounts.create("mine").api_key)
    key = svc.usage_keys.create("runner")
    room.save(at_desk, "good")
    svc.usage_keys.delete(key)
    svc.groups.create("a muddle")
    emu.clock.advance("1d")

    room.restore(at_desk, "good")

    assert [each.name for each in svc.usage_keys.list()] == ["runner"]
    assert svc.groups.list() == []
    assert emu.clock.now() == START_S
    emu.close()


@pytest.mark.slow
def test_a_fault_affects_every_running_emulator(room: Workshop, ada: str) -> None:
    with own(room, ada) as svc:
        me = svc.with_key(svc.accounts.create("mine")).with_options(retries=0)
        for emulator in room.running(ada):
            emulator.faults.next("billing")
        with pytest.raises(svcnb.Unavailable):
            me.groups.create("unlucky")
        me.groups.create("lucky")


@pytest.mark.parametrize("setting", ["host", "state", "network_file", "chain_rpc", "action_packages", "control_token"])
@pytest.mark.usefixtures("at_desk")
def test_a_lesson_chooses_no_file_address_or_program_of_the_workshops_machine(setting: str) -> None:
    options: dict[str, Any] = {setting: "x"}
    with pytest.raises(ControlRefused, match=f"a workshop lesson cannot set '{setting}'") as refused:
        svcnb.lesson("quickstart", **options)
    assert refused.value.status == 422


@pytest.mark.parametrize("name", ["../own", "A", "", "x" * 65, "own/state"])
def test_the_name_of_a_lesson_is_checked(room: Workshop, ada: str, name: str) -> None:
    with pytest.raises(svcnb.InvalidArgument, match="invalid lesson"):
        room.start_lesson(ada, name, {})


def test_a_learner_cannot_keep_more_emulators_than_allowed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcnb.workshop.emulators.MAX_LEARNER_EMULATORS", 2)
    with Workshop(["ada"], folder=folder) as room:
        assert room.emulators is not None
        kept = [room.emulators.open("ada", name, {}) for name in ("one", "two", "three")]
        assert room.emulators.open("ada", "three") is kept[2]
        assert len(list((folder / "learners/ada/emulators").iterdir())) <= 3


def test_after_a_restart_the_emulator_with_the_oldest_start_is_deleted_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svcnb.workshop.emulators.MAX_LEARNER_EMULATORS", 2)
    with Workshop(["ada"], folder=folder) as room:
        room.start_lesson("ada", "quickstart", {})
        room.emulator("ada")
    with Workshop(folder=folder) as room:
        before = room.environment("ada")
        room.start_lesson("ada", "keys", {})
        assert room.environment("ada") == before


@pytest.mark.parametrize("content", ["{", "[]", '{"port": 99999}', '{"port": "x"}'])
def test_a_damaged_folder_is_a_clear_error(folder: Path, content: str) -> None:
    with Workshop(["ada"], folder=folder) as room:
        assert room.environment("ada")
    (folder / "learners/ada/emulators/own/emulator.json").write_text(content)
    with (
        Workshop(folder=folder) as room,
        pytest.raises(svcnb.InvalidArgument, match=r"emulator\.json does not contain"),
    ):
        room.environment("ada")


def test_only_a_few_emulators_of_a_learner_run_at_the_same_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcnb.workshop.emulators.MAX_LEARNER_RUNNING", 1)
    with Workshop(["ada", "grace"], folder=folder) as room:
        first = room.emulator("ada")
        key = first.client().accounts.create("ada").api_key.reveal()
        second = room.start_lesson("ada", "quickstart", {})
        room.emulator("grace")
        assert [each.base_url for each in room.running("ada")] == [second.base_url]
        assert len(room.running("grace")) == 1
        assert svcnb.Client(first.base_url, api_key=key).accounts.exists(), "its state is as it was"
        assert [each.base_url for each in room.running("ada")] == [first.base_url]


def test_an_emulator_that_has_answered_is_listed_although_its_start_has_not_ended(
    room: Workshop, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    class StartsSlowly(Emulator):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            answered.wait()

    monkeypatch.setattr("svcnb.workshop.emulators.Emulator", StartsSlowly)
    with ThreadPoolExecutor() as threads:
        own(room, ada).accounts.create("mine")
        listed = threads.submit(room.running, ada)
        wait([listed], timeout=0.2)
        answered.set()
        assert len(listed.result()) == 1


def test_a_learner_records_requests_into_a_folder_of_the_emulator_alone(
    room: Workshop, ada: str, tmp_path: Path
) -> None:
    emulator = room.emulator(ada)
    for file in (str(tmp_path / "elsewhere.json"), "../roster.json", "a/b", "..", ""):
        with pytest.raises(ControlRefused, match="stores all recordings in one folder"):
            emulator.network("record", file)
    emulator.network("record", "mine.json")
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_folder_of_a_newer_version_is_rejected_and_unchanged(folder: Path) -> None:
    with Workshop(["ada"], folder=folder) as room:
        assert room.environment("ada")
    file = folder / "learners/ada/emulators/own/emulator.json"
    newer = json.dumps(json.loads(file.read_text()) | {"version": 99, "written_by": "9.9"})
    file.write_text(newer)
    with Workshop(folder=folder) as room, pytest.raises(svcnb.InvalidArgument, match=r"use svcnb 9\.9 or newer"):
        room.environment("ada")
    assert file.read_text() == newer


def test_an_emulator_that_cannot_start_refuses_its_callers(folder: Path) -> None:
    with Workshop(["ada"], folder=folder) as room:
        assert room.emulators is not None
        broken = room.emulators.open("ada", "broken", {"starter_credits": -1})
        address = broken.listener.getsockname()
        for _ in range(2):
            with socket.create_connection(address) as caller:
                assert caller.recv(1) == b""


def test_no_process_remains_when_a_workshop_closes(folder: Path) -> None:
    with Workshop(["ada"], folder=folder) as room:
        assert room.running() == []
        assert room.emulator("ada").chain_id == 31337
        url = room.environment("ada")["SVC_BASE_URL"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    room.close()


@pytest.mark.slow
def test_a_workshop_on_other_machines_only_collects_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workshop(["ada"], folder=folder, hosts_emulators=False) as room:
        room.serve()
        environment = room.environment("ada")
        assert set(environment) == {"SVC_WORKSHOP_URL", "SVC_WORKSHOP_TOKEN"}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        emu = svcnb.lesson("elsewhere")
        try:
            assert isinstance(emu, Emulator)
        finally:
            lessons._running.pop("elsewhere").stop()
        with pytest.raises(svcnb.InvalidArgument, match="on the learners' machines"):
            room.save("ada", "before")
        room.reset("ada")
