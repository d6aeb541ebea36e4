"""Parser for durations."""

from __future__ import annotations

from datetime import timedelta

import pytest

from svcnb.protocol.durations import seconds


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("30d", 30 * 24 * 3600),
        ("2w", 14 * 24 * 3600),
        ("250ms", 0.25),
        ("1.5H", 5400),
        (0, 0),
        (12.5, 12.5),
        (timedelta(minutes=3), 180),
    ],
)
def test_a_span_is_read(span: str | float | timedelta, expected: float) -> None:
    assert seconds(span) == pytest.approx(expected)


@pytest.mark.parametrize("span", ["", "10", "ten minutes", "10y", "-5m", "5m!", "m5", -1, float("nan"), float("inf")])
def test_an_invalid_duration_is_rejected(span: str | float) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        seconds(span)
