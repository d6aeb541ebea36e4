"""Parser for durations: ``"10m"``, ``"1h30m"``, ``90``."""

from __future__ import annotations

import math
import re
from datetime import timedelta

from svcnb.errors import InvalidArgument

_UNITS_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)(ms|[smhdw])")


def seconds(span: float | str | timedelta) -> float:
    """Converts a duration to seconds.

    Args:
        span: Number of seconds, a ``timedelta``, or text with numbers and units (ms, s, m, h, d, w).

    Returns:
        Number of seconds, at least 0.

    Raises:
        InvalidArgument: The text is not a duration, or the duration is negative or not finite.

    Example:
        >>> seconds("1h30m")
        5400.0
    """
    if isinstance(span, timedelta):
        value = span.total_seconds()
    elif isinstance(span, str):
        value = _parse(span)
    else:
        value = float(span)
    if not math.isfinite(value) or value < 0:
        raise InvalidArgument(f"invalid duration {span!r}: expected a finite number of seconds, at least 0")
    return value


def _parse(text: str) -> float:
    compact = text.replace(" ", "").lower()
    parts = _PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        raise InvalidArgument(
            f"invalid duration {text!r}: expected numbers with units, for example '90s', '10m' or '1h30m'"
        )
    return math.fsum(float(number) * _UNITS_S[unit] for number, unit in parts)
