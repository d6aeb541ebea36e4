"""Import of fees, balances, and the records of other machines and of the service into the local history."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from svcnb import Action, ConfigError
from svcnb.client.recorder import INSERT, INSERT_LEDGER, connect
from svcnb.client.request import METERED_PATHS
from svcnb.toolkit.history import History

URL = "http://a.test"
ADD = Action("const main = ({ n }) => n + 1", name="add")


def row(**changes: Any) -> dict[str, Any]:
    values = {
        "source": "client", "run_id": "", "started_at": 1_000.0, "base_url": URL, "key_hash": "0x" + "11" * 32,
        "cid": ADD.cid, "action": "add", "status": "success", "params": "1", "response": "2", "logs": "",
        "error_type": "", "error": "", "elapsed": 0.5, "cost_cents": 1, "trigger_id": "",
    }  # fmt: skip
    return values | changes


def entry(**changes: Any) -> dict[str, Any]:
    values = {
        "at": 1_000.0, "base_url": URL, "key_hash": "0x" + "11" * 32, "kind": "fee", "name": "add_group", "cents": 1,
        "subject": "", "reference": "",
    }  # fmt: skip
    return values | changes


def history(path: Path, runs: list[dict[str, Any]], entries: list[dict[str, Any]] | None = None) -> History:
    with closing(connect(path)) as connection:
        connection.executemany(INSERT, runs)
        connection.executemany(INSERT_LEDGER, entries or [])
    return History(path)


def test_the_metered_calls_are_those_that_the_service_prices() -> None:
    from svcnb.emulator.areas import other_endpoints
    from svcnb.emulator.http.body import ToleratedRequests
    from svcnb.emulator.http.routing import API
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    service = Service(Settings.load({}))
    rows = other_endpoints(service, [], ToleratedRequests())
    asyncio.run(service.stop())
    managed = [row for row in rows if row.path.startswith(API) and row.price_cents and row.method == "POST"]
    priced = [row.path.removeprefix(API) for row in managed]
    assert set(priced) == METERED_PATHS


@pytest.mark.chain
@pytest.mark.engine
def test_fees_and_balances_of_a_client_are_recorded(emulator, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    anyone = emulator.client(history=file)
    account = anyone.accounts.create("recorded")
    svc = anyone.with_key(account)
    svc.billing.balance()
    group = svc.groups.create("both", actions=[ADD])
    key = svc.usage_keys.create("runner", execute_in_groups=[group])
    svc.run(ADD, n=1)
    svc.billing.balance()
    svc.billing.balance()
    svc.billing.top_up(500)
    history = History(file)
    found = history.ledger(service=emulator.base_url)
    kinds = [(each.kind, each.name) for each in found]
    assert kinds[0] == ("balance", "balance")
    assert kinds.count(("payment", "confirm_payment")) == 1
    assert [each.subject for each in found if each.name == "add_usage_api_key"] == [key.api_key_hash]
    assert {each.key_hash for each in found} == {account.api_key_hash}
    spent = sum(each.cents for each in found if each.kind == "fee") + history.total_cents(service=emulator.base_url)
    opening, before, after = (each.cents for each in found if each.kind == "balance")
    assert opening - spent == before == after - 500


def test_files_of_two_machines_are_merged_without_counting_anything_twice(tmp_path) -> None:
    shared = [row(run_id="a"), row(started_at=5.0, status="failed")]
    mine = history(tmp_path / "mine", shared, [entry(reference="r1")])
    theirs = history(tmp_path / "theirs", [*shared, row(run_id="b"), row(started_at=6.0)], [entry(reference="r2")])
    assert mine.merge(theirs.path) == (2, 1)
    assert mine.merge(theirs.path, theirs.path) == (0, 0)
    assert len(mine.runs()) == 4
    assert len(mine.ledger(service=URL)) == 2
    assert len(theirs.runs()) == 4, "the other file is unchanged"


def test_rows_with_another_structure_are_ignored(tmp_path) -> None:
    mine = history(tmp_path / "mine", [])
    theirs = history(tmp_path / "theirs", [row(run_id="a"), row(run_id="b", started_at="soon")])
    assert mine.merge(theirs.path).runs == 1


@pytest.mark.parametrize("content", [b"", b"no database at all, and long enough to be looked at", None])
def test_a_file_that_is_not_a_history_is_an_error_and_adds_nothing(tmp_path, content) -> None:
    mine, good = history(tmp_path / "mine", []), history(tmp_path / "good", [row()])
    wrong = tmp_path / "wrong"
    if content is not None:
        wrong.write_bytes(content)
    with pytest.raises(ConfigError, match=r"wrong (does not exist|is not a history file)"):
        mine.merge(good.path, wrong)
    assert len(mine.runs()) == 0


def test_a_damaged_file_adds_nothing_also_not_from_the_files_before_it(tmp_path) -> None:
    mine = history(tmp_path / "mine", [])
    good = history(tmp_path / "good", [row(run_id="a")], [entry(reference="r1")])
    damaged = history(tmp_path / "damaged", [row(run_id=f"{number}", params="1" * 500) for number in range(200)])
    content = damaged.path.read_bytes()
    damaged.path.write_bytes(content[: len(content) // 2] + b"\xff" * (len(content) // 2))
    with pytest.raises(ConfigError, match=r"damaged is not a history file: database disk image is malformed"):
        mine.merge(good.path, damaged.path)
    assert (mine.count(), mine.ledger(service=URL)) == (0, [])
    assert mine.merge(good.path) == (1, 1)


def test_an_older_file_without_a_ledger_is_merged(tmp_path) -> None:
    mine, old = history(tmp_path / "mine", []), history(tmp_path / "old", [row()])
    with closing(sqlite3.connect(old.path)) as connection:
        connection.executescript("DROP TABLE ledger; DROP TABLE account_keys;")
    assert mine.merge(old.path) == (1, 0)


def test_the_record_of_an_emulator_corrects_amounts_and_adds_other_runs(tmp_path) -> None:
    mine = history(tmp_path / "mine", [row(run_id="a", cost_cents=3)])
    served = {
        "request_id": "a", "correlation_id": "", "cid": ADD.cid, "api_key_hash": "0x" + "11" * 32, "status": "success",
        "error": None, "cost_cents": 2, "started_at": 1_000.0, "elapsed_ms": 2_900.0,
    }  # fmt: skip
    other = served | {"request_id": "b", "cost_cents": 1}
    assert mine.add_service_runs([served, other], service=URL) == 1
    assert mine.add_service_runs([served, other], service=URL) == 0
    assert mine.total_cents(service=URL) == 3
    assert mine.total_cents(service="http://b.test") == 0


def test_a_run_of_a_trigger_and_its_execution_are_one_run(tmp_path) -> None:
    mine = history(tmp_path / "mine", [])
    served = {
        "request_id": "b", "correlation_id": "r1", "cid": ADD.cid, "api_key_hash": "0x" + "22" * 32,
        "status": "success", "error": None, "cost_cents": 5, "started_at": 1_000.0, "elapsed_ms": 5_100.0,
    }  # fmt: skip
    run = SimpleNamespace(
        id="r1", started_at=None, seconds=7.0, ok=True, status="success", error=None, result=1, input={}, logs="",
        trigger_id="t1",
    )  # fmt: skip
    trigger = SimpleNamespace(id="t1", name="hourly", action_cid=ADD.cid)
    triggers = SimpleNamespace(list=lambda: [trigger], runs=lambda _trigger, **_limit: [run])
    for _ in range(2):
        mine.add_service_runs([served], service=URL)
        mine.add_trigger_runs(triggers, service=URL)
    [found] = mine.runs()
    assert (found.source, found.key_hash, found.cost_cents, found.base_url) == ("trigger", "0x" + "22" * 32, 5, URL)
