"""Chart of the number of runs over time, by result."""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import numpy as np

from svcnb.charts.bins import cover, wall_clock
from svcnb.charts.renderer import Layers
from svcnb.charts.table import FAILED, OPEN, SUCCESS, Table
from svcnb.charts.theme import BLUE, GREY, HEIGHT, PALE_BLUE, VERMILLION, WIDTH
from svcnb.charts.words import TIMES, count, heading, span, time_axis
from svcnb.checked import checked

_KINDS: Final = {SUCCESS: "success", FAILED: "failed", OPEN: "not ended"}
_LOOKS: Final = {
    "success": (PALE_BLUE, BLUE, [1, 0]),
    "failed": (VERMILLION, VERMILLION, [1, 0]),
    "not ended": ("transparent", GREY, [3, 2]),
}
"""Fill, outline and dashes of each status."""

_FEW: Final = 5
_MOST_LABELS: Final = 30
"""Maximum number of bars for which a number fits above each bar."""


@checked
def run_timeline(runs: Any, *, zone: str = "UTC") -> Layers:
    """Returns a chart with the number of runs over time.

    Bars of successful runs are pale, bars of failed runs are dark, and bars of unfinished runs are hollow. A cross
    above a bar marks failed runs. If the chart has at most 30 bars, the number of failed runs is next to the cross.

    Args:
        runs: A `svcnb.toolkit.history.History`, its runs, runs of a trigger, or a DataFrame with ``started_at`` and
            ``status``.
        zone: Time zone of the axis.

    Raises:
        InvalidArgument: There is no data to draw, columns are missing or have the wrong type, or the time zone is
            unknown.
    """
    table = Table(runs)
    times = wall_clock(table.times(), zone)
    status = table.status()
    bins = cover(times, zone)
    counts = np.bincount(bins.of(times) * 3 + status, minlength=bins.count * 3).reshape(-1, 3)
    there = [kind for kind in _KINDS if counts[:, kind].any()]
    rows = []
    for number in np.flatnonzero(counts.sum(axis=1)).tolist():
        reached = 0
        for kind in there:
            if height := int(counts[number, kind]):
                rows.append(_bar(bins.begin_ms(number), bins.begin_ms(number + 1), reached, height, _KINDS[kind]))
                reached += height
    totals = counts.sum(axis=0)
    text = f"Runs per {bins.name}"
    below = (
        f"{count(len(times), 'run')}, {totals[FAILED]:,} failed{f', {totals[OPEN]:,} not ended' * bool(totals[OPEN])}",
        span(times, zone),
    )
    # For few runs, ticks between whole numbers would have equal labels.
    most = int(counts.sum(axis=1).max())
    ticks = [*range(most + 1)] if most <= _FEW else alt.Undefined
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(strokeWidth=1.2, binSpacing=0)
        .encode(
            x=alt.X("begin", **time_axis(zone, *bins.whole_ms)),
            x2="end",
            y=alt.Y("from", type="quantitative", axis=alt.Axis(title="runs", format=",d", values=ticks)),
            y2="to",
            **_look([_KINDS[kind] for kind in there]),
        )
    )
    return Layers(
        layer=[bars, *_crosses(bins.count, rows)],
        **heading(text, *below),
        width=WIDTH,
        height=HEIGHT,
    )


def _bar(begin: int, end: int, reached: int, height: int, status: str) -> dict[str, Any]:
    return {"begin": begin, "end": end, "from": reached, "to": reached + height, "runs": height, "status": status}


def _look(kinds: list[str]) -> dict[str, Any]:
    fillings, outlines, dashes = zip(*(_LOOKS[kind] for kind in kinds), strict=True)
    # Leave space on the axis for the crosses above the highest bars.
    legend = alt.Legend(title=None, symbolType="square", offset=20)

    def scale(values: Any) -> alt.Scale:
        return alt.Scale(domain=kinds, range=list(values))

    return {
        "fill": alt.Fill("status", type="nominal", scale=scale(fillings), legend=legend),
        "stroke": alt.Stroke("status", type="nominal", scale=scale(outlines), legend=legend),
        "strokeDash": alt.StrokeDash("status", type="nominal", scale=scale(dashes), legend=legend),
    }


def _crosses(bars: int, rows: list[dict[str, Any]]) -> list[alt.Chart]:
    """Returns a cross above each bar with failures, and the number of failures if there is space."""
    tops: dict[int, dict[str, Any]] = {}
    for row in rows:
        top = tops.setdefault(row["begin"], {"at": (row["begin"] + row["end"]) // 2, "to": 0, "said": ""})
        top["to"] = max(top["to"], row["to"])
        if row["status"] == "failed":
            top["said"] = f"{TIMES}{row['runs']:,}" if bars <= _MOST_LABELS else TIMES
    failed = [top for top in tops.values() if top["said"]]
    if not failed:
        return []
    marks = alt.Chart(alt.InlineData(values=failed)).mark_text(dy=-8)
    return [
        marks.encode(
            x=alt.X("at", type="temporal", scale=alt.Scale(type="utc")),
            y=alt.Y("to", type="quantitative"),
            text=alt.Text("said", type="nominal"),
        )
    ]
