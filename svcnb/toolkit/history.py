"""Local history of past runs: the action, the result and the cost of each run.

The client writes the history (`svcnb.client.recorder`). This module reads the history, and adds runs of other sources.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, runtime_checkable

from svcnb.checked import Checked
from svcnb.client.errors import ConfigError, InvalidArgument, InvalidType
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.billing import dollars
from svcnb.client.recorder import OFF, connect, default_path
from svcnb.client.references import ActionRef, KeyRef, raw_cid
from svcnb.protocol.nesting import parse
from svcnb.toolkit.history_filters import GROUPS, condition
from svcnb.toolkit.history_imports import LedgerEntry, Merged, add_served, add_triggered, merge_files, triggered
from svcnb.toolkit.measures import read_measures

if TYPE_CHECKING:
    from pandas import DataFrame

By = Literal["action", "key", "day", "service", "trigger"]

_DIFFERS: Final = frozenset({"elapsed", "run_id", "base_url", "started_at"})


class PastRun(Model):
    """Recorded run of an action."""

    started_at: datetime
    """Time of the request, in UTC."""

    source: str
    """Origin of the record: ``client`` for a run that a client recorded, or ``trigger`` for a run of a trigger.

    ``service`` means that only the service recorded the run."""

    action: str = ""
    """Name of the action. Empty if the action has no name, or if the name is unknown."""

    cid: str
    """CID of the executed action."""
    status: str
    """``success`` or ``failed``. For the run of a trigger, also ``queued`` or ``running``."""

    params: Any = None
    """Parameters of ``main``, without secrets. None if the run has none, or if the history does not contain them."""

    response: Any = None
    """Response of the run, without secrets. None for a failed run, or if the history does not contain the response."""

    logs: str = ""
    """Console output, without secrets."""
    error_type: str = ""
    """Name of the error's class. Empty for a run without an error."""
    error: str = ""
    """Message of the error, without secrets. Empty for a run without an error."""
    elapsed: float = 0.0
    """Seconds from the request to the response. For the run of a trigger, the seconds from start to end."""

    cost_cents: int = 0
    """Charged amount in cents if an emulator reported the amount. Otherwise, an estimate."""

    key_hash: str = ""
    """Hash of the key that started the run. Empty if unknown."""
    base_url: str = ""
    """Address of the service that executed the run, in the form of ``client.base_url``. Empty if unknown."""
    run_id: str = ""
    """Id of the trigger's run, or the request id for other runs."""
    trigger_id: str = ""
    """Id of the trigger that started the run. For the source ``service``, the correlation id. Empty for ``client``."""

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
        return self.status == "success"

    def summary(self) -> dict[str, Any]:
        """Returns the fields that stay the same each time a program runs: all fields except times and identifiers."""
        return {name: value for name, value in self.shown().items() if name not in _DIFFERS}


class Spend(Model):
    """Cost of the runs of one action, key, day, service or trigger."""

    name: str
    """Name or CID of the action, hash of the key, day, address of the service, or id of the trigger."""
    runs: int
    """Number of runs, including failed runs."""
    failed: int
    """Number of runs with the status ``failed``."""
    seconds: float
    """Total duration of the runs, in seconds."""
    cost_cents: int
    """Total cost of the runs, in cents: charged amounts if an emulator reported them, and estimates otherwise."""

    quiet: ClassVar[frozenset[str]] = frozenset({"seconds"})

    def summary(self) -> dict[str, Any]:
        """Returns the name, the numbers of runs and of failed runs, and the cost in dollars."""
        return {"name": self.name, "runs": self.runs, "failed": self.failed, "cost": dollars(self.cost_cents)}


@runtime_checkable
class Triggered(Protocol):
    """Protocol with the methods of the triggers client that this module uses."""

    def list(self) -> Iterable[Any]:
        """Returns all triggers of the user."""
        ...

    def runs(self, trigger: Any, *, limit: int | None = 100) -> Iterable[Any]:
        """Returns at most `limit` runs of one trigger, newest first. If `limit` is None, returns all runs."""
        ...


