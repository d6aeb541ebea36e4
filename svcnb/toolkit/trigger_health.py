"""Health of triggers: which fail, which are late, which have stopped.

Source: specification 3, 4.5, 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import Any, Final, Literal

from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.triggers import Trigger, TriggerRun
from svcnb.protocol.cron import Cron
from svcnb.protocol.durations import seconds
from svcnb.protocol.limits import SCHEDULE_SCAN_S

State = Literal["healthy", "failing", "late", "idle", "disabled"]

BAD: Final = frozenset({"failing", "late"})
"""States that a person should check."""

_GRACE_S: Final = 4 * SCHEDULE_SCAN_S
"""Seconds from a scheduled time until the schedule counts as late if no run started: a few scans."""


class TriggerHealth(Model):
    """Health of one trigger."""

    trigger: str
    kind: str
    state: State
    """``failing``: its success rate is too low. ``late``: its schedule should have fired and has not. ``idle``: it
    has not run in this time. ``disabled``: it does not fire."""

    runs: int
    """Runs that ended."""

    failed: int
    waiting: int
    """Runs that have not ended."""

    retried: int
    """Runs that needed more than one attempt."""

    success_percent: float | None
    """Success rate of the ended runs; None when none ended."""

    median_s: float | None
    """Median time from start to end, in seconds."""

    p95_s: float | None
    last_run: datetime | None
    last_success: datetime | None
    last_error: str = ""
    trigger_id: str = ""

    quiet = frozenset({"trigger_id"})

    def summary(self) -> dict[str, Any]:
        """Returns the columns of a table for people."""
        return {
            "trigger": self.trigger,
            "kind": self.kind,
            "state": self.state,
            "runs": self.runs,
            "failed": self.failed,
            "waiting": self.waiting,
            "retried": self.retried,
            "went well": "" if self.success_percent is None else f"{self.success_percent:.1f} %",
            "median": "" if self.median_s is None else f"{self.median_s:.2f} s",
            "95 %": "" if self.p95_s is None else f"{self.p95_s:.2f} s",
            "last success": "" if self.last_success is None else f"{self.last_success:%Y-%m-%d %H:%M:%S}",
            "last error": self.last_error,
        }


def health(
    triggers: Any,
    *,
    since: float | str | timedelta = "7d",
    min_success_percent: float = 95.0,
    runs_per_trigger: int = 1_000,
    now: float | None = None,
) -> tuple[Listing[TriggerHealth], list[tuple[Trigger, TriggerRun]]]:
    """Reads every trigger and its latest runs, and rates their health.

    Args:
        triggers: A client of the triggers service.
        since: Only runs that started within this time span.
        min_success_percent: A trigger with a lower success rate is ``failing``.
        runs_per_trigger: Maximum number of runs read for each trigger, newest first.
        now: The service's time in Unix seconds; this machine's when None.

    Returns:
        One rating for each trigger, the worst first, and the runs behind them.

    Raises:
        ValueError: `since` is not a time span.
    """
    moment = datetime.now(UTC) if now is None else datetime.fromtimestamp(now, UTC)
    first = moment - timedelta(seconds=seconds(since))
    judged: list[TriggerHealth] = []
    kept: list[tuple[Trigger, TriggerRun]] = []
    for trigger in triggers.list():
        read = triggers.runs(trigger, limit=runs_per_trigger)
        recent = [run for run in read if run.started_at is None or run.started_at >= first]
        judged.append(judge(trigger, recent, read, moment, min_success_percent))
        kept += [(trigger, run) for run in recent]
    order: tuple[State, ...] = ("failing", "late", "healthy", "idle", "disabled")
    return Listing(sorted(judged, key=lambda each: order.index(each.state)), of="triggers"), kept


def judge(
    trigger: Trigger, recent: Sequence[TriggerRun], all_read: Sequence[TriggerRun], now: datetime, wanted: float
) -> TriggerHealth:
    """Rates one trigger.

    Args:
        trigger: The trigger.
        recent: Its runs of the examined period, newest first.
        all_read: All of its runs that were read, newest first.
        now: The service's time.
        wanted: Percentage of ended runs that should succeed.
    """
    ended = [run for run in recent if run.ended]
    failed = [run for run in ended if not run.ok]
    percent = 100.0 * (len(ended) - len(failed)) / len(ended) if ended else None
    took = sorted(run.seconds for run in ended if run.seconds is not None)
    state: State = "healthy"
    if not trigger.enabled:
        state = "disabled"
    elif percent is not None and percent < wanted:
        state = "failing"
    elif is_late(trigger, all_read, now):
        state = "late"
    elif not recent:
        state = "idle"
    return TriggerHealth(
        trigger=trigger.name or trigger.id,
        kind=trigger.kind,
        state=state,
        runs=len(ended),
        failed=len(failed),
        waiting=len(recent) - len(ended),
        retried=sum(run.attempt > 1 for run in recent),
        success_percent=percent,
        median_s=_share(took, 50),
        p95_s=_share(took, 95),
        last_run=_latest(all_read),
        last_success=_latest(run for run in all_read if run.ok),
        last_error=next((str(run.error).splitlines()[0] for run in failed if run.error), ""),
        trigger_id=trigger.id,
    )


def is_late(trigger: Trigger, runs: Sequence[TriggerRun], now: datetime) -> bool:
    """Whether a scheduled time passed several scans ago without starting a run."""
    cron = trigger.config.get("cron") if trigger.kind == "schedule" else None
    if not isinstance(cron, str):
        return False
    known = [moment for moment in (trigger.created_at, trigger.updated_at, _latest(runs)) if moment is not None]
    if not known:
        return False
    return Cron(cron).next_after(max(known).timestamp()) + _GRACE_S < now.timestamp()


def _latest(runs: Iterable[TriggerRun]) -> datetime | None:
    return max((run.started_at for run in runs if run.started_at is not None), default=None)


def _share(took: list[float], percent: int) -> float | None:
    if len(took) < 2:  # noqa: PLR2004 - quantiles need two
        return took[0] if took else None
    return quantiles(took, n=100, method="inclusive")[percent - 1]
