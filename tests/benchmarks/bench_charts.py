"""Charts of a million runs, compared with the same percentiles by pandas, interleaved in one process."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from svcnb import charts

ROUNDS = 5
RUNS = 1_000_000
DAYS = 30
HALF_DAY = "12h"


def made(count: int) -> pd.DataFrame:
    """Returns runs of thirty days, in the format of `History.measures`."""
    chance = np.random.default_rng(1)
    well = chance.random(count) > 0.03
    elapsed = chance.lognormal(-1, 1, count)
    frame = pd.DataFrame(
        {
            "started_at": pd.Timestamp("2026-01-01T00:00:00Z")
            + pd.to_timedelta(chance.random(count) * DAYS * 86_400, unit="s"),
            "status": np.where(well, "success", "failed"),
            "action": np.array(["add", "sign", "price", "vote", "mint", "burn"])[chance.integers(0, 6, count)],
            "elapsed": elapsed,
            "cost_cents": np.where(well, np.maximum(1, elapsed.astype(int)), 0),
        }
    )
    return frame.astype({"status": "category", "action": "category"})


def by_pandas(runs: pd.DataFrame) -> Any:
    """Returns the values of the latency chart, computed with pandas."""
    well = runs[runs["status"] == "success"]
    return well.groupby(well["started_at"].dt.floor(HALF_DAY))["elapsed"].quantile([0.5, 0.95, 0.99])


def milliseconds(work: Callable[[], object]) -> float:
    """Returns the duration of one call."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def test_a_million_runs_become_a_chart_about_as_quickly_as_pandas_adds_them_up() -> None:
    runs = made(RUNS)
    work: dict[str, Callable[[], Any]] = {
        "pandas alone": lambda: by_pandas(runs),
        "latency": lambda: charts.latency(runs).to_dict(),
        "latency by action": lambda: charts.latency(runs, by="action").to_dict(),
        "run timeline": lambda: charts.run_timeline(runs).to_dict(),
        "success rate": lambda: charts.success_rate(runs).to_dict(),
        "spend": lambda: charts.spend(runs).to_dict(),
    }
    seen: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS + 1):
        for name, each in work.items():
            seen[name].append(milliseconds(each))
    median = {name: statistics.median(times[1:]) for name, times in seen.items()}
    sizes = {name: len(json.dumps(each())) / 1024 for name, each in work.items() if name != "pandas alone"}
    charts.png(charts.latency(runs))  # the first chart starts the rendering engine
    picture = milliseconds(lambda: charts.png(charts.latency(runs)))
    print(f"\n{RUNS:,} runs, median of {ROUNDS}, ms")
    for name, took in median.items():
        size = f"  {sizes[name]:5.1f} KB" if name in sizes else ""
        print(f"  {name:18} {took:7.1f}  {took / median['pandas alone']:4.2f} of pandas{size}")
    print(f"  latency to PNG     {picture:7.1f}")
    assert max(sizes.values()) < 100
    assert median["latency"] < 2 * median["pandas alone"] + 25


def test_a_chart_of_a_million_runs_is_as_small_as_one_of_a_thousand() -> None:
    small, large = (len(json.dumps(charts.run_timeline(made(count)).to_dict())) for count in (1_000, RUNS))
    assert large < 2 * small
