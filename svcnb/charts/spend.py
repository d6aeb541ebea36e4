"""Chart of the cost of runs, by day and action."""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import numpy as np

from svcnb.charts.bins import DAY, Array, cover, wall_clock
from svcnb.charts.renderer import Layers, Rows
from svcnb.charts.table import Table
from svcnb.charts.theme import BLUE, WIDTH
from svcnb.charts.words import count, heading, short, span, time_axis
from svcnb.checked import checked
from svcnb.client.models.billing import dollars

MAX_ACTIONS: Final = 7
"""Maximum number of actions with their own row. If two or more actions remain, they share one row."""

_FEW_CENTS: Final = 5

_ROW: Final = 46
_BAR: Final = 24
_HEADER: Final = alt.Header(
    title=None,
    labelAngle=0,
    labelAlign="left",
    labelAnchor="start",
    labelOrient="top",
    labelPadding=2,
    labelLimit=WIDTH,
)


@checked
def spend(runs: Any, *, zone: str = "UTC") -> Rows | Layers:
    """Returns a chart with the cost of runs over time: the total, and one row for each of the most expensive actions.

    Each bar contains the cost of one or more days. If all runs are on a single day, the chart has one bar for each of
    these actions. Other actions share one row or bar.

    Args:
        runs: A `svcnb.toolkit.history.History`, its runs, or a DataFrame with ``started_at``, ``action`` and
            ``cost_cents``.
        zone: Time zone that determines the start of a day.

    Raises:
        InvalidArgument: There is no data to draw, columns are missing or have the wrong type, or the time zone is
            unknown.
    """
    table = Table(runs)
    times = wall_clock(table.times(), zone)
    cents = table.cents()
    actions, texts = table.labels("action")
    bins = cover(times, zone, least=DAY)
    grid = np.bincount(bins.of(times) * len(texts) + actions, weights=cents, minlength=bins.count * len(texts))
    lines = _lines(grid.reshape(bins.count, len(texts)), texts)
    if bins.count == 1:
        return _one_day(lines, dollars(round(float(cents.sum()))), count(len(times), "run"), span(times, zone))
    rows = [
        {
            "row": name,
            "begin": bins.begin_ms(at),
            "end": bins.begin_ms(at + 1),
            "dollars": round(float(sums[at]) / 100, 2),
        }
        for name, sums in lines
        for at in range(bins.count)
        if sums[at]
    ]
    text = f"Spend per {bins.name} (US dollars)"
    below = (f"{dollars(round(float(cents.sum())))} for {count(len(times), 'run')}", span(times, zone))
    bars = _bars(alt.X("begin", **time_axis(zone, *bins.whole_ms)), _dollars(rows, 2, None))
    # Actions without a cost also have a row.
    kept = [name for name, _ in lines]
    return Rows(
        data=alt.InlineData(values=rows),
        spec=bars,
        facet=alt.Facet("row", type="nominal", sort=kept, header=_HEADER),
        columns=1,
        spacing=14,
        **heading(text, *below, details=kept[1:]),
    )


def _dollars(rows: list[dict[str, Any]], ticks: int, name: str | None) -> alt.Axis:
    """Returns an axis without ticks between two whole cents, because the labels of such ticks would be equal."""
    cents = round(100 * max((row["dollars"] for row in rows), default=0.0))
    few = [cent / 100 for cent in range(0, cents + 1, -(-cents // ticks) or 1)]
    return alt.Axis(title=name, format="$,.2f", tickCount=ticks, values=few if cents <= _FEW_CENTS else alt.Undefined)


def _bars(x: alt.X, axis: alt.Axis) -> alt.Chart:
    y = alt.Y("dollars", type="quantitative", axis=axis)
    bars: alt.Chart = alt.Chart().mark_bar(color=BLUE, binSpacing=1).encode(x=x, x2="end", y2=alt.Y2Datum(0), y=y)
    return bars.properties(width=WIDTH, height=_ROW)


def _one_day(lines: list[tuple[str, Array]], total: str, runs: str, when: str) -> Layers:
    parts = lines if len(lines) == 1 else lines[1:]
    rows = [{"action": name, "dollars": round(float(sums.sum()) / 100, 2)} for name, sums in parts]
    text, below = "Spend of one day by action (US dollars)", (f"{total} for {runs}", when)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("action", type="nominal", sort=None, axis=alt.Axis(title=None, ticks=False, labelLimit=320)),
        x=alt.X("dollars", type="quantitative", axis=_dollars(rows, 6, "US dollars")),
    )
    return Layers(
        layer=[base.mark_bar(color=BLUE, height=14)],
        **heading(text, *below, details=[name for name, _ in parts]),
        width=WIDTH,
        height=_BAR * len(rows),
    )


def _lines(grid: Array, texts: list[str]) -> list[tuple[str, Array]]:
    """Returns the rows of the chart: a name with its total, and the cost of each time span in cents."""
    totals = grid.sum(axis=0)
    dearest = sorted(range(len(texts)), key=lambda number: (-totals[number], texts[number]))
    named, rest = dearest[:MAX_ACTIONS], dearest[MAX_ACTIONS:]
    if len(rest) == 1:
        named, rest = dearest, []
    lines = [("all actions", grid.sum(axis=1))] if len(texts) > 1 else []
    lines += [(short(texts[number]), grid[:, number]) for number in named]
    if rest:
        lines.append((f"{len(rest)} other actions", grid[:, rest].sum(axis=1)))
    return [(f"{name}: {dollars(round(float(sums.sum())))}", sums) for name, sums in lines]
