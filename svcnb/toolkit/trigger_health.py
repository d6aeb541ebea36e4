"""Health check of triggers. It determines whether each trigger is healthy, failing, late, idle or disabled.

Source: docs/service/resources.md#states, docs/service/triggers.md#calls, docs/service/limits.md#limits-of-the-service.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from svcnb.checked import checked
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.triggers import Trigger, TriggerRun
from svcnb.protocol.cron import Cron
from svcnb.protocol.durations import seconds
from svcnb.protocol.limits import SCHEDULE_SCAN_S

if TYPE_CHECKING:
    from svcnb.client.triggers import TriggersClient

State = Literal["healthy", "failing", "late", "idle", "disabled"]

BAD: Final = frozenset({"failing", "late"})
"""States that need attention. The report on triggers shows triggers in these states as problems."""

_GRACE_S: Final = 4 * SCHEDULE_SCAN_S
"""Delay in seconds after which a scheduled run counts as late. The value is four scan intervals of the service."""


class TriggerHealth(Model):
    """State of one trigger, with statistics about its runs in a period."""

    trigger: str
    """Name of the trigger, or its id if the trigger has no name."""
    kind: str
    """``webhook``, ``schedule`` or ``chain_event``."""
    state: State
    """``healthy``: no problem. ``failing``: the success rate is too low. ``late``: the schedule did not fire at the
    expected time. ``idle``: the trigger did not start a run in this period. ``disabled``: the trigger does not fire."""

    runs: int
    """Number of finished runs in the period."""

    failed: int
    """Number of failed runs in the period."""
    waiting: int
    """Number of unfinished runs in the period."""

    retried: int
    """Number of runs in the period that needed more than one attempt."""

    success_percent: float | None
    """Success rate of the finished runs, in percent. None if no run finished."""

    median_s: float | None
    """Median time from start to end of the finished runs in the period, in seconds. None if no run finished."""

    p95_s: float | None
    """95th percentile of the time from start to end, for the same runs, in seconds. None if no run finished."""
    last_run: datetime | None
    """Start of the newest run in UTC. The run can be older than the period. None if the trigger has no runs."""
    last_success: datetime | None
    """Start of the newest successful run in UTC. The run can be older than the period. None if no run succeeded."""
    last_error: str = ""
    """First line of the newest error message in the period. Empty if no failed run has an error message."""
    trigger_id: str = ""
    """Id of the trigger, for calls of the triggers client. Displays do not show the id."""

    quiet: ClassVar[frozenset[str]] = frozenset({"trigger_id"})

    def summary(self) -> dict[str, Any]:
        """Returns the displayed values, with the column names as keys."""
        return {
            "trigger": self.trigger,
            "kind": self.kind,
            "state": self.state,
            "runs": self.runs,
            "failed": self.failed,
            "waiting": self.waiting,
            "retried": self.retried,
            "succeeded": "" if self.success_percent is None else f"{self.success_percent:.1f} %",
            "median": "" if self.median_s is None else f"{self.median_s:.2f} s",
            "95 %": "" if self.p95_s is None else f"{self.p95_s:.2f} s",
            "last success": "" if self.last_success is None else f"{self.last_success:%Y-%m-%d %H:%M:%S}",
            "last error": self.last_error,
        }


@checked
def health(
    triggers: TriggersClient,
    *,
    since: float | str | timedelta = "7d",
    min_success_percent: float = 95.0,
    runs_per_trigger: int = 1_000,
    now: float | None = None,
) -> tuple[Listing[TriggerHealth], list[tuple[Trigger, TriggerRun]]]:
    """Reads every trigger and its latest runs, and determines the health of each trigger.

    Args:
        triggers: Client of the triggers service.
        since: Length of the period before `now`: seconds, text such as ``"7d"``, or a ``timedelta``. The function also
            counts runs without a start time.
        min_success_percent: Minimum success rate in percent. A trigger with a lower rate is ``failing``.
        runs_per_trigger: Maximum number of runs read for each trigger, newest first.
        now: Time of the service in Unix seconds. None means the time of this machine.

    Returns:
        The health of each trigger, worst first, and the runs of the period, each as a pair of the trigger and the run.

    Raises:
        ValueError: `since` is not a valid duration.
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
    return Listing(sorted(judged, key=lambda each: order.index(each.state)), of="triggers", kind=TriggerHealth), kept


@checked
def judge(
    trigger: Trigger, recent: Sequence[TriggerRun], all_read: Sequence[TriggerRun], now: datetime, wanted: float
) -> TriggerHealth:
    """Determines and returns the health of one trigger.

    Args:
        trigger: The trigger.
        recent: Runs of the trigger in the examined period, newest first.
        all_read: All runs of the trigger that the caller read, newest first.
        now: Time of the service, with a time zone.
        wanted: Minimum success rate of the finished runs, in percent.
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


@checked
def is_late(trigger: Trigger, runs: Sequence[TriggerRun], now: datetime) -> bool:
    """Returns whether a schedule has missed its next run by more than four scan intervals.

    The next run is the first scheduled time after the newest run in `runs`, and after the last change of the trigger.
    For a trigger that is not a schedule, the result is False.
    """
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
    if len(took) < 2:  # noqa: PLR2004 - `quantiles` needs two values
        return took[0] if took else None
    return quantiles(took, n=100, method="inclusive")[percent - 1]
