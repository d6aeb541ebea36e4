"""Alarms for the actions of an account: failures, latency, spending, and actions that no longer run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.billing import dollars
from svcnb.protocol.durations import seconds

if TYPE_CHECKING:
    from pandas import DataFrame

    from svcnb.toolkit.account_data import AccountData

Kind = Literal["failures", "latency", "spend", "silence"]
_P95: Final = 95
_REGULAR: Final = 3
"""Minimum number of past runs of an action. With fewer past runs, the absence of new runs does not raise an alarm."""


class Alarm(Model):
    """Alarm about one problem of one action."""

    kind: Kind
    """Kind of problem.

    ``failures``: too many runs failed. ``silence``: the action no longer runs. ``latency``: runs are too slow.
    ``spend``: the runs cost too much."""

    action: str
    """Name of the action, or the CID of an action without a name."""

    text: str
    """Description of the problem, with the measured value and the threshold."""

    since: datetime
    """Start of the problem, in UTC.

    - ``failures``: the first failure after the last success. If no run failed after the last success, the first failure
      in the period.
    - ``silence``: the last run of the action. If neither the period nor the previous period contains a run, the start
      of the previous period.
    - ``latency`` and ``spend``: the start of the period.
    """

    def sentence(self, zone: str = "UTC") -> str:
        """Returns the kind, action, text and time in one sentence.

        Args:
            zone: Time zone in which the sentence shows the time, for example ``Europe/Berlin``.
        """
        from zoneinfo import ZoneInfo

        local = self.since.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))
        return f"{self.kind} of {self.action}: {self.text}, since {local:%Y-%m-%d %H:%M} {zone}"


class ActionFigures(Model):
    """Counts, durations and costs of the runs of one action, in a period and in the previous period."""

    action: str
    """Name of the action, or the CID of an action without a name."""
    runs: int
    """Number of runs in the period."""
    failed: int
    """Number of failed runs in the period."""

    failed_percent: float | None
    """Failed runs as a percentage of the finished runs. None if no run finished."""

    p95_s: float | None
    """95th percentile of the durations of successful runs, in seconds. None if no run succeeded."""

    cost_cents: int
    """Cost of the runs in the period, in cents."""
    last_run: datetime | None
    """Time of the last run, in UTC. None if neither the period nor the previous period contains a run."""
    runs_before: int
    """Number of runs in the previous period."""
    failed_percent_before: float | None
    """The value of ``failed_percent`` in the previous period."""
    p95_s_before: float | None
    """The value of ``p95_s`` in the previous period."""
    cost_cents_before: int
    """The value of ``cost_cents`` in the previous period."""


@dataclass(frozen=True)
class Thresholds:
    """Alarm thresholds that apply to each action. A threshold of None disables the alarm.

    Attributes:
        max_failed_percent: Maximum percentage of failed runs among the finished runs.
        max_p95_seconds: Maximum 95th percentile of the durations of successful runs, in seconds.
        max_action_cents: Maximum spending on one action in the period, in cents.
        silent_after: Maximum time without a run of the action, for example ``"6h"``. The alarm needs at least three
            runs in the period and the previous period of the data together, unless ``expected`` is set.
        min_runs: Minimum number of finished runs of the action for an alarm about failures or latency.
        expected: Name of the only action in the data. For this action, ``silent_after`` raises an alarm even without
            earlier runs. None means that the data contains the runs of all actions.
    """

    max_failed_percent: float | None = 20.0
    max_p95_seconds: float | None = None
    max_action_cents: int | None = None
    silent_after: str | None = None
    min_runs: int = 1
    expected: str | None = None


def figures(data: AccountData) -> Listing[ActionFigures]:
    """Returns the counts, durations and costs of the runs of each action, most failures first.

    The result covers the period of the data and the previous period.

    Args:
        data: The account's runs.
    """
    now, before = _by_action(data.runs), _by_action(data.previous)
    none = {"runs": 0, "failed": 0, "failed_percent": None, "p95_s": None, "cost_cents": 0, "last_run": None}
    rows = []
    for action in sorted({*now, *before}):
        here, there = now.get(action, none), before.get(action, none)
        compared = {f"{name}_before": there[name] for name in ("runs", "failed_percent", "p95_s", "cost_cents")}
        last = here["last_run"] or there["last_run"]
        rows.append(ActionFigures(action=action, **here | compared | {"last_run": last}))
    return Listing(sorted(rows, key=lambda row: (-row.failed, -row.runs)), of="actions", kind=ActionFigures)


def alarms(data: AccountData, thresholds: Thresholds) -> Listing[Alarm]:
    """Returns the alarms, at most one for each action and kind.

    Args:
        data: The account's runs.
        thresholds: Thresholds of the alarms.

    Raises:
        ValueError: ``silent_after`` is not a valid duration, or is longer than the period of the report
            and the period before it together.
    """
    found: list[Alarm] = []
    rows = figures(data)
    for each in rows:
        found += _failures(data, each, thresholds)
        found += _limits(data, each, thresholds)
    if thresholds.silent_after is not None:
        found += _silence(data, rows, thresholds.silent_after, thresholds.expected)
    return Listing(found, of="alarms", kind=Alarm)


def _silence(data: AccountData, rows: Listing[ActionFigures], after: str, expected: str | None) -> list[Alarm]:
    quiet, begin = timedelta(seconds=seconds(after)), data.period.previous.begin
    if data.period.end - begin < quiet:
        raise ValueError(
            f"silent_after {after} is longer than the data, which covers two periods of {data.period.days:g} days: "
            "pass a longer period, or a shorter silent_after"
        )
    text = f"no run for more than {after}"
    if expected is not None and not rows:
        return [
            Alarm(
                kind="silence",
                action=expected,
                text=f"{text}: the current and the previous period contain no run",
                since=begin,
            )
        ]
    return [
        Alarm(kind="silence", action=each.action, text=text, since=each.last_run)
        for each in rows
        if each.last_run is not None
        and data.period.end - each.last_run > quiet
        and (expected is not None or each.runs + each.runs_before >= _REGULAR)
    ]


def _failures(data: AccountData, each: ActionFigures, thresholds: Thresholds) -> list[Alarm]:
    most, percent = thresholds.max_failed_percent, each.failed_percent
    if most is None or percent is None or percent <= most or _ended(data.runs, each.action) < thresholds.min_runs:
        return []
    text = f"{each.failed} of {_ended(data.runs, each.action)} runs failed ({percent:.1f} %; limit {most:g} %)"
    if each.failed_percent_before is not None:
        text += f", {each.failed_percent_before:.1f} % in the previous period"
    return [Alarm(kind="failures", action=each.action, text=text, since=_failing_since(data.runs, each.action))]


def _limits(data: AccountData, each: ActionFigures, thresholds: Thresholds) -> list[Alarm]:
    found = []
    slow, dear = thresholds.max_p95_seconds, thresholds.max_action_cents
    enough = _ended(data.runs, each.action) >= thresholds.min_runs
    if slow is not None and each.p95_s is not None and each.p95_s > slow and enough:
        text = f"95 % of the successful runs took up to {each.p95_s:.2f} s (limit {slow:g} s)"
        if each.p95_s_before is not None:
            text += f", {each.p95_s_before:.2f} s in the previous period"
        found.append(Alarm(kind="latency", action=each.action, text=text, since=data.period.begin))
    if dear is not None and each.cost_cents > dear:
        text = f"{dollars(each.cost_cents)} was spent (limit {dollars(dear)})"
        text += f", {dollars(each.cost_cents_before)} in the previous period"
        found.append(Alarm(kind="spend", action=each.action, text=text, since=data.period.begin))
    return found


def _ended(frame: DataFrame, action: str) -> int:
    return int((_of(frame, action)["status"].isin(["success", "failed"])).sum())


def _failing_since(frame: DataFrame, action: str) -> datetime:
    """Returns the time of the first failure after the last success.

    If no run failed after the last success, the function returns the time of the first failure in the period.
    """
    runs = _of(frame, action)
    failed, well = runs[runs["status"] == "failed"], runs[runs["status"] == "success"]
    unbroken = failed if well.empty else failed[failed["started_at"] > well["started_at"].iloc[-1]]
    first: datetime = (failed if unbroken.empty else unbroken)["started_at"].iloc[0].to_pydatetime()
    return first


def _of(frame: DataFrame, action: str) -> Any:
    return frame[frame["action"] == action]


def _by_action(frame: DataFrame) -> dict[str, dict[str, Any]]:
    """Returns the counts, durations and costs of one period, with the names of the actions as keys."""
    if frame.empty:
        return {}
    grouped = frame.assign(
        failed=frame["status"] == "failed",
        ended=frame["status"].isin(["success", "failed"]),
        well_s=frame["elapsed"].where(frame["status"] == "success"),
    ).groupby("action", observed=True)
    table = grouped.agg(
        runs=("cost_cents", "size"),
        failed=("failed", "sum"),
        ended=("ended", "sum"),
        cents=("cost_cents", "sum"),
        last=("started_at", "max"),
    )
    # Do not interpolate, so that the result is a measured duration.
    p95 = grouped["well_s"].quantile(_P95 / 100, interpolation="higher")
    return {
        str(action): {
            "runs": int(row.runs),
            "failed": int(row.failed),
            "failed_percent": 100 * int(row.failed) / int(row.ended) if row.ended else None,
            "p95_s": None if p95[action] != p95[action] else float(p95[action]),
            "cost_cents": int(row.cents),
            "last_run": row.last.to_pydatetime(),
        }
        for action, row in zip(table.index, table.itertuples(), strict=True)
    }
