"""Time spans of equal length, for example minutes or days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from svcnb.client.errors import InvalidArgument

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""NumPy array. Arrays of times contain whole microseconds since 1970-01-01 00:00, in UTC or in local time."""

SECOND: Final = 1_000_000
"""Number of microseconds in a second."""

DAY: Final = 86_400 * SECOND
_STEPS_S: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
)  # fmt: skip
_UNITS: Final = ((604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
MAX_BINS: Final = 60
"""Maximum number of spans in one chart. More spans would be too narrow to distinguish."""

# 1970 began on a Thursday, but weeks begin on Mondays.
_MONDAY: Final = 4 * DAY


@dataclass(frozen=True)
class Bins:
    """Consecutive time spans of equal length.

    Attributes:
        start: Start of the first span, in microseconds since 1970-01-01 00:00 in the local time of `zone`.
        step: Length of each span, in microseconds.
        count: Number of spans.
        zone: Name of the time zone, for example ``Europe/Berlin``.
    """

    start: int
    step: int
    count: int
    zone: str

    @property
    def name(self) -> str:
        """Length of one span as text, for example ``5 minutes`` or ``day``."""
        seconds = self.step // SECOND
        length, unit = next((length, unit) for length, unit in _UNITS if seconds % length == 0)
        number = seconds // length
        return unit if number == 1 else f"{number} {unit}s"

    @property
    def whole_ms(self) -> tuple[int, int]:
        """Start of the first span and end of the last span, in milliseconds since 1970-01-01 00:00 in local time."""
        return self.begin_ms(0), self.begin_ms(self.count)

    def of(self, times: Array) -> Array:
        """Returns one index for each time: the index of the span that contains this time."""
        found: Array = (times - self.start) // self.step
        return found

    def begin_ms(self, number: int) -> int:
        """Returns the start of the span with this index, in milliseconds since 1970-01-01 00:00 in local time."""
        return (self.start + number * self.step) // 1_000


def cover(times: Array, zone: str, *, least: int = SECOND) -> Bins:
    """Returns at most `MAX_BINS` spans that contain all times.

    Args:
        times: Local times of the zone, in microseconds since 1970-01-01 00:00. The array must not be empty.
        zone: Name of the time zone.
        least: Minimum length of a span, in microseconds.
    """
    first, last = int(times.min()), int(times.max())
    steps = [seconds * SECOND for seconds in _STEPS_S if seconds * SECOND >= least]
    week = _STEPS_S[-1] * SECOND
    step = next((step for step in steps if last // step - first // step < MAX_BINS), None)
    if step is None:
        step = week * -(-(last - first + week) // (week * (MAX_BINS - 1)))
    origin = _MONDAY if step >= week else 0
    start = (first - origin) // step * step + origin
    return Bins(start, step, (last - start) // step + 1, zone)


def wall_clock(times: Array, zone: str) -> Array:
    """Converts UTC times to the local time of a time zone, in microseconds since 1970-01-01 00:00 local time.

    Args:
        times: Microseconds since 1970, UTC.
        zone: A name such as ``UTC`` or ``Europe/Berlin``.

    Raises:
        InvalidArgument: The time zone is not available on this machine.
    """
    if zone == "UTC":
        return times
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    import pandas as pd

    try:
        there = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise InvalidArgument(
            f"unknown time zone {zone!r}", hint='Use a name such as "UTC" or "Europe/Berlin".'
        ) from None
    local = pd.DatetimeIndex(times.view("datetime64[us]"), tz="UTC").tz_convert(there).tz_localize(None)
    shown: Array = local.as_unit("us").asi8
    return shown
