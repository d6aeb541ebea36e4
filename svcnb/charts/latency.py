"""Chart of the durations of successful runs, as percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import altair as alt
import numpy as np

from svcnb.charts.bins import Array, cover, wall_clock
from svcnb.charts.renderer import Layers
from svcnb.charts.table import SUCCESS, NothingToDraw, Table, most_frequent
from svcnb.charts.theme import BLUE, GREEN, HEIGHT, PURPLE, VERMILLION, WIDTH
from svcnb.charts.words import count, heading, short, span, time_axis
from svcnb.checked import checked_first
from svcnb.client.errors import InvalidArgument

_COLOURS: Final = (BLUE, GREEN, VERMILLION, PURPLE)
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
_DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
_MOST: Final = len(_COLOURS)
_NANO: Final = 1_000_000_000
_ROW: Final = 24


@checked_first
def latency(
    runs: Any,
    *,
    by: Literal["time", "action"] = "time",
    percentiles: Sequence[float] = (50, 95, 99),
    log: bool = False,
    zone: str = "UTC",
) -> Layers:
    """Returns a chart with percentiles of the durations of successful runs, over time or for each action.

    A chart by action shows the 20 actions with the most successful runs.

    Args:
        runs: A `svcnb.toolkit.history.History`, its runs, runs of a trigger, or a DataFrame. A DataFrame needs the
            columns ``started_at``, ``status`` and ``elapsed`` (seconds), and ``action`` to group the runs by action.
        by: ``time`` for one group of runs in each time span, or ``action`` for one group for each action.
        percentiles: One to four percentiles, each from 0 to 100. The 95th percentile is the shortest duration that at
            least 95 % of the runs did not exceed.
        log: Whether the axis of the durations is logarithmic.
        zone: Time zone of the axis.

    Raises:
        InvalidArgument: There is no data to draw, columns are missing or have the wrong type, or ``by``, a
            percentile or the time zone is invalid.
    """
    wanted = _checked(percentiles)
    table = Table(runs)
    well = table.status() == SUCCESS
    if not well.any():
        raise NothingToDraw(
            f"none of the runs succeeded ({count(len(well), 'run')}); only successful runs have a latency",
            hint="Choose a longer period (since=...), or first run an action that succeeds.",
        )
    seconds = table.seconds()[well]
    if np.isnan(seconds).any():
        raise InvalidArgument(
            f"cannot draw latencies: {np.isnan(seconds).sum()} of {len(seconds)} successful runs have no duration",
            hint="Remove these runs, or add their durations in the column elapsed or seconds.",
        )
    factor, unit = (1_000.0, "ms") if float(np.median(seconds)) < 1 else (1.0, "s")
    if by == "action":
        groups, texts = table.labels("action")
        return _by_action(groups[well], texts, seconds * factor, wanted=wanted, unit=unit, log=log)
    names = _names(wanted)
    times = wall_clock(table.times()[well], zone)
    bins = cover(times, zone)
    found, sizes = percentiles_of(bins.of(times), seconds * factor, bins.count, wanted)
    rows = [
        {"at": (bins.begin_ms(at) + bins.begin_ms(at + 1)) // 2, "of": name, "took": _rounded(found[at, index])}
        for index, name in enumerate(names)
        for at in range(bins.count)
    ]
    text = f"Latency of successful runs ({unit})"
    each = sizes[sizes > 0]
    below = (f"{count(len(seconds), 'run')}, {each.min():,} to {each.max():,} per {bins.name}", span(times, zone))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("at", **time_axis(zone, *bins.whole_ms)), y=_measure("y", unit, log=log)
    )
    return Layers(
        layer=_lines_and_points(base, names),
        **heading(text, *below, details=[_worst(rows, names, unit)]),
        width=WIDTH,
        height=HEIGHT,
    )


def percentiles_of(groups: Array, values: Array, count: int, wanted: Sequence[float]) -> tuple[Array, Array]:
    """Returns percentiles of each group (nearest rank), and the number of values in each group.

    The function sorts once, by numbers that combine the group and the value.

    Args:
        groups: Index of the group to which each value belongs, counted from 0.
        values: Values from 0 to below a billion. The function compares the values with a precision of a billionth of
            the largest value.
        count: Number of groups.
        wanted: Requested percentiles, from 0 to 100.

    Returns:
        An array with one row for each group and one column for each percentile, and the size of each group. The row of
        a group without values contains NaN.
    """
    scale = _NANO / max(float(values.max()), 1e-300)
    keys = np.sort((groups.astype(np.int64) << 32) | np.round(values * scale).astype(np.int64))
    sizes = np.bincount(groups, minlength=count)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # The smallest value that this percentage of the values does not exceed.
    ranks = np.maximum(np.ceil(sizes[:, None] * np.asarray(wanted) / 100).astype(np.int64) - 1, 0)
    at = np.minimum(begins[:, None] + ranks, len(keys) - 1)
    found = np.where(sizes[:, None] > 0, (keys[at] & 0xFFFFFFFF) / scale, np.nan)
    return found, sizes


def _lines_and_points(base: alt.Chart, names: list[str]) -> list[alt.Chart]:
    """Returns lines and points. Each percentile has its own colour, dash pattern and symbol."""
    base = base.encode(color=_channel(alt.Color, names, _COLOURS))
    return [
        base.mark_line(strokeWidth=1.5).encode(strokeDash=_channel(alt.StrokeDash, names, _DASHES)),
        base.mark_point(filled=True, opacity=1, size=34).encode(shape=_channel(alt.Shape, names, _SHAPES)),
    ]


def _by_action(
    groups: Array, texts: Sequence[str], took: Array, *, wanted: Sequence[float], unit: str, log: bool
) -> Layers:
    names = _names(wanted)
    found, sizes = percentiles_of(groups, took, len(texts), wanted)
    most, note = most_frequent(sizes)
    # Put the slowest action at the top.
    shown = sorted(most, key=lambda number: (-found[number, -1], texts[number]))
    labels = {number: f"{short(texts[number])} ({sizes[number]:,})" for number in shown}
    rows = [
        {"action": labels[number], "of": name, "took": _rounded(found[number, index])}
        for number in shown
        for index, name in enumerate(names)
    ]
    spans = [
        {"action": labels[number], "took": _rounded(found[number].min()), "to": _rounded(found[number].max())}
        for number in shown
    ]
    text = f"Latency of successful runs by action ({unit})"
    below = (count(len(took), "run"), note)
    # Put the title above the names, because it would overlap the longest name next to them.
    above_names = alt.Axis(
        title="action (runs)", titleAngle=0, titleAlign="right", titleAnchor="end", titleX=-4, titleY=-8, ticks=False
    )
    names_axis = alt.Y("action", type="nominal", sort=list(labels.values()), axis=above_names)
    rule = alt.Chart(alt.InlineData(values=spans)).mark_rule()
    points = alt.Chart(alt.InlineData(values=rows)).mark_point(filled=True, opacity=1, size=60)
    return Layers(
        layer=[
            rule.encode(x=_measure("x", unit, log=log), x2="to", y=names_axis),
            points.encode(
                x=_measure("x", unit, log=log),
                y=names_axis,
                color=_channel(alt.Color, names, _COLOURS),
                shape=_channel(alt.Shape, names, _SHAPES),
            ),
        ],
        **heading(text, *below, details=[_worst(rows, names, unit)]),
        width=WIDTH,
        height=_ROW * len(shown),
    )


# The marks in the legend have no outline, because the dashes of the line would make small marks unrecognisable.
_LEGEND: Final = alt.Legend(
    title="percentile", titleOrient="left", titlePadding=14, symbolFillColor=None, symbolStrokeWidth=0
)


def _measure(channel: Literal["x", "y"], unit: str, *, log: bool) -> Any:
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    make = alt.X if channel == "x" else alt.Y
    return make(
        "took",
        type="quantitative",
        scale=scale,
        axis=alt.Axis(title=f"latency ({unit})", grid=True, labelFlush=False, tickCount=6),
    )


def _channel(kind: Any, names: list[str], values: Sequence[Any]) -> Any:
    """Returns the encoding of the percentiles by colours, dash patterns or symbols."""
    scale = alt.Scale(domain=names, range=list(values[: len(names)]))
    return kind("of", type="nominal", scale=scale, legend=_LEGEND)


def _rounded(value: float) -> float | None:
    """Rounds a value to four significant digits, so that the chart needs less space.

    Returns:
        The rounded value, or None for NaN. None interrupts a line of the chart.
    """
    return None if np.isnan(value) else float(f"{value:.4g}")


def _worst(rows: list[dict[str, Any]], names: list[str], unit: str) -> str:
    highest = {
        name: max((row["took"] for row in rows if row["of"] == name and row["took"] is not None), default=0)
        for name in names
    }
    return "highest " + ", ".join(f"{name} {value:g} {unit}" for name, value in highest.items())


def _names(wanted: Sequence[float]) -> list[str]:
    return [f"p{share:g}" for share in wanted]


def _checked(percentiles: Sequence[float]) -> list[float]:
    wanted = sorted(dict.fromkeys(percentiles))
    if not 1 <= len(wanted) <= _MOST or not all(0 <= share <= 100 for share in wanted):  # noqa: PLR2004 - percent
        raise InvalidArgument(
            f"invalid percentiles {percentiles!r}: expected one to four numbers from 0 to 100",
            hint="Pass, for example, (50, 95, 99).",
        )
    return wanted
