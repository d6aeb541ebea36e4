"""Local history of an account: its runs, failures and costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from svcnb import Action, ActionError, ConfigError, InvalidArgument
from svcnb.client.recorder import INSERT, connect
from svcnb.toolkit.cost import FREE, METERED, of_batch, of_call, of_calls, of_run, of_schedule, of_seconds
from svcnb.toolkit.history import History

ADD = Action("const main = ({ n }) => n + 1", name="add")
FAIL = Action("const main = () => { throw new Error('no') }", name="fail")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


@contextmanager
def open_(path: Path) -> Iterator[Any]:
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()


def row(**changes: Any) -> dict[str, Any]:
    values = {
        "source": "client", "run_id": "", "started_at": NOON, "base_url": "http://a.test", "key_hash": "0x" + "11" * 32,
        "cid": ADD.cid, "action": "add", "status": "success", "params": "1", "response": "2", "logs": "",
        "error_type": "", "error": "", "elapsed": 0.5, "cost_cents": 1, "trigger_id": "",
    }  # fmt: skip
    return values | changes


@pytest.fixture
def past(tmp_path) -> History:
    """Record with two days, two actions and one failure."""
    file = tmp_path / "history.sqlite"
    with open_(file) as connection:
        for number in range(3):
            connection.execute(INSERT, row(run_id=f"a{number}", elapsed=number + 0.5, cost_cents=max(1, number)))
        connection.execute(INSERT, row(run_id="b", cid=FAIL.cid, action="fail", status="failed", cost_cents=0))
        connection.execute(INSERT, row(run_id="c", started_at=NOON + 86_400, key_hash="0x" + "22" * 32, cost_cents=9))
    return History(file)


@pytest.mark.chain
@pytest.mark.engine
def test_the_record_contains_every_run_of_a_client(emulator, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    anyone = emulator.client(history=file)
    svc = anyone.with_key(anyone.accounts.create("recorded"))
    svc.run(ADD, n=1)
    svc.map(ADD, [{"n": n} for n in range(4)])
    with pytest.raises(ActionError):
        svc.run(FAIL)
    history = History(file)
    assert repr(history) == "History(6 runs)"
    newest = history.runs()[0]
    assert (newest.action, newest.status, newest.error_type, newest.error) == ("fail", "failed", "ActionError", "no")
    assert sorted(run.params["n"] for run in history.runs(action=ADD)) == [0, 1, 1, 2, 3]
    assert {run.key_hash for run in history.runs(key=svc.config.api_key)} == {newest.key_hash}
    # A client's estimate includes the time of the transfer, so it is never less than the charged amount.
    assert 1_000 - history.total_cents() <= svc.billing.balance().available_cents <= 1_000 - 5


def test_spend_is_added_up_by_action_key_and_day(past) -> None:
    assert [(row.name, row.runs, row.failed, row.cost_cents) for row in past.spend("action")] == [
        ("add", 4, 0, 13), ("fail", 1, 1, 0),
    ]  # fmt: skip
    assert [(row.name, row.cost_cents) for row in past.spend("day")] == [("2026-01-01", 4), ("2026-01-02", 9)]
    assert [row.name[:4] for row in past.spend("key")] == ["0x22", "0x11"]
    assert "$0.13" in past.spend()._repr_html_()
    with pytest.raises(InvalidArgument, match="cannot group runs by 'hour'"):
        past.spend("hour")


def test_past_runs_are_filtered_and_converted_to_a_frame(past) -> None:
    assert [run.run_id for run in past.runs(status="failed")] == ["b"]
    with pytest.raises(InvalidArgument, match="invalid status 'fialed'"):
        past.runs(status="fialed")
    assert [run.run_id for run in past.runs(limit=1)] == ["c"]
    since = datetime(2026, 1, 2, tzinfo=UTC)
    assert [run.run_id for run in past.runs(since=since)] == ["c"]
    assert len(past.runs(since="1h")) == len(past.runs(since=timedelta(hours=1)))
    frame = past.to_frame(action=ADD)
    assert list(frame["action"].unique()) == ["add"]
    assert frame["cost_cents"].sum() == 13


def test_measures_contain_the_figures_of_every_run_oldest_first(tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    given: list[dict[str, Any]] = [
        {
            "started_at": NOON + 7.654321,
            "action": "größe % \x1f ' 中",
            "elapsed": 0.1 + 0.2,
            "cost_cents": 2_000_000_000,
        },
        {"started_at": NOON, "action": "", "status": "failed", "key_hash": ""},
        {"started_at": NOON + 7.654321, "source": "trigger", "status": "running", "cost_cents": 0},
        {"started_at": NOON + 3, "elapsed": 1e-9},
    ]
    with open_(file) as connection:
        for number, changes in enumerate(given):
            connection.execute(INSERT, row(run_id=f"r{number}", **changes))
    history = History(file)
    columns = ("started_at", "source", "status", "action", "elapsed", "cost_cents", "cid", "key")
    expected = [
        (
            run.started_at,
            run.source,
            run.status,
            run.action or run.cid,
            run.elapsed,
            run.cost_cents,
            run.cid,
            run.key_hash,
        )
        for run in sorted(history.runs(), key=lambda run: (run.started_at, run.run_id))
    ]
    frame = history.measures()
    assert tuple(frame.columns) == columns
    assert list(frame.itertuples(index=False, name=None)) == expected
    assert history.measures(status="success").shape == (2, len(columns))
    assert history.measures(key="0x" + "33" * 32).empty
    assert list(History(tmp_path / "none.sqlite").measures().columns) == list(columns)


def triggered(count: int) -> SimpleNamespace:
    """Triggers service with one trigger and a number of runs, of which the first failed."""
    runs = [
        SimpleNamespace(
            id=f"run{number}", trigger_id="t1", status="success" if number else "failed", ok=bool(number),
            started_at=datetime.fromtimestamp(NOON, UTC), seconds=2.5, input={"apiKey": "hidden"}, result=number,
            logs="", error=None if number else "500 thrown",
        )
        for number in range(count)
    ]  # fmt: skip
    trigger = SimpleNamespace(id="t1", name="daily", action_cid=ADD.cid)
    return SimpleNamespace(list=lambda: [trigger], runs=lambda _, limit=100: runs[:limit])


def test_repeated_reads_add_each_run_of_a_trigger_once(past) -> None:
    triggers = triggered(2)
    assert (past.add_trigger_runs(triggers), past.add_trigger_runs(triggers)) == (2, 2)
    found = past.runs(source="trigger")
    assert [(run.action, run.status, run.cost_cents, run.params) for run in found] == [
        ("daily", "success", 2, {"apiKey": "********"}), ("daily", "failed", 0, {"apiKey": "********"}),
    ]  # fmt: skip
    assert [(row.name, row.runs) for row in past.spend("trigger")] == [("", 5), ("t1", 2)]


def test_all_runs_of_a_trigger_are_read_and_not_only_the_newest_hundred(past) -> None:
    assert past.add_trigger_runs(triggered(250)) == 250
    assert len(past.runs(source="trigger")) == 250


def test_past_runs_can_be_deleted(past) -> None:
    assert past.clear(before=datetime(2026, 1, 2, tzinfo=UTC)) == 4
    assert past.clear() == 1
    assert len(past.runs()) == 0


def test_the_error_for_a_file_that_is_not_a_history_contains_the_fix(tmp_path) -> None:
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"not a database" * 100)
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in (other, folder):
        for use in (History(file).runs, History(file).measures, lambda file=file: History(file).merge(other)):
            with pytest.raises(ConfigError, match=f"the history file {file} cannot be read") as caught:
                use()
            assert "SVC_HISTORY" in str(caught.value.hint)


def test_damage_that_a_query_finds_is_the_same_error(past) -> None:
    past.count()
    content = past.path.read_bytes()
    past.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))  # the first page contains the schema
    for use in (past.runs, past.measures, past.clear):
        with pytest.raises(ConfigError, match=f"the history file {past.path} cannot be read"):
            use()


def test_disabled_recording_is_an_error(tmp_path, monkeypatch) -> None:
    assert list(History(tmp_path / "none.sqlite").runs()) == []
    assert repr(History(tmp_path / "none.sqlite")) == "History(0 runs)"
    monkeypatch.setenv("SVC_HISTORY", "off")
    with pytest.raises(ConfigError, match="the run history is disabled"):
        History()


@pytest.mark.parametrize(("seconds", "cents"), [(0.0, 1), (0.9, 1), (1.99, 1), (2.0, 2), (61.2, 61)])
def test_a_run_costs_its_whole_seconds_and_at_least_one(seconds, cents) -> None:
    assert of_seconds(seconds) == cents


@pytest.mark.parametrize(
    ("verb", "sizes", "cents"),
    [
        ("wallets.create", {}, 1),
        ("groups.create", {"actions": 10, "wallets": 10}, 1),
        ("groups.create", {"actions": 12, "wallets": 11}, 4),
        ("groups.list", {}, 0),
        ("accounts.create", {}, 0),
    ],
)
def test_a_call_costs_what_the_service_will_charge(verb, sizes, cents) -> None:
    assert of_call(verb, **sizes).cents == cents


def test_a_call_without_a_price_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match=r"unknown management call 'groups\.vanish'"):
        of_call("groups.vanish")


def test_every_verb_of_a_client_has_a_price_or_is_free() -> None:
    resources = ("accounts", "actions", "groups", "usage_keys", "wallets")
    verbs = {f"{resource}.{verb}" for resource in resources for verb in vars(_resource(resource)) if verb[0] != "_"}
    verbs = {verb for verb in verbs if verb.split(".")[1] not in ("iter", "remove")}  # page iterators, and an old name
    assert verbs - FREE - METERED == set()
    assert METERED - verbs == set()


def _resource(resource: str) -> type:
    from importlib import import_module

    module = import_module(f"svcnb.client.resources.{resource}")
    kind: type = getattr(module, "".join(part.title() for part in resource.split("_")))
    return kind


@pytest.mark.chain
@pytest.mark.engine
def test_predicted_and_charged_cents_agree(emulator) -> None:
    svc = emulator.client().with_key(emulator.client().accounts.create("priced"))
    actions = [Action(f"const main = () => {number}") for number in range(12)]
    before = svc.billing.balance().available_cents
    wallet = svc.wallets.create()
    group = svc.groups.create("g", actions=actions, wallets=[wallet])
    svc.usage_keys.create("k", execute_in_groups=[group])
    predicted = of_calls({"wallets.create": 1, "usage_keys.create": 1}) + of_call(
        "groups.create", actions=12, wallets=1
    )
    assert before - svc.billing.balance().available_cents == predicted.cents == 5


def test_the_cost_of_a_run_is_estimated_from_past_runs(past) -> None:
    cost = of_run(ADD, history=past, longest=900)
    assert (cost.cents, cost.least, cost.most) == (1, 1, 900)
    assert "4 past runs" in cost.why
    assert of_run(FAIL, history=past).why.endswith("no past runs are known")
    batch = of_batch(1_000, ADD, seconds=3.2)
    assert (batch.cents, batch.least, batch.most) == (3_000, 1_000, None)
    assert str(batch) == "$30.00 (at least $10.00, no maximum): 1,000 runs, each calculated as a run of 3.2 s"


def test_a_schedule_costs_one_run_for_each_time() -> None:
    assert of_schedule("0 * * * *", days=1).cents == 24
    assert of_schedule("*/30 * * * * *", of_run(seconds=2.5), days=1).cents == 2 * 2_880
    assert "30 runs in 30 days" in str(of_schedule("0 3 * * *"))
