"""Summary of runs for charts, with counts over time, durations and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final

from svcnb.toolkit.run_feed import SeenRun

MOST_BUCKETS: Final = 48
_WIDTHS_S: Final = (1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 604_800)
_PERCENTILES: Final = (50, 95, 99)
_TOP: Final = 5


@dataclass(frozen=True)
class Bucket:
    """Counts of the runs in one time span.

    Attributes:
        at: Start of the time span in Unix seconds.
        succeeded: Number of runs that succeeded.
        failed: Number of failed and rejected runs.
    """

    at: float
    succeeded: int
    failed: int


@dataclass(frozen=True)
class Summary:
    """Counts, durations and costs of many runs.

    Attributes:
        count: Number of runs.
        succeeded: Number of successful runs.
        width_s: Length of one bucket in seconds.
        buckets: Counts of successful and failed runs over time, oldest first, without gaps. If the runs span more than
            48 weeks, the buckets do not contain the older runs.
        latency_s: Pairs of a percentile and a duration in seconds, for the successful runs. The last pair contains
            percentile 100 and the maximum. Empty if no run succeeded.
        spend: Name (or CID) and cost in cents of the five most expensive actions, most expensive first. Actions
            without a cost are not included.
        total_cents: Total cost of all runs in cents.
    """

    count: int
    succeeded: int
    width_s: int
    buckets: tuple[Bucket, ...]
    latency_s: tuple[tuple[int, float], ...]
    spend: tuple[tuple[str, int], ...]
    total_cents: int


def summarise(runs: Sequence[SeenRun]) -> Summary:
    """Returns the counts, durations and costs of runs.

    Args:
        runs: The runs, in any order. The total count and the total cost include all runs. The percentiles of the
            durations include only successful runs.
    """
    took = sorted(run.elapsed for run in runs if run.status == "success")
    width = _width(runs)
    return Summary(
        count=len(runs),
        succeeded=len(took),
        width_s=width,
        buckets=tuple(_buckets(runs, width)),
        latency_s=tuple((rank, _nearest(took, rank)) for rank in (*_PERCENTILES, 100)) if took else (),
        spend=_spend(runs),
        total_cents=sum(run.cost_cents for run in runs),
    )


def _width(runs: Sequence[SeenRun]) -> int:
    if not runs:
        return _WIDTHS_S[0]
    span = max(run.started_at for run in runs) - min(run.started_at for run in runs)
    return next((width for width in _WIDTHS_S if span / width < MOST_BUCKETS - 1), _WIDTHS_S[-1])


def _buckets(runs: Sequence[SeenRun], width: int) -> Iterable[Bucket]:
    if not runs:
        return
    numbers = [floor(run.started_at / width) for run in runs]
    good: Counter[int] = Counter()
    bad: Counter[int] = Counter()
    for number, run in zip(numbers, runs, strict=True):
        if run.status == "success":
            good[number] += 1
        elif run.status in {"failed", "refused"}:
            bad[number] += 1
    last = max(numbers)
    for number in range(max(min(numbers), last - MOST_BUCKETS + 1), last + 1):
        yield Bucket(number * width, good[number], bad[number])


def _nearest(ordered: Sequence[float], rank: int) -> float:
    """Returns a percentile of sorted values by the nearest-rank method, so the result is always one of the values."""
    return ordered[max(0, ceil(rank / 100 * len(ordered)) - 1)]


def _spend(runs: Iterable[SeenRun]) -> tuple[tuple[str, int], ...]:
    cents: Counter[str] = Counter()
    for run in runs:
        cents[run.action or run.cid] += run.cost_cents
    return tuple((name, amount) for name, amount in cents.most_common(_TOP) if amount)
