"""What ran, how it went and what it cost: the local record of every run, and the runs of triggers beside it.

The client writes the record (`svcnb.client.recorder`); this reads it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.billing import dollars
from svcnb.client.recorder import INSERT, OFF, connect, default_path, prune, storable, stored
from svcnb.client.references import ActionRef, KeyRef, key_hash, raw_cid
from svcnb.client.stripping import strip_text
from svcnb.protocol.durations import seconds

if TYPE_CHECKING:
    from pandas import DataFrame

By = Literal["action", "key", "day", "service", "trigger"]

_GROUPS: dict[str, str] = {
    "action": "CASE WHEN action <> '' THEN action ELSE cid END",
    "key": "key_hash",
    "day": "date(started_at, 'unixepoch')",
    "service": "base_url",
    "trigger": "trigger_id",
}


_DIFFERS: Final = frozenset({"elapsed", "run_id", "base_url", "started_at"})
_MEASURES: Final = "started_at, source, status, CASE WHEN action <> '' THEN action ELSE cid END, elapsed, cost_cents"


class PastRun(Model):
    """One run of the past."""

    started_at: datetime
    """When it was sent, in UTC."""

    source: str
    """``client``, or ``trigger`` for a run of the triggers service."""

    action: str = ""
    """The action's name; empty when it had none."""

    cid: str
    status: str
    """``success`` or ``failed``; a trigger's run may also be ``queued`` or ``running``."""

    params: Any = None
    """What ``main`` received, without secrets."""

    response: Any = None
    """What it answered, without secrets."""

    logs: str = ""
    error_type: str = ""
    error: str = ""
    elapsed: float = 0.0
    """Seconds from sending to answer; for a trigger's run, from being taken to its end."""

    cost_cents: int = 0
    """Estimated cost in cents."""

    key_hash: str = ""
    base_url: str = ""
    run_id: str = ""
    trigger_id: str = ""

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.status == "success"

    def summary(self) -> dict[str, Any]:
        """Returns what is the same in every run of the same program."""
        return {name: value for name, value in self.shown().items() if name not in _DIFFERS}


class Spend(Model):
    """What was spent on one action, key, day, service or trigger."""

    name: str
    runs: int
    failed: int
    seconds: float
    cost_cents: int

    quiet = frozenset({"seconds"})

    def summary(self) -> dict[str, Any]:
        """Returns the amount in dollars."""
        return {"name": self.name, "runs": self.runs, "failed": self.failed, "cost": dollars(self.cost_cents)}


class Triggered(Protocol):
    """What a client of the triggers service offers here."""

    def list(self) -> Iterable[Any]:
        """Returns the triggers."""
        ...

    def runs(self, trigger: Any, *, limit: int | None = 100) -> Iterable[Any]:
        """Returns so many runs of one trigger, the newest first; all when None."""
        ...


