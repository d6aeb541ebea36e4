"""Charts show the same values as an independent computation."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import svcnb
from svcnb import charts
from svcnb.charts.bins import MAX_BINS, cover, wall_clock
from svcnb.charts.latency import percentiles_of
from svcnb.charts.success import wilson

NAMELESS = svcnb.cid("const main = () => 1")
HOUR_US = 3_600 * 1_000_000


def at(time: str) -> int:
    return int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp() * 1_000_000)


def test_percentiles_are_those_of_numpy() -> None:
    chance = np.random.default_rng(1)
    groups = chance.integers(0, 7, 3_000)
    groups[groups == 5] = 4  # one group has no runs
    values = chance.lognormal(0, 2, 3_000)
    found, sizes = percentiles_of(groups, values, 7, (0, 50, 95, 99, 100))
    for group in (0, 1, 2, 3, 4, 6):
        expected = np.percentile(values[groups == group], (0, 50, 95, 99, 100), method="inverted_cdf")
        np.testing.assert_allclose(found[group], expected, rtol=1e-6, atol=values.max() * 1e-9)
    assert np.isnan(found[5]).all()
    assert sizes.tolist() == np.bincount(groups, minlength=7).tolist()


@pytest.mark.parametrize(
    ("well", "size", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_those_of_newcombe_1998_table_1(well: int, size: int, low: float, high: float) -> None:
    found = wilson(np.array([well]), np.array([size]))
    assert [round(float(bound[0]), 4) for bound in found] == [low, high]


@pytest.mark.parametrize("hours", [0, 0.001, 1, 23, 24 * 3, 24 * 59, 24 * 400, 24 * 3_000])
def test_spans_cover_every_time_and_are_limited_in_number(hours: float) -> None:
    times = np.array([at("2026-03-04 05:06:07"), at("2026-03-04 05:06:07") + int(hours * HOUR_US)])
    bins = cover(times, "UTC")
    assert 1 <= bins.count <= MAX_BINS
    assert bins.of(times).tolist() == [0, bins.count - 1]


def test_weeks_begin_on_mondays() -> None:
    bins = cover(np.array([at("2025-01-01"), at("2026-01-01")]), "UTC")
    assert bins.name == "week"
    assert datetime.fromtimestamp(bins.begin_ms(0) / 1_000, UTC).strftime("%A %H:%M") == "Monday 00:00"


def test_days_begin_at_midnight_of_the_zone_also_across_a_change_of_clocks(values) -> None:
    # On 29 March 2026, clocks in Berlin change from 02:00 to 03:00. Midnight is 23:00 UTC before the change and 22:00
    # UTC after it.
    times = ["2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"]
    frame = pd.DataFrame({"started_at": times, "action": "a", "cost_cents": [1, 10, 100, 1000]})
    chart = charts.spend(frame, zone="Europe/Berlin")
    days = [
        (f"{datetime.fromtimestamp(row['begin'] / 1000, UTC):%m-%d}", row["dollars"]) for row in values(chart, None)
    ]
    assert days == [("03-28", 0.01), ("03-29", 1.1), ("03-30", 10.0)]
    assert "Europe/Berlin" in repr(chart)


def test_utc_stays_as_it_is() -> None:
    times = np.array([at("2026-03-29")])
    assert wall_clock(times, "UTC") is times


def test_the_timeline_counts_every_run_once(runs, values) -> None:
    rows = values(charts.run_timeline(runs))
    for status in ("success", "failed"):
        assert sum(row["runs"] for row in rows if row["status"] == status) == (runs["status"] == status).sum()
    # Failed runs are above successful runs.
    stacks = pd.DataFrame(rows).groupby("begin")
    assert all(sorted(group["to"])[:-1] == sorted(group["from"])[1:] for _, group in stacks)


@pytest.mark.parametrize(("count", "ticks"), [(1, [0, 1]), (3, [0, 1, 2, 3]), (80, None)])
def test_runs_are_counted_in_whole_numbers(count, ticks) -> None:
    frame = pd.DataFrame({"started_at": pd.to_datetime([0] * count, unit="s", utc=True), "ok": True})
    axis = charts.run_timeline(frame).to_dict()["layer"][0]["encoding"]["y"]["axis"]
    assert axis.get("values") == ticks


def test_a_bar_with_failures_has_a_cross_and_their_number_if_it_fits(values) -> None:
    frame = pd.DataFrame(
        {"started_at": pd.to_datetime([0, 1, 1, 2], unit="s", utc=True), "ok": [True, False, False, True]}
    )
    chart = charts.run_timeline(frame)
    assert [row["said"] for row in values(chart, 1)] == ["\u00d72"]


def test_unfinished_runs_are_drawn_but_not_counted(values) -> None:
    frame = pd.DataFrame({
        "started_at": pd.to_datetime([0, 0, 0], unit="s", utc=True), "status": ["running", "success", "retrying"],
    })  # fmt: skip
    assert {row["status"]: row["runs"] for row in values(charts.run_timeline(frame))} == {"success": 1, "not ended": 2}
    assert "100.00 % of 1 run succeeded" in repr(charts.success_rate(frame))


def test_latency_counts_successful_runs_alone(values) -> None:
    frame = pd.DataFrame({
        "started_at": pd.to_datetime([0, 0, 0], unit="s", utc=True), "status": ["success", "success", "failed"],
        "elapsed": [0.25, 0.5, 30.0], "action": ["a", "a", "b"],
    })  # fmt: skip
    found = {row["of"]: row["took"] for row in values(charts.latency(frame, percentiles=(50, 100)))}
    assert found == {"p50": 250, "p100": 500}
    chart = charts.latency(frame, by="action", percentiles=(100,))
    assert [(row["action"], row["took"]) for row in values(chart, 1)] == [("a (2)", 500)]


def test_the_unit_depends_on_the_durations_and_is_in_the_title() -> None:
    frame = pd.DataFrame({"started_at": pd.to_datetime([0], unit="s", utc=True), "ok": [True], "elapsed": [2.5]})
    assert repr(charts.latency(frame)).startswith("Latency of successful runs (s): 1 run, ")
    assert repr(charts.latency(frame.assign(elapsed=0.2))).startswith("Latency of successful runs (ms)")


def test_percentiles_differ_in_their_lines_and_not_only_in_colour() -> None:
    times = pd.to_datetime([0, 60], unit="s", utc=True)
    drawn = charts.svg(charts.latency(pd.DataFrame({"started_at": times, "ok": True, "elapsed": 1.0})))
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', drawn))) >= 2


def test_a_gap_in_time_is_a_gap_in_the_line(values) -> None:
    times = pd.to_datetime([0, 10, 10 * 60], unit="s", utc=True)
    rows = values(charts.latency(pd.DataFrame({"started_at": times, "ok": True, "elapsed": 1.0})))
    assert [row["took"] is not None for row in rows if row["of"] == "p50"] == [True] + [False] * 39 + [True]


def test_spend_adds_up_by_day_and_action_and_the_rest_shares_a_row(values) -> None:
    days = pd.date_range("2026-01-01", periods=3, tz="UTC").repeat(10)
    names = [f"action {number}" for number in range(10)] * 3
    frame = pd.DataFrame({"started_at": days, "action": names, "cost_cents": [2**number for number in range(10)] * 3})
    rows = pd.DataFrame(values(charts.spend(frame), None))
    sums = rows.groupby("row")["dollars"].sum().round(2).to_dict()
    assert sums["all actions: $30.69"] == 30.69
    assert sums["action 9: $15.36"] == 15.36
    assert sums["3 other actions: $0.21"] == 0.21
    assert len(sums) == 9


@pytest.mark.parametrize(("cents", "ticks"), [(1, [0, 0.01]), (5, [0, 0.01, 0.02, 0.03, 0.04, 0.05])])
def test_an_axis_of_a_few_cents_has_different_tick_labels(cents, ticks) -> None:
    day = pd.DataFrame({"started_at": [pd.Timestamp("2026-01-01", tz="UTC")], "action": ["a"], "cost_cents": [cents]})
    assert (
        charts.spend(day).to_dict(context={"pre_transform": False})["layer"][0]["encoding"]["x"]["axis"]["values"]
        == ticks
    )


def test_spend_of_a_single_day_is_one_bar_an_action(values) -> None:
    day = pd.to_datetime(["2026-01-01T01:00Z", "2026-01-01T02:00Z"])
    frame = pd.DataFrame({"started_at": day, "action": ["a", ""], "cid": ["QmA", NAMELESS], "cost_cents": [5, 700]})
    assert values(charts.spend(frame)) == [
        {"action": f"{NAMELESS[:10]}…: $7.00", "dollars": 7.0},
        {"action": "a: $0.05", "dollars": 0.05},
    ]


def test_the_same_runs_have_the_same_chart_in_every_container(runs) -> None:
    categories = runs.astype({"status": "category", "action": "category"})
    columns = {name: runs[name].to_numpy() for name in ("status", "action", "elapsed", "cost_cents")}
    mapping = columns | {"started_at": runs["started_at"].dt.tz_localize(None).to_numpy()}
    for draw in (charts.run_timeline, charts.latency, charts.success_rate, charts.spend):
        first = draw(runs).to_dict()
        assert draw(categories).to_dict() == first
        assert draw(mapping).to_dict() == first


def test_a_chart_of_many_runs_is_as_small_as_one_of_few(runs) -> None:
    many = pd.concat([runs] * 20, ignore_index=True)
    for draw in (charts.run_timeline, charts.latency, charts.success_rate, charts.spend):
        assert len(str(draw(many).to_dict())) < 1.1 * len(str(draw(runs).to_dict())) < 100_000
