"""Local record of every run, of triggers too: what ran, whether it succeeded and what it cost.

The client writes the record (`svcnb.client.recorder`); this module reads it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from svcnb.checked import Checked
from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.billing import dollars
from svcnb.client.recorder import OFF, connect, default_path
from svcnb.client.references import ActionRef, KeyRef, key_hash, raw_cid
from svcnb.protocol.durations import seconds
from svcnb.protocol.nesting import parse
from svcnb.toolkit.history_imports import LedgerEntry, Merged, add_served, add_triggered, merge_files, triggered
from svcnb.toolkit.measures import read_measures

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
_WANTED: Final = frozenset({"action", "key", "keys", "service", "status", "source", "since", "until"})


class PastRun(Model):
    """One past run."""

    started_at: datetime
    """Time at which it was sent, in UTC."""

    source: str
    """``client``, or ``trigger`` for a run of the triggers service."""

    action: str = ""
    """The action's name; empty when it had none."""

    cid: str
    status: str
    """``success`` or ``failed``; a trigger's run may also be ``queued`` or ``running``."""

    params: Any = None
    """Parameters of ``main``, without secrets."""

    response: Any = None
    """Its response, without secrets."""

    logs: str = ""
    error_type: str = ""
    error: str = ""
    elapsed: float = 0.0
    """Seconds from the request to the answer; for a trigger's run, from its start to its end."""

    cost_cents: int = 0
    """Estimated cost in cents."""

    key_hash: str = ""
    base_url: str = ""
    run_id: str = ""
    trigger_id: str = ""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == "success"

    def summary(self) -> dict[str, Any]:
        """Returns the part that is the same in every run of the same program."""
        return {name: value for name, value in self.shown().items() if name not in _DIFFERS}


class Spend(Model):
    """Spending on one action, key, day, service or trigger."""

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
    """The part of a client of the triggers service that this module uses."""

    def list(self) -> Iterable[Any]:
        """Returns the triggers."""
        ...

    def runs(self, trigger: Any, *, limit: int | None = 100) -> Iterable[Any]:
        """Returns at most `limit` runs of one trigger, newest first; all when None."""
        ...