class History:
    """The record of past runs.

    Args:
        path: The file; the usual one when None.

    Raises:
        ConfigError: There is no usual place on this machine, or recording is switched off.

    Example:
        ``History().spend(by="day").to_frame()``
    """

    def __init__(self, path: str | Path | None = None) -> None:
        import os

        told = path if path is not None else os.environ.get("SVC_HISTORY") or default_path()
        if told is None or str(told) == OFF:
            raise ConfigError("no history is kept here", hint="Set SVC_HISTORY to a file, or pass one: History(path).")
        self.path = Path(told).expanduser()

    def __repr__(self) -> str:
        count = self._one("SELECT count(*) FROM runs")
        return f"History({count} runs)"

    def runs(
        self,
        *,
        action: ActionRef | None = None,
        key: KeyRef | None = None,
        status: Literal["success", "failed"] | None = None,
        source: Literal["client", "trigger"] | None = None,
        since: datetime | timedelta | str | None = None,
        limit: int = 1_000,
    ) -> Listing[PastRun]:
        """Returns past runs, newest first.

        Args:
            action: Only of this action.
            key: Only with this key.
            status: Only those that went well, or those that did not.
            source: Only of this client, or only of triggers.
            since: Only since then: a time, or a span back from now such as ``"7d"``.
            limit: Most runs returned.
        """
        where, values = _where(action, key, status, source, since)
        query = f"SELECT * FROM runs {where} ORDER BY started_at DESC, id DESC LIMIT ?"  # noqa: S608 - our own columns
        rows = self._all(query, (*values, limit))
        return Listing((_past(row) for row in rows), of="past runs")

    def to_frame(self, **wanted: Any) -> DataFrame:
        """Returns past runs as a pandas frame; arguments as for `runs`."""
        return self.runs(**wanted).to_frame()

    def measures(self, **wanted: Any) -> DataFrame:
        """Returns times, lengths and costs of all past runs as a pandas frame, oldest first, for charts and statistics.

        Reads numbers and names alone, so that a hundred thousand runs take half a second.

        Args:
            wanted: As for `runs`, except that there is no limit.
        """
        import pandas as pd

        where, values = _where(*(wanted.pop(name, None) for name in ("action", "key", "status", "source", "since")))
        if wanted:
            raise InvalidArgument(
                f"measures are not chosen by {', '.join(wanted)}", hint="Allowed are those of runs()."
            )
        query = f"SELECT {_MEASURES} FROM runs {where} ORDER BY started_at, id"  # noqa: S608 - our own columns
        rows = [tuple(row) for row in self._all(query, values)]
        frame = pd.DataFrame(rows, columns=["started_at", "source", "status", "action", "elapsed", "cost_cents"])
        frame["started_at"] = pd.to_datetime(frame["started_at"].astype("float64"), unit="s", utc=True)
        return frame.astype({"source": "category", "status": "category", "action": "category"})

    def spend(self, by: By = "action", *, since: datetime | timedelta | str | None = None) -> Listing[Spend]:
        """Adds up what runs cost: most expensive first, days in their order.

        Args:
            by: What to add up by: ``action``, ``key``, ``day`` (UTC), ``service`` or ``trigger``.
            since: Only since then: a time, or a span back from now such as ``"30d"``.

        Raises:
            InvalidArgument: There is no such way to add up.
        """
        if by not in _GROUPS:
            raise InvalidArgument(f"spend cannot be added up by {by!r}", hint=f"Allowed are: {', '.join(_GROUPS)}.")
        where, values = _where(None, None, None, None, since)
        order = "name" if by == "day" else "cost_cents DESC, name"
        query = (  # our own columns, and values that SQLite fills in
            f"SELECT {_GROUPS[by]} AS name, count(*) AS runs, sum(status = 'failed') AS failed, "  # noqa: S608 - our own names; values are bound
            f"sum(elapsed) AS seconds, sum(cost_cents) AS cost_cents FROM runs {where} GROUP BY 1 ORDER BY {order}"
        )
        return Listing((Spend.model_validate(dict(row)) for row in self._all(query, values)), of="runs")

    def total_cents(self, *, since: datetime | timedelta | str | None = None) -> int:
        """Returns the estimated cost of all runs in cents."""
        where, values = _where(None, None, None, None, since)
        return int(self._one(f"SELECT coalesce(sum(cost_cents), 0) FROM runs {where}", values))  # noqa: S608 - our own

    def seconds_of(self, action: ActionRef) -> list[float]:
        """Returns how long the successful runs of an action took, in seconds, shortest first."""
        query = "SELECT elapsed FROM runs WHERE cid = ? AND status = 'success' ORDER BY elapsed"
        return [row["elapsed"] for row in self._all(query, (raw_cid(action),))]

    def add_trigger_runs(self, triggers: Triggered, *, only: Iterable[Any] | None = None) -> int:
        """Reads all runs of triggers into the record, where they stand beside the client's own. May be repeated.

        Args:
            triggers: A client of the triggers service.
            only: The triggers to read; all when None.

        Returns:
            How many runs were read.
        """
        rows = [
            _triggered(trigger, run)
            for trigger in (triggers.list() if only is None else only)
            for run in triggers.runs(trigger, limit=None)
        ]
        with closing(connect(self.path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, rows)
            prune(connection)
            connection.execute("COMMIT")
        return len(rows)

    def clear(self, *, before: datetime | None = None) -> int:
        """Forgets runs for good.

        Args:
            before: Only runs that began before then; all when None.

        Returns:
            How many were forgotten.
        """
        until = before.timestamp() if before else float("inf")
        with closing(connect(self.path)) as connection:
            gone = connection.execute("DELETE FROM runs WHERE started_at < ?", (until,)).rowcount
            connection.execute("VACUUM")
        return gone

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[sqlite3.Row]:
        if not self.path.exists():
            return iter(())
        with closing(connect(self.path)) as connection:
            connection.row_factory = sqlite3.Row
            return iter(connection.execute(query, values).fetchall())

    def _one(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        return next((row[0] for row in self._all(query, values)), 0)


def _where(
    action: ActionRef | None,
    key: KeyRef | None,
    status: str | None,
    source: str | None,
    since: datetime | timedelta | str | None,
) -> tuple[str, tuple[Any, ...]]:
    wanted = {
        "cid = ?": raw_cid(action) if action is not None else None,
        "key_hash = ?": key_hash(key) if key is not None else None,
        "status = ?": status,
        "source = ?": source,
        "started_at >= ?": _since(since),
    }
    given = {clause: value for clause, value in wanted.items() if value is not None}
    return (f"WHERE {' AND '.join(given)}" if given else ""), tuple(given.values())


def _since(value: datetime | timedelta | str | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.timestamp()
    return datetime.now(UTC).timestamp() - seconds(value)


def _past(row: sqlite3.Row) -> PastRun:
    kept = {name: row[name] for name in row.keys() if name != "id"}  # noqa: SIM118 - a Row iterates over its values
    for name in ("params", "response"):
        kept[name] = None if kept[name] is None else json.loads(kept[name])
    kept["started_at"] = datetime.fromtimestamp(kept["started_at"], UTC)
    return PastRun.model_validate(kept)


def _triggered(trigger: Any, run: Any) -> dict[str, Any]:
    """One run of a trigger as a row; it cost what an execution of its length costs when it went well."""
    elapsed = float(run.seconds or 0.0)
    started = run.started_at.timestamp() if run.started_at else 0.0
    error = str(run.error or "")
    return storable(
        {
            "source": "trigger",
            "run_id": run.id,
            "started_at": started,
            "base_url": "",
            "key_hash": "",
            "cid": trigger.action_cid,
            "action": trigger.name,
            "status": run.status,
            "params": stored(run.input),
            "response": stored(run.result) if run.ok else None,
            "logs": strip_text(run.logs),
            "error_type": "TriggerError" if error else "",
            "error": strip_text(error),
            "elapsed": elapsed,
            "cost_cents": max(1, int(elapsed)) if run.ok else 0,
            "trigger_id": run.trigger_id or trigger.id,
        }
    )