class History(Checked):
    """Local history of runs, fees, payments and balances, in an SQLite file.

    Args:
        path: Path of the history file. None means the file in ``SVC_HISTORY``, or the default file.

    Raises:
        ConfigError: This machine has no default path, or recording is disabled. Every method also raises this error
            if the file is not a history file or cannot be opened.

    Example:
        ``History().spend(by="day").to_frame()``
    """

    def __init__(self, path: str | Path | None = None) -> None:
        import os

        told = path if path is not None else os.environ.get("SVC_HISTORY") or default_path()
        if told is None or str(told) == OFF:
            raise ConfigError(
                "the run history is disabled" if told else "the run history has no default path without a home folder",
                hint="Set SVC_HISTORY to the path of a file, or pass the path: History(path).",
            )
        self.path: Path = Path(told).expanduser()

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
        """Returns past runs, newest first. The result contains only runs that match every given filter.

        Args:
            action: Action that the runs executed. For this and all other filters, None means no filter.
            key: Key with which a client started the runs.
            keys: Hashes of keys with which clients started the runs.
            service: Address of the service that executed the runs, in the form of ``client.base_url``.
            status: ``success`` for successful runs, or ``failed`` for failed runs.
            source: ``client`` for runs of clients, ``trigger`` for runs of triggers, or ``service`` for runs that only
                the service recorded.
            since: Start of the period. A duration such as ``"7d"`` counts back from now.
            until: End of the period. The period does not include this moment.
            limit: Maximum number of runs to return.
        """
        wanted = {
            "action": action, "key": key, "keys": keys, "service": service, "status": status, "source": source,
            "since": since, "until": until,
        }  # fmt: skip
        where, values = condition(wanted)
        query = f"SELECT * FROM runs {where} ORDER BY started_at DESC, id DESC LIMIT ?"  # noqa: S608 - our own columns
        rows = self._all(query, (*values, limit))
        return Listing((_past(row) for row in rows), of="past runs", kind=PastRun)

    def to_frame(self, **wanted: Any) -> DataFrame:
        """Returns past runs as a pandas DataFrame. The arguments are the same as for `runs`."""
        return self.runs(**wanted).to_frame()

    def measures(self, **wanted: Any) -> DataFrame:
        """Returns the times, durations and costs of past runs as a pandas DataFrame, oldest first.

        The method reads only numbers and names. Reading a million runs takes about 3 seconds of processor time and 70
        MB of memory.

        Args:
            **wanted: Filters of `runs`, without ``limit``.
        """
        where, values = condition(wanted)
        with self._open() if self.path.exists() else nullcontext() as connection:
            return read_measures(connection, where, values)

    def spend(self, by: By = "action", **wanted: Any) -> Listing[Spend]:
        """Returns the cost of the runs for each value of a property, such as each action. The highest cost is first.

        If the property is ``day``, the earliest day is first.

        Args:
            by: Property of the runs: ``action``, ``key``, ``day`` (UTC), ``service`` or ``trigger``.
            **wanted: Filters of `runs`, without ``limit``. For example ``since="30d"``.

        Raises:
            InvalidArgument: `by` is not one of these properties.
        """
        if by not in GROUPS:
            raise InvalidArgument(f"cannot group runs by {by!r}", hint=f"Use one of {', '.join(GROUPS)}.")
        where, values = condition(wanted)
        order = "name" if by == "day" else "cost_cents DESC, name"
        query = (  # The statement contains only column names of this module. SQLite binds the values.
            f"SELECT {GROUPS[by]} AS name, count(*) AS runs, sum(status = 'failed') AS failed, "  # noqa: S608 - our own names; values are bound
            f"sum(elapsed) AS seconds, sum(cost_cents) AS cost_cents FROM runs {where} GROUP BY 1 ORDER BY {order}"
        )
        return Listing((Spend.model_validate(dict(row)) for row in self._all(query, values)), of="runs", kind=Spend)

    def total_cents(self, **wanted: Any) -> int:
        """Returns the total cost in cents of the runs that match the filters, which are the same as for `spend`."""
        where, values = condition(wanted)
        return int(self._one(f"SELECT coalesce(sum(cost_cents), 0) FROM runs {where}", values))  # noqa: S608 - our own

    def count(self, **wanted: Any) -> int:
        """Returns the number of recorded runs that match the filters, which are the same as for `spend`."""
        where, values = condition(wanted)
        return int(self._one(f"SELECT count(*) FROM runs {where}", values))  # noqa: S608 - our own names

    def seconds_of(self, action: ActionRef) -> list[float]:
        """Returns the durations of the successful runs of an action, in seconds, shortest first."""
        query = "SELECT elapsed FROM runs WHERE cid = ? AND status = 'success' ORDER BY elapsed"
        return [row["elapsed"] for row in self._all(query, (raw_cid(action),))]

    def add_trigger_runs(
        self, triggers: Triggered, *, only: Iterable[Any] | None = None, service: str = "", limit: int | None = None
    ) -> int:
        """Adds the runs of triggers to the history. Repeated calls do not add a run twice.

        Args:
            triggers: Client of the triggers service.
            only: Triggers to read. None means all.
            service: Address of the service that runs the triggers' actions, in the form of ``client.base_url``. Empty
                means that the address is unknown. Reports count only runs with a known address.
            limit: Maximum number of runs of each trigger, newest first. None means all.

        Returns:
            Number of runs that the triggers service returned, including runs that the history already contains.
        """
        rows = [
            triggered(trigger, run, service)
            for trigger in (triggers.list() if only is None else only)
            for run in triggers.runs(trigger, limit=limit)
        ]
        with self._open() as connection:
            add_triggered(connection, rows)
        return len(rows)

    def add_service_runs(self, rows: Iterable[Mapping[str, Any]], *, service: str) -> int:
        """Adds the runs that an emulator recorded. Repeated calls do not add a run twice.

        For runs that the history already contains, the method stores the charged amount.

        Args:
            rows: Value of the field ``runs`` in the response of ``GET /_emulator/runs``.
            service: Address of the emulator, in the form of ``client.base_url``.

        Returns:
            Number of new runs.

        Raises:
            InvalidType: A row is not a mapping.
        """
        given: list[Any] = list(rows)
        if wrong := [row for row in given if not isinstance(row, Mapping)]:
            raise InvalidType(
                "invalid argument rows of History.add_service_runs: expected a list of mappings, got a list with "
                f"an item of the type {type(wrong[0]).__name__}"
            )
        with self._open() as connection:
            return add_served(connection, given, service)

    def merge(self, *files: str | Path) -> Merged:
        """Adds the runs, ledger entries and key names from the histories of other machines.

        Repeated calls do not add a run twice.

        Args:
            *files: History files of other machines. The method does not change these files.

        Returns:
            Number of added runs and ledger entries.

        Raises:
            ConfigError: A file does not exist, is not a history file, or is damaged. The history then stays
                unchanged, even if the other files are valid.
        """
        with self._open() as connection:
            return merge_files(connection, [Path(file).expanduser() for file in files])

    def ledger(
        self, *, service: str, since: datetime | None = None, until: datetime | None = None
    ) -> list[LedgerEntry]:
        """Returns the fees, payments and balances that clients recorded, oldest first.

        Args:
            service: Address of the service, in the form of ``client.base_url``.
            since: Start of the period. None means no limit.
            until: End of the period. None means no limit.
        """
        query = "SELECT * FROM ledger WHERE base_url = ? AND at >= ? AND at < ? ORDER BY at, id"
        begin, end = (since.timestamp() if since else 0.0), (until.timestamp() if until else float("inf"))
        return [LedgerEntry.of(row) for row in self._all(query, (service, begin, end))]

    def remember_keys(self, service: str, account: str, names: Mapping[str, str]) -> None:
        """Records the account to which keys belong, so that totals include the runs of deleted keys.

        Args:
            service: Address of the service.
            account: Identifier of the account.
            names: Names of the keys, with their hashes as dictionary keys.
        """
        rows = [(service, hashed, account, name) for hashed, name in names.items()]
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO account_keys VALUES (?, ?, ?, ?)", rows)

    def remembered_keys(self, service: str, account: str) -> dict[str, str]:
        """Returns the names of all known keys of an account, with their hashes as dictionary keys."""
        query = "SELECT key_hash, name FROM account_keys WHERE base_url = ? AND account = ?"
        return {row["key_hash"]: row["name"] for row in self._all(query, (service, account))}

    def account_of(self, service: str, key_hash: str) -> str | None:
        """Returns the identifier of the account to which a key belongs, or None if the key is unknown."""
        query = "SELECT account FROM account_keys WHERE base_url = ? AND key_hash = ?"
        return next((row["account"] for row in self._all(query, (service, key_hash))), None)

    def clear(self, *, before: datetime | None = None) -> int:
        """Deletes runs from the history permanently. The ledger of fees, payments and balances stays.

        Args:
            before: Time limit. The method deletes only runs that started earlier. None deletes all runs.

        Returns:
            Number of deleted runs.
        """
        until = before.timestamp() if before else float("inf")
        with self._open() as connection:
            gone = connection.execute("DELETE FROM runs WHERE started_at < ?", (until,)).rowcount
            connection.execute("VACUUM")
        return gone

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Context manager with a connection to the history file.

        Raises:
            ConfigError: The file is not a history file, or cannot be opened, read or changed.
        """
        try:
            with closing(connect(self.path)) as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            raise ConfigError(
                f"the history file {self.path} cannot be read: {error}",
                hint="Try again, because another process is writing to this file."
                if busy
                else "Set SVC_HISTORY to a history file, or move this file to another folder. The next run creates a "
                "new file.",
            ) from None

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        if not self.path.exists():
            return []
        with self._open() as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(query, values).fetchall()

    def _one(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        return next((row[0] for row in self._all(query, values)), 0)


def _past(row: sqlite3.Row) -> PastRun:
    kept = {name: row[name] for name in row.keys() if name != "id"}  # noqa: SIM118 - a Row iterates over its values
    for name in ("params", "response"):
        kept[name] = None if kept[name] is None else parse(kept[name])
    kept["started_at"] = datetime.fromtimestamp(kept["started_at"], UTC)
    return PastRun.model_validate(kept)
