"""Migrations of stored states, which first create a copy. The error for a newer state contains the state's version."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import svcnb
import svcnb.emulator.service
from svcnb.client import record_schema, recorder
from svcnb.client.chain_secured import pending
from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.emulator.errors import StateUnusable
from svcnb.emulator.platform.database_url import Address
from svcnb.emulator.platform.schema import STATE
from svcnb.emulator.platform.store import Store
from svcnb.migrations import Schema, UnreadableVersion, copy_file
from svcnb.toolkit.history import History
from svcnb.toolkit.plan import state as plan
from svcnb.workshop import emulators, roster

KEPT = Path(__file__).with_name("kept")
"""Files that the program wrote when their version was the current one."""

STATES = sorted(Path(__file__).parent.glob("state-version-*.sql"))


@pytest.fixture
def raised(request, monkeypatch) -> None:
    """Program with a newer state version, whose migration step adds a column."""

    request.getfixturevalue("url")  # the copy exists before the version increases

    def step(connection: Any) -> Any:
        connection.run("ALTER TABLE ledger_balances ADD COLUMN note VARCHAR NOT NULL DEFAULT 'none'")
        return connection

    monkeypatch.setattr(STATE, "current", STATE.current + 1)
    monkeypatch.setattr(STATE, "steps", {**STATE.steps, STATE.current - 1: step})


@pytest.fixture(params=["file", "postgres"])
def url(request, tmp_path) -> Iterator[str]:
    """Database with a balance, in the current version."""
    kind = request.param
    made = f"sqlite:///{tmp_path / 'state.db'}" if kind == "file" else request.getfixturevalue("postgres_url")
    store = Store(made)
    store.run_now(lambda connection: connection.run("INSERT INTO ledger_balances VALUES ('0xa', 7)"))
    store.close()
    yield made
    if kind == "postgres":  # other tests use the database again
        with closing(Address(made).connect()) as connection:
            connection.run("DROP SCHEMA IF EXISTS svcnb_version_2 CASCADE")


def balances(url: str) -> Any:
    store = Store(url)
    try:
        return store.run_now(lambda connection: connection.rows("SELECT * FROM ledger_balances"))
    finally:
        store.close()


@pytest.mark.usefixtures("raised")
def test_a_step_changes_a_kept_state_once(url) -> None:
    assert balances(url) == balances(url) == [("0xa", 7, "none")]


@pytest.mark.usefixtures("raised")
def test_a_copy_of_the_earlier_state_is_kept(url, tmp_path) -> None:
    balances(url)
    if url.startswith("sqlite"):
        copy = tmp_path / "state.db.version-2"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("SELECT * FROM ledger_balances").fetchall() == [("0xa", 7)]
            query = "SELECT value FROM meta WHERE name = 'schema_version'"
            assert connection.execute(query).fetchall() == [("2",)]
        return
    store = Store(url)
    found = store.run_now(lambda connection: connection.rows("SELECT * FROM svcnb_version_2.ledger_balances"))
    store.close()
    assert found == [("0xa", 7)]


@pytest.mark.usefixtures("raised")
def test_a_step_that_fails_changes_nothing(url, monkeypatch) -> None:
    def fail(connection: Any) -> Any:
        connection.run("DELETE FROM ledger_balances")
        connection.run("SELECT * FROM no_such_table")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(STATE, "steps", {STATE.current - 1: fail})
        with pytest.raises(StateUnusable, match="cannot be opened"):
            Store(url)
    assert balances(url) == [("0xa", 7, "none")]


def test_a_newer_state_is_refused_and_names_the_version_that_reads_it(url) -> None:
    def newer(connection: Any) -> None:
        connection.run("UPDATE meta SET value = '9' WHERE name = 'schema_version'")
        connection.run("UPDATE meta SET value = '7.8.9' WHERE name = 'written_by'")

    store = Store(url)
    store.run_now(newer)
    store.close()
    with pytest.raises(
        StateUnusable, match=r"has version 9, but svcnb .* reads only versions up to 2: use svcnb 7\.8\.9"
    ):
        Store(url)


@pytest.mark.parametrize("dump", STATES, ids=[each.stem for each in STATES])
def test_states_of_every_version_are_opened(dump, tmp_path) -> None:
    number = dump.stem.rpartition("-")[2]
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection, connection:
        connection.executescript(dump.read_text())
        connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (number,))
        connection.execute("INSERT INTO ledger_balances VALUES ('0xa', 7)")
    assert balances(f"sqlite:///{tmp_path / 'state.db'}")[0][:2] == ("0xa", 7)


def test_a_stored_example_of_the_current_version_exists() -> None:
    assert f"state-version-{STATE.current}" in {dump.stem for dump in STATES}


def test_a_table_that_changed_since_its_dump_has_a_higher_version(tmp_path) -> None:
    """A new table needs no migration step. Other columns of an existing table need one."""
    import svcnb.emulator.service  # noqa: F401 - declares all tables

    Store(f"sqlite:///{tmp_path / 'new.db'}").close()
    with closing(sqlite3.connect(tmp_path / "new.db")) as new, closing(sqlite3.connect(":memory:")) as kept:
        kept.executescript(next(each for each in STATES if each.stem.endswith(f"-{STATE.current}")).read_text())
        names = [name for (name,) in kept.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {name: kept.execute(f"PRAGMA table_info({name})").fetchall() for name in names}
        assert len(columns) > 10
        assert {name: new.execute(f"PRAGMA table_info({name})").fetchall() for name in names} == columns


# --- documents ------------------------------------------------------------------------------------------------------


def kept(tmp_path: Path, name: str) -> Path:
    """Copies a stored file."""
    (tmp_path / name).write_bytes((KEPT / name).read_bytes())
    (tmp_path / name).chmod(0o600)
    return tmp_path / name


@pytest.mark.parametrize("version", range(1, plan.SCHEMA.current + 1))
def test_plan_states_of_every_version_are_opened(tmp_path, version) -> None:
    path = kept(tmp_path, f"plan-{version}.state.json")
    state = plan.State.load(path)
    assert (state.wallets, state.groups) == ({"signer": "0x" + "12" * 20}, {"askers": 3})
    state.save()
    assert json.loads(path.read_text())["written_by"] == svcnb.__version__
    assert (tmp_path / f"{path.name}.version-{version}").exists() is (version < plan.SCHEMA.current)


@pytest.mark.parametrize("version", range(roster.SCHEMA.current + 1))
def test_workshop_folders_of_every_version_are_opened(tmp_path, version) -> None:
    path = kept(tmp_path, f"roster-{version}.json")
    learners = roster.Roster(path)
    assert [(each.name, each.token) for each in learners] == [("ada", "a token")]
    assert (tmp_path / f"{path.name}.version-{version}").exists() is (version < roster.SCHEMA.current)


@pytest.mark.parametrize("version", range(emulators.SCHEMA.current + 1))
def test_emulators_of_learners_of_every_version_are_opened(tmp_path, version) -> None:
    shutil.move(kept(tmp_path, f"emulator-{version}.json"), tmp_path / "emulator.json")
    emulators.HostedEmulator(tmp_path, None, idle_stop_s=60).close()
    opened = json.loads((tmp_path / "emulator.json").read_text())
    assert opened["settings"] == {"starter_credits": 500, "seed": "a lesson"}
    assert opened["written_by"] == svcnb.__version__
    assert (tmp_path / f"emulator.json.version-{version}").exists() is (version < emulators.SCHEMA.current)


@pytest.mark.parametrize("version", range(pending.SCHEMA.current + 1))
def test_pending_mints_of_every_version_are_opened_and_leave_no_copy_behind(tmp_path, version) -> None:
    folder = tmp_path / "pending"
    shutil.copytree(KEPT / f"pending-{version}", folder)
    folder.chmod(0o700)
    for file in folder.iterdir():
        file.chmod(0o600)
    shutil.move(folder / "pending.key", tmp_path / "pending.key")
    records = pending.PendingFolder(folder, tmp_path / "pending.key")
    [record] = records.all()
    assert record.secret is not None
    assert (record.name, record.secret.reveal()) == ("runner", "a usage key")
    records.write(record)
    assert records.all() == [record]
    records.delete(record)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("version", range(record_schema.VERSIONS.current + 1))
def test_run_histories_of_every_version_are_opened(tmp_path, version) -> None:
    path = tmp_path / "history.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((KEPT / f"history-{version}.sql").read_text())
    history = History(path)
    history.remember_keys("http://a.test", "0x1", {"key": "name"})  # in a table that version 0 did not have
    assert [(run.action, run.cost_cents) for run in history.runs()] == [("add", 2)]
    assert history.remembered_keys("http://a.test", "0x1") == {"key": "name"}
    copy = tmp_path / f"history.sqlite.version-{version}"
    assert copy.exists() is (version < record_schema.VERSIONS.current)
    if copy.exists():
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with closing(sqlite3.connect(copy)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            assert tables == [("runs",)]
            assert connection.execute("SELECT action, cost_cents FROM runs").fetchall() == [("add", 2)]
    assert not list(tmp_path.glob("*.partial"))


def test_a_migration_of_a_run_history_that_fails_changes_nothing(tmp_path, monkeypatch) -> None:
    def fail(connection: Any) -> Any:
        connection.execute("DELETE FROM runs")
        return connection.execute("SELECT * FROM no_such_table")

    path = tmp_path / "history.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((KEPT / "history-0.sql").read_text())
    with monkeypatch.context() as patched:
        patched.setattr(record_schema.VERSIONS, "steps", {0: fail})
        with pytest.raises(ConfigError, match="no such table"):
            History(path).total_cents()
    assert History(path).total_cents() == 2


def test_a_new_run_history_has_the_current_version_and_no_copy(tmp_path) -> None:
    recorder.connect(tmp_path / "history.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "history.sqlite")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (record_schema.VERSIONS.current,)
    assert not list(tmp_path.glob("*.version-*"))


def test_a_newer_run_history_is_refused_and_left_alone(tmp_path) -> None:
    path = tmp_path / "newer.sqlite"
    recorder.connect(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(ConfigError, match=r"the run history .* has version 9"):
        History(path).total_cents()
    with pytest.raises(ConfigError, match=r"the run history .* has version 9"):
        History(tmp_path / "mine.sqlite").merge(path)
    assert not list(tmp_path.glob("*.version-*"))


def test_newer_documents_are_refused_and_name_the_version_that_reads_them(tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 9, "written_by": "7.8.9"}))
    for opened in (plan.State.load, roster.Roster):
        with pytest.raises(InvalidArgument, match=r"has version 9.*use svcnb 7\.8\.9 or newer"):
            opened(path)
    assert json.loads(path.read_text())["version"] == 9


def test_a_newer_pending_mint_is_refused_and_kept(tmp_path, monkeypatch) -> None:
    records = pending.PendingFolder(tmp_path / "pending", tmp_path / "key")
    fields = {"owner": "0x", "api_key_hash": "0x", "base_url": "", "chain_id": 1, "contract_address": "0x", "begun": 1}
    with monkeypatch.context() as patched:
        patched.setattr(pending.SCHEMA, "current", 9)
        records.begin(kind="usage key", **fields)
    with pytest.raises(ConfigError, match=r"the recovery record of a new wallet or key at .* has version 9"):
        records.all()
    assert len(list((tmp_path / "pending").iterdir())) == 1


def test_steps_run_in_order_and_a_missing_step_is_an_error() -> None:
    schema: Schema[list[int]] = Schema("thing", 4, {2: lambda seen: [*seen, 2], 3: lambda seen: [*seen, 3]})
    assert schema.migrate([], 2) == [2, 3]
    assert not schema.needs_migration(4, "here")
    with pytest.raises(UnreadableVersion, match="the thing at here has version 1"):
        schema.needs_migration(1, "here")


def test_a_copy_is_never_overwritten(tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text("first")
    copy = copy_file(path, 0)
    path.write_text("second")
    assert copy_file(path, 0) == copy
    assert copy.read_text() == "first"
