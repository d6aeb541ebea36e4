"""Fixtures of the tests for charts: frames of runs with known results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

START = pd.Timestamp("2026-01-01T00:00:00Z")


@pytest.fixture(scope="session")
def runs() -> pd.DataFrame:
    """Returns 5000 runs of three days with four actions, about 5 % failures and log-normal durations."""
    chance = np.random.default_rng(20260101)
    count = 5_000
    well = chance.random(count) > 0.05
    elapsed = chance.lognormal(-1, 1, count)
    return pd.DataFrame(
        {
            "started_at": START + pd.to_timedelta(np.sort(chance.random(count)) * 3 * 86_400, unit="s"),
            "status": np.where(well, "success", "failed"),
            "action": np.array(["add", "sign", "price", "vote"])[chance.integers(0, 4, count)],
            "elapsed": elapsed,
            "cost_cents": np.where(well, np.maximum(1, elapsed.astype(int)), 0),
        }
    )


@pytest.fixture(scope="session")
def values() -> Callable[..., list[dict[str, Any]]]:
    """Returns the rows that one layer of a chart draws, without rows that have no value in this column."""

    def read(chart: alt.TopLevelMixin, layer: int | None = 0, has: str | None = None) -> list[dict[str, Any]]:
        spec = chart.to_dict()
        part: Mapping[str, Any] = spec if layer is None else spec["layer"][layer]
        data = part.get("data") or spec["data"]
        rows = data["values"] if "values" in data else spec["datasets"][data["name"]]
        return [row for row in rows if has is None or row[has] is not None]

    return read
