"""Chart of the success rate of runs, with its confidence interval."""

from __future__ import annotations

from typing import Any, Final, Literal

import altair as alt
import numpy as np

from svcnb.charts.bins import Array, cover, wall_clock
from svcnb.charts.renderer import Layers
from svcnb.charts.table import FAILED, OPEN, NothingToDraw, Table, most_frequent
from svcnb.charts.theme import BLUE, HEIGHT, PALE_BLUE, WIDTH
from svcnb.charts.words import count, heading, short, span, time_axis
from svcnb.checked import checked_first

_Z: Final = 1.959964
"""97.5 % quantile of the standard normal distribution, for a two-sided 95 % confidence interval."""

_ROW: Final = 24
_NOTE: Final = "pale: 95 % confidence interval"


@checked_first
def success_rate(runs: Any, *, by: Literal["time", "action"] = "time", zone: str = "UTC") -> Layers:
    """Returns a chart with the share of successful runs among finished runs, and Wilson's 95 % confidence interval.

    A chart by action shows the 20 actions with the most finished runs.

    Args:
        runs: A `svcnb.toolkit.history.History`, its runs, runs of a trigger, or a DataFrame with ``status`` and
            ``started_at``, and ``action`` to group the runs by action.
        by: ``time`` for one group of runs in each time span, or ``action`` for one group for each action.
        zone: Time zone of the axis.

    Raises:
        InvalidArgument: There is no data to draw, columns are missing or have the wrong type, or ``by`` or the time
            zone is invalid.
    """
    table = Table(runs)
    status = table.status()
    ended = status != OPEN
    if not ended.any():
        raise NothingToDraw(
            f"none of the runs has ended ({count(len(ended), 'run')})",
            hint="Wait until a run has ended, or choose a longer period: since=...",
        )
    failed = status[ended] == FAILED
    if by == "action":
        groups, texts = table.labels("action")
        return _by_action(groups[ended], texts, failed)
    times = wall_clock(table.times()[ended], zone)
    bins = cover(times, zone)
    sizes, wells = _counts(bins.of(times), failed, bins.count)
    low, high = wilson(wells, sizes)
    rows = [
        {"at": (bins.begin_ms(at) + bins.begin_ms(at + 1)) // 2, **_shares(wells[at], sizes[at], low[at], high[at])}
        for at in range(bins.count)
    ]
    text = f"Success rate per {bins.name} (%)"
    below = (_total(failed), span(times, zone), _NOTE)
    x = alt.X("at", **time_axis(zone, *bins.whole_ms))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x)
    scale = _percent(low)
    y = alt.Y("rate", type="quantitative", scale=scale, axis=alt.Axis(title="success (%)"))
    return Layers(
        layer=[
            base.mark_rule(strokeWidth=6, color=PALE_BLUE).encode(
                y=alt.Y("low", type="quantitative", scale=scale, axis=alt.Axis(title="success (%)")), y2="high"
            ),
            base.mark_line(color=BLUE, strokeWidth=1.5).encode(y=y),
            base.mark_point(color=BLUE, filled=True, opacity=1, size=30).encode(y=y),
        ],
        **heading(text, *below),
        width=WIDTH,
        height=HEIGHT,
    )


def wilson(wells: Array, sizes: Array) -> tuple[Array, Array]:
    """Returns the lower and the upper limits of Wilson's (1927) 95 % confidence intervals of success rates.

    A success rate is a number from 0 to 1.

    Args:
        wells: Number of successful runs in each group.
        sizes: Number of runs in each group. The limits of a group without runs are NaN.
    """
    n = np.where(sizes > 0, sizes, np.nan).astype(np.float64)
    share = wells / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _percent(low: Array) -> alt.Scale:
    """Returns the range of the axis in percent: from the multiple of ten below the lowest confidence limit to 100.

    Unlike bars, points do not need an axis that starts at zero.
    """
    return alt.Scale(domain=[int(10 * float(np.nanmin(low))) * 10, 100], nice=False)


def _by_action(groups: Array, texts: list[str], failed: Array) -> Layers:
    sizes, wells = _counts(groups, failed, len(texts))
    low, high = wilson(wells, sizes)
    most, note = most_frequent(sizes)
    shown = sorted(most, key=lambda number: (wells[number] / sizes[number], texts[number]))
    rows = [
        {
            "action": short(texts[number]),
            "said": f"{100 * wells[number] / sizes[number]:.1f} % of {sizes[number]:,}",
            **_shares(wells[number], sizes[number], low[number], high[number]),
        }
        for number in shown
    ]
    text = "Success rate by action (%)"
    below = (_total(failed), note, _NOTE)
    order = [str(row["action"]) for row in rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("action", type="nominal", sort=order, axis=alt.Axis(title=None, ticks=False))
    )
    axis = alt.Axis(title="success (%)", grid=True, labelFlush=False, tickCount=6)
    scale = _percent(low[shown])
    return Layers(
        layer=[
            base.mark_rule(strokeWidth=8, color=PALE_BLUE).encode(
                x=alt.X("low", type="quantitative", scale=scale, axis=axis), x2="high"
            ),
            base.mark_point(color=BLUE, filled=True, opacity=1, size=60).encode(
                x=alt.X("rate", type="quantitative", scale=scale, axis=axis)
            ),
            base.mark_text(align="left", x=WIDTH + 8).encode(text=alt.Text("said", type="nominal")),
        ],
        **heading(text, *below, details=[f"lowest {rows[0]['action']} {rows[0]['said']}"]),
        width=WIDTH,
        height=_ROW * len(rows),
    )


def _counts(groups: Array, failed: Array, count: int) -> tuple[Array, Array]:
    sizes = np.bincount(groups, minlength=count)
    return sizes, sizes - np.bincount(groups[failed], minlength=count)


def _shares(well: Any, size: Any, low: float, high: float) -> dict[str, float | None]:
    if not size:
        return {"rate": None, "low": None, "high": None}
    return {"rate": round(100 * float(well / size), 2), "low": round(100 * low, 2), "high": round(100 * high, 2)}


def _total(failed: Array) -> str:
    well = len(failed) - int(failed.sum())
    return f"{100 * well / len(failed):.2f} % of {count(len(failed), 'run')} succeeded"
