"""Text in charts: headings with units, and descriptions of the covered period."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import altair as alt

from svcnb.charts.bins import Array

TIMES: Final = "\u00d7"
"""Multiplication sign, which marks failures."""

_LONGEST: Final = 32
_LINE: Final = 110
_SECONDS_BELOW_MS: Final = 5 * 60 * 1000


def heading(text: str, *below: str, details: Iterable[str] = ()) -> dict[str, Any]:
    """Returns the title and the description of a chart, as arguments of the chart.

    Args:
        text: Title of the chart.
        *below: Muted subtitles. Empty subtitles are omitted, and long subtitles have several lines.
        details: Parts of the description that are not visible in the chart.
    """
    lines = [line for line in below if line]
    said = "; ".join([*lines, *details])
    return {
        "title": alt.TitleParams(text, subtitle=[part for line in lines for part in textwrap.wrap(line, _LINE)]),
        "description": f"{text}: {said}" if said else text,
    }


def count(number: int, one: str) -> str:
    """Returns a number with its unit, for example ``1,204 runs``."""
    return f"{number:,} {one}{'s' * (number != 1)}"


def span(times: Array, zone: str) -> str:
    """Returns the period from the first to the last time as text, in the local time of a time zone.

    Args:
        times: Local times of the zone, in microseconds since 1970-01-01 00:00.
        zone: Name of the time zone.
    """
    first, last = (_moment(int(time)) for time in (times.min(), times.max()))
    if first == last:
        return f"{first:%Y-%m-%d %H:%M:%S} {zone}"
    form = "%Y-%m-%d %H:%M" if (last - first).total_seconds() >= 60 else "%Y-%m-%d %H:%M:%S"  # noqa: PLR2004 - a minute
    same_day = first.date() == last.date()
    return f"{first.strftime(form)} to {last.strftime(form[9:] if same_day else form)} {zone}"


def short(text: str, longest: int = _LONGEST) -> str:
    """Returns a string of at most ``longest`` characters. An ellipsis replaces the middle, where names differ least."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def time_axis(zone: str, begin: int, end: int) -> dict[str, Any]:
    """Returns the common settings of a time axis.

    Args:
        zone: Name of the time zone.
        begin: Start of the period, in milliseconds since 1970-01-01 00:00 in the zone's local time.
        end: End of the period, in the same unit.
    """
    return {
        "type": "temporal",
        # The times are already in the time zone, so the scale must not convert them again.
        "scale": alt.Scale(type="utc", domain=[begin, end]),
        "axis": alt.Axis(
            title=f"time ({zone})",
            labelOverlap=True,
            labelSeparation=6,
            # Do not use ticks finer than seconds, which are the smallest unit of the labels.
            tickCount=max(1, min(8, (end - begin) // 1000)),
            labelFlush=False,
            labelExpr=_clock(end - begin),
        ),
    }


def _clock(milliseconds: int) -> str:
    """Returns the Vega expression for tick labels: the day at midnight, and otherwise the time."""
    time = "%H:%M:%S" if milliseconds < _SECONDS_BELOW_MS else "%H:%M"
    year = "utcmonth(datum.value) == 0 && utcdate(datum.value) == 1"
    day = f"{year} ? utcFormat(datum.value, '%-d %b %Y') : utcFormat(datum.value, '%-d %b')"
    midnight = "utchours(datum.value) + utcminutes(datum.value) + utcseconds(datum.value) == 0"
    return f"{midnight} ? ({day}) : utcFormat(datum.value, '{time}')"


def _moment(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds // 1_000_000, UTC)