class History(Checked):
    """The record of past runs.

    Args:
        path: The file; the default one when None.

    Raises:
        ConfigError: This machine has no default place, or recording is switched off. Every method raises it for a file
            that is not a history.

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
        keys: Iterable[str] | None = None,
        service: str | None = None,
        status: Literal["success", "failed"] | None = None,
        source: Literal["client", "trigger", "service"] | None = None,
        since: datetime | timedelta | str | None = None,
        until: datetime | None = None,
        limit: int = 1_000,
    ) -> Listing[PastRun]:
        """Returns past runs, newest first.

        Args:
            action: Only of this action.
            key: Only with this key.
            keys: Only with keys of these hashes.
            service: Only of the service at this address, as ``client.base_url``.
            status: Only runs that succeeded, or only runs that did not.
            source: Only runs of clients, only of triggers, or only those that only the service recorded.
            since: Only runs after this: a time, or a time span back from now such as ``"7d"``.
            until: Only runs before this.
            limit: Maximum number of runs.
        """
        wanted = {
            "action": action, "key": key, "keys": keys, "service": service, "status": status, "source": source,
            "since": since, "until": until,
        }  # fmt: skip
        where, values = _where(wanted)
        query = f"SELECT * FROM runs {where} ORDER BY started_at DESC, id DESC LIMIT ?"  # noqa: S608 - our own columns
        rows = self._all(query, (*values, limit))
        return Listing((_past(row) for row in rows), of="past runs", kind=PastRun)

    def to_frame(self, **wanted: Any) -> DataFrame:
        """Returns past runs as a pandas frame; arguments as for `runs`."""
        return self.runs(**wanted).to_frame()

    def measures(self, **wanted: Any) -> DataFrame:
        """Returns times, lengths and costs of all past runs as a pandas frame, oldest first, for charts and statistics.

        Reads only numbers and names: a million runs take about 3 seconds of processor time and 70 MB.

        Args:
            wanted: As for `runs`, except that there is no limit.
        """
        where, values = _where(wanted)
        with self._reading() as connection:
            return read_measures(connection, where, values)

    def spend(self, by: By = "action", **wanted: Any) -> Listing[Spend]:
        """Adds up the cost of runs. The most expensive group is first, but days are in their order.

        Args:
            by: Group of each sum: ``action``, ``key``, ``day`` (UTC), ``service`` or ``trigger``.
            **wanted: As for `runs`, except that there is no limit; for example ``since="30d"``.

        Raises:
            InvalidArgument: `by` is not one of these groups.
        """
        if by not in _GROUPS:
            raise InvalidArgument(f"spend cannot be added up by {by!r}", hint=f"Allowed are: {', '.join(_GROUPS)}.")
        where, values = _where(wanted)
        order = "name" if by == "day" else "cost_cents DESC, name"
        query = (  # column names of this module, and values that SQLite fills in
            f"SELECT {_GROUPS[by]} AS name, count(*) AS runs, sum(status = 'failed') AS failed, "  # noqa: S608 - our own names; values are bound
            f"sum(elapsed) AS seconds, sum(cost_cents) AS cost_cents FROM runs {where} GROUP BY 1 ORDER BY {order}"
        )
        return Listing((Spend.model_validate(dict(row)) for row in self._all(query, values)), of="runs", kind=Spend)

    def total_cents(self, **wanted: Any) -> int:
        """Returns the estimated cost of all runs in cents; arguments as for `spend`."""
        where, values = _where(wanted)
        return int(self._one(f"SELECT coalesce(sum(cost_cents), 0) FROM runs {where}", values))  # noqa: S608 - our own

    def count(self, **wanted: Any) -> int:
        """Returns the number of recorded runs; arguments as for `spend`."""
        where, values = _where(wanted)
        return int(self._one(f"SELECT count(*) FROM runs {where}", values))  # noqa: S608 - our own names

    def seconds_of(self, action: ActionRef) -> list[float]:
        """Returns the durations of the successful runs of an action, in seconds, shortest first."""
        query = "SELECT elapsed FROM runs WHERE cid = ? AND status = 'success' ORDER BY elapsed"
        return [row["elapsed"] for row in self._all(query, (raw_cid(action),))]

    def add_trigger_runs(
        self, triggers: Triggered, *, only: Iterable[Any] | None = None, service: str = "", limit: int | None = None
    ) -> int:
        """Reads runs of triggers into the record, in addition to the client's own runs. Can be repeated.

        Args:
            triggers: A client of the triggers service.
            only: The triggers to read; all when None.
            service: Address of the service that runs their actions, as ``client.base_url``. Reports count only runs
                whose service is known.
            limit: Maximum number of runs of each trigger, newest first; all when None.

        Returns:
            Number of runs that were read.
        """
        rows = [
            triggered(trigger, run, service)
            for trigger in (triggers.list() if only is None else only)
            for run in triggers.runs(trigger, limit=limit)
        ]
        with closing(self._connect()) as connection:
            add_triggered(connection, rows)
        return len(rows)

    def add_service_runs(self, rows: Iterable[Mapping[str, Any]], *, service: str) -> int:
        """Adds the runs that an emulator recorded. Can be repeated.

        Runs that are recorded already get the amount that was charged.

        Args:
            rows: The answer of ``GET /_emulator/runs``.
            service: Address of the emulator, as ``client.base_url``.

        Returns:
            Number of runs that were not recorded before.
        """
        with closing(self._connect()) as connection:
            return add_served(connection, rows, service)

    def merge(self, *files: str | Path) -> Merged:
        """Adds the records of other machines. Can be repeated: a recorded run is not added again.

        Args:
            *files: History files of other machines. They are not changed.

        Returns:
            Number of runs and ledger entries that were added.

        Raises:
            ConfigError: A file does not exist or is not a history file; nothing was added then.
        """
        with closing(self._connect()) as connection:
            return merge_files(connection, [Path(file).expanduser() for file in files])

    def ledger(
        self, *, service: str, since: datetime | None = None, until: datetime | None = None
    ) -> list[LedgerEntry]:
        """Returns fees, payments and balances that clients recorded, oldest first.

        Args:
            service: Address of the service, as ``client.base_url``.
            since: Only entries after this.
            until: Only entries before this.
        """
        query = "SELECT * FROM ledger WHERE base_url = ? AND at >= ? AND at < ? ORDER BY at, id"
        begin, end = (since.timestamp() if since else 0.0), (until.timestamp() if until else float("inf"))
        return [LedgerEntry.of(row) for row in self._all(query, (service, begin, end))]

    def remember_keys(self, service: str, account: str, names: Mapping[str, str]) -> None:
        """Records the account that keys belong to, so that runs of a deleted key are still counted.

        Args:
            service: Address of the service.
            account: What identifies the account.
            names: Name of each key by its hash.
        """
        rows = [(service, hashed, account, name) for hashed, name in names.items()]
        with closing(self._connect()) as connection:
            connection.executemany("INSERT OR REPLACE INTO account_keys VALUES (?, ?, ?, ?)", rows)

    def remembered_keys(self, service: str, account: str) -> dict[str, str]:
        """Returns the names of all known keys of an account, by their hashes."""
        query = "SELECT key_hash, name FROM account_keys WHERE base_url = ? AND account = ?"
        return {row["key_hash"]: row["name"] for row in self._all(query, (service, account))}

    def account_of(self, service: str, key_hash: str) -> str | None:
        """Returns the account that a key belongs to; None when the key was never seen at this service."""
        query = "SELECT account FROM account_keys WHERE base_url = ? AND key_hash = ?"
        return next((row["account"] for row in self._all(query, (service, key_hash))), None)

    def clear(self, *, before: datetime | None = None) -> int:
        """Deletes runs permanently.

        Args:
            before: Only runs that began before this; all when None.

        Returns:
            Number of deleted runs.
        """
        until = before.timestamp() if before else float("inf")
        with closing(self._connect()) as connection:
            gone = connection.execute("DELETE FROM runs WHERE started_at < ?", (until,)).rowcount
            connection.execute("VACUUM")
        return gone

    def _connect(self) -> sqlite3.Connection:
        """Opens the file.

        Raises:
            ConfigError: It is not a history file, or cannot be opened.
        """
        try:
            return connect(self.path)
        except (sqlite3.Error, OSError) as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            raise ConfigError(
                f"the history {self.path} cannot be read: {error}",
                hint="Another process is writing it. Try again."
                if busy
                else "Set SVC_HISTORY to a history file, or move this file away: the next run starts a new one.",
            ) from None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """An open connection; None when nothing has been recorded yet."""
        if not self.path.exists():
            yield None
            return
        with closing(self._connect()) as connection:
            yield connection

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[sqlite3.Row]:
        with self._reading() as connection:
            if connection is None:
                return iter(())
            connection.row_factory = sqlite3.Row
            return iter(connection.execute(query, values).fetchall())

    def _one(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        return next((row[0] for row in self._all(query, values)), 0)


def _where(wanted: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """The SQL condition for the selected runs, and its values."""
    if unknown := set(wanted) - _WANTED:
        raise InvalidArgument(
            f"runs cannot be chosen by {', '.join(sorted(unknown))}", hint=f"Allowed are: {', '.join(sorted(_WANTED))}."
        )
    given = {name: value for name, value in wanted.items() if value is not None}
    clauses: dict[str, tuple[Any, ...]] = {}
    if "action" in given:
        clauses["cid = ?"] = (raw_cid(given["action"]),)
    if "key" in given:
        clauses["key_hash = ?"] = (key_hash(given["key"]),)
    if "keys" in given:
        keys = tuple(given["keys"])
        clauses[f"key_hash IN ({', '.join('?' * len(keys))})"] = keys
    for name, column in (("service", "base_url"), ("status", "status"), ("source", "source")):
        if name in given:
            clauses[f"{column} = ?"] = (given[name],)
    if "since" in given:
        clauses["started_at >= ?"] = (_since(given["since"]),)
    if "until" in given:
        clauses["started_at < ?"] = (given["until"].timestamp(),)
    values = tuple(value for bound in clauses.values() for value in bound)
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), values


def _since(value: datetime | timedelta | str | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.timestamp()
    return datetime.now(UTC).timestamp() - seconds(value)


def _past(row: sqlite3.Row) -> PastRun:
    kept = {name: row[name] for name in row.keys() if name != "id"}  # noqa: SIM118 - a Row iterates over its values
    for name in ("params", "response"):
        kept[name] = None if kept[name] is None else parse(kept[name])
    kept["started_at"] = datetime.fromtimestamp(kept["started_at"], UTC)
    return PastRun.model_validate(kept)
