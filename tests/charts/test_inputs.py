"""Valid inputs of charts, and the errors for other inputs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svcnb
from svcnb import InvalidArgument, InvalidType, charts
from svcnb.client.models.explanation import Explanation
from svcnb.client.models.traces import Trace, TraceEvent
from svcnb.client.models.triggers import TriggerRun
from svcnb.client.recorder import INSERT, connect
from svcnb.toolkit.history import History

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CID = svcnb.cid("const main = () => 1")
ROW: dict[str, Any] = {
    "source": "client", "base_url": "http://a.test", "key_hash": "0x" + "11" * 32, "cid": CID, "status": "success",
    "params": "1", "response": "2", "logs": "", "error_type": "", "error": "", "elapsed": 0.5, "cost_cents": 1,
    "trigger_id": "",
}  # fmt: skip
OF_RUNS = (charts.run_timeline, charts.latency, charts.success_rate, charts.spend)


@pytest.fixture
def history(tmp_path: Path) -> History:
    file = tmp_path / "history.sqlite"
    connection = connect(file)
    for number in range(6):
        name = "add" if number % 2 else ""
        begun = NOON.timestamp() + number * 86_400
        connection.execute(INSERT, ROW | {"run_id": str(number), "action": name, "started_at": begun})
    connection.close()
    return History(file)


@pytest.mark.parametrize("draw", OF_RUNS)
def test_a_history_its_runs_and_its_frames_make_the_same_chart(draw, history) -> None:
    runs = history.runs()
    expected = repr(draw(history))
    assert "6 run" in expected
    assert repr(draw(runs)) == repr(draw(list(runs))) == repr(draw(runs.to_frame())) == expected


def test_measures_are_chosen_as_runs_are(history) -> None:
    assert len(history.measures()) == 6
    assert list(history.measures(action=CID, since=NOON.replace(day=5))["action"]) == [CID, "add"]
    with pytest.raises(InvalidArgument, match="cannot filter runs by limit"):
        history.measures(limit=3)


def test_runs_of_triggers_are_drawn() -> None:
    runs = [
        TriggerRun(id="1", status="success", started_at=NOON, finished_at=NOON.replace(second=2)),
        TriggerRun(id="2", status="running", started_at=NOON),
    ]
    assert "1 run, " in repr(charts.latency(runs))
    assert "2 runs, 0 failed, 1 not ended" in repr(charts.run_timeline(runs))


@pytest.mark.parametrize("nothing", [[], pd.DataFrame({"started_at": [], "status": []}), {"started_at": []}])
@pytest.mark.parametrize("draw", [*OF_RUNS, charts.audit_timeline])
def test_an_empty_input_is_reported_as_empty(draw, nothing) -> None:
    with pytest.raises(charts.NothingToDraw, match=r"there are no (runs|events) to draw"):
        draw(nothing)


def test_an_empty_history_is_also_empty(tmp_path) -> None:
    with pytest.raises(charts.NothingToDraw, match="there are no runs to draw"):
        charts.spend(History(tmp_path / "none.sqlite"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"started_at": None},
            "no column 'started_at' or 'time'; available columns: status, elapsed, cost_cents, action",
        ),
        ({"started_at": ["soon", "later"]}, "'started_at' contains values that are not times"),
        ({"started_at": [1767225600, 1767225601]}, "'started_at' contains numbers without a unit"),
        ({"started_at": [pd.NaT, NOON]}, "'started_at' is empty in 1 of 2 rows"),
        ({"status": [None, "success"]}, "'status' is empty in 1 of 2 rows"),
        ({"elapsed": ["quick", "slow"]}, "'elapsed' contains values that are not numbers"),
        ({"elapsed": [-1.0, 2.0]}, "'elapsed' contains negative numbers, such as -1"),
        ({"elapsed": [None, 2.0]}, "1 of 2 successful runs have no duration"),
        ({"status": ["failed", "failed"]}, r"none of the runs succeeded \(2 runs\)"),
    ],
)
def test_the_error_for_a_wrong_frame_describes_the_problem(change, said) -> None:
    columns = {"started_at": [NOON, NOON], "status": "success", "elapsed": 1.0, "cost_cents": 1, "action": "a"}
    changed = {name: value for name, value in (columns | change).items() if value is not None}
    with pytest.raises(InvalidArgument, match=said) as caught:
        charts.latency(pd.DataFrame(changed, index=range(2)))
    assert caught.value.hint


@pytest.mark.parametrize("wrong", [7, "runs", [1, 2], None])
def test_an_input_without_runs_is_rejected(wrong) -> None:
    with pytest.raises(InvalidArgument, match="expected runs"):
        charts.run_timeline(wrong)


def test_there_are_only_so_many_percentiles_and_zones(runs) -> None:
    for wanted in ((), (50, 101), (1, 2, 3, 4, 5)):
        with pytest.raises(InvalidArgument, match="invalid percentiles"):
            charts.latency(runs, percentiles=wanted)
    with pytest.raises(InvalidArgument, match="unknown time zone 'Mars/Olympus'"):
        charts.run_timeline(runs, zone="Mars/Olympus")


def test_a_trace_shows_its_first_events_and_the_number_of_others(values) -> None:
    events = [TraceEvent(at_ms=number, kind="console") for number in range(70)]
    chart = charts.trace(Trace(engine="v8", events=tuple(events), dropped=5))
    assert len(values(chart)) == 60
    assert "75 events" in repr(chart)
    assert "15 events omitted" in repr(chart)
    with pytest.raises(charts.NothingToDraw):
        charts.trace(Trace(engine="v8"))
    with pytest.raises(InvalidArgument, match="type str: expected a run or a trace"):
        charts.trace("run")  # type: ignore[arg-type]


def test_only_explanations_are_drawn_as_graphs() -> None:
    with pytest.raises(InvalidArgument, match="expected an Explanation"):
        charts.permission_graph({"allowed": True})  # type: ignore[arg-type]


def test_the_graph_of_a_rejected_call_names_the_call(values) -> None:
    found = Explanation(allowed=False, reason="no permission", key="'runner' 0x12…34", action="", call="add_group")
    shown = values(charts.permission_graph(found), layer=2)
    assert [(row["kind"], row["text"]) for row in shown] == [("key", "runner"), ("call", "add_group")]


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_a_real_run_an_explanation_and_an_audit_are_drawn(emulator, values) -> None:
    svc = emulator.client()
    svc = svc.with_key(svc.accounts.create("drawn"))
    source = "async function main() { console.log('x'); await Svc.Actions.getSvcActionPrivateKey(); }"
    rows = charts.trace(svc.run(source)).to_dict()
    shown = [row for part in rows["datasets"].values() for row in part] if "datasets" in rows else values_of(rows)
    assert [row["kind"] for row in shown if "kind" in row][:3] == ["run", "console", "keys"]

    action, wallet = svcnb.Action(source, name="asker"), svc.wallets.create()
    group = svc.groups.create("askers", actions=[action])
    key = svc.usage_keys.create("runner", execute_in_groups=[group])
    refused = charts.permission_graph(svc.explain(key, action, wallet))
    links = [line["link"] for line in values(refused)]
    assert (links.count("existing"), links.count("missing")) == (2, 1)
    assert repr(refused).startswith("Refused: ")
    svc.groups.add_wallet(group, wallet)
    allowed = charts.permission_graph(svc.explain(key, action, wallet))
    assert {line["link"] for line in values(allowed)} == {"existing"}

    owner = svcnb.LocalSigner.random()
    emulator.faucet(owner.address)
    account = svc.accounts.convert(owner, confirm=True)
    entries = account.audit()
    drawn = charts.audit_timeline(entries)
    assert sum(row["events"] for row in values(drawn)) == len(entries)
    assert {row["event"] for row in values(drawn)} == {entry.event for entry in entries}


def values_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns all rows of a chart."""
    found: list[dict[str, Any]] = list(spec.get("data", {}).get("values", []))
    for name in ("layer", "vconcat"):
        for part in spec.get(name, []):
            found += values_of(part)
    return found


@pytest.mark.parametrize("chart", [charts.latency, charts.success_rate])
def test_an_unknown_group_is_an_error(runs, chart) -> None:
    with pytest.raises(InvalidType, match="expected 'time' or 'action', got 'key'"):
        chart(runs, by="key")
