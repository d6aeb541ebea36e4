"""Import of runs into the local history, from triggers, an emulator or other machines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from svcnb.client.errors import ConfigError
from svcnb.client.record_schema import check_version
from svcnb.client.recorder import COLUMNS, INSERT, LEDGER_COLUMNS, prune, storable, stored, strip_text
from svcnb.protocol.limits import KEPT_RECORDED_RUNS


class Merged(NamedTuple):
    """Numbers of runs and ledger entries that `History.merge` added."""

    runs: int
    """Number of runs that the history did not contain before."""

    entries: int
    """Number of fees, payments and balances that the ledger did not contain before."""


@dataclass(frozen=True)
class LedgerEntry:
    """Fee, payment or balance that a client recorded.

    Attributes:
        at: Time of the entry, in UTC.
        key_hash: Hash of the key that made the call.
        kind: ``fee``, ``payment`` or ``balance``.
        name: Name of the service's endpoint for a fee, for example ``add_group``. Otherwise, ``confirm_payment`` or
            ``balance``.
        cents: Amount in cents. For a balance, this is the credit, and a negative value is a debt.
        subject: Hash of the usage key that the call created. Empty if the call did not create a usage key.
    """

    at: datetime
    key_hash: str
    kind: str
    name: str
    cents: int
    subject: str

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        """Returns the entry in a row of the table ``ledger``."""
        at = datetime.fromtimestamp(row["at"], UTC)
        return cls(at, row["key_hash"], row["kind"], row["name"], int(row["cents"]), row["subject"])


def triggered(trigger: Any, run: Any, service: str) -> dict[str, Any]:
    """Returns one run of a trigger as a row of the table ``runs``, with an estimated cost.

    A successful run costs one cent for each whole second, and at least one cent. Other runs cost nothing.
    """
    elapsed = float(run.seconds or 0.0)
    started = run.started_at.timestamp() if run.started_at else 0.0
    error = str(run.error or "")
    return storable(
        {
            "source": "trigger",
            "run_id": run.id,
            "started_at": started,
            "base_url": service,
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


def add_triggered(connection: sqlite3.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds runs of triggers to the table ``runs``.

    If an emulator reported the key and the cost of a run, the function keeps these values.
    """
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        query = "SELECT key_hash, base_url, cost_cents FROM runs WHERE source = 'trigger' AND run_id = ?"
        known = connection.execute(query, (row["run_id"],)).fetchone()
        kept = dict(zip(("key_hash", "base_url", "cost_cents"), known, strict=True)) if known and known[0] else {}
        connection.execute(INSERT, {**row, **kept})
    _join_triggered(connection)
    prune(connection)
    connection.execute("COMMIT")


def add_served(connection: sqlite3.Connection, rows: Iterable[Mapping[str, Any]], service: str) -> int:
    """Adds the runs that an emulator recorded, and returns the number of new runs."""
    connection.execute("BEGIN IMMEDIATE")
    [before] = connection.execute("SELECT count(*) FROM runs").fetchone()
    for row in rows:
        values = (row["cost_cents"], row["request_id"], service)
        update = "UPDATE runs SET cost_cents = ? WHERE source = 'client' AND run_id = ? AND base_url = ?"
        if connection.execute(update, values).rowcount == 0:
            connection.execute(INSERT, _served(row, service))
    _join_triggered(connection)
    [after] = connection.execute("SELECT count(*) FROM runs").fetchone()
    prune(connection)
    connection.execute("COMMIT")
    return int(after - before)


def merge_files(connection: sqlite3.Connection, files: Sequence[Path]) -> Merged:
    """Adds the runs and ledgers of all files, and returns the numbers of added rows.

    SQLite cannot attach and detach files in a transaction. Therefore, the function copies all rows to temporary tables
    first. If a file is damaged, the history stays unchanged.
    """
    for table, columns in _COPIED.items():
        connection.execute(f"CREATE TEMP TABLE their_{table} ({', '.join(columns)}, file)")
    for number, file in enumerate(files):
        _copy(connection, file, number)
    runs = entries = 0
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back after an error
        for number in range(len(files)):
            runs += connection.execute(_MERGE_RUNS, (number,)).rowcount
            entries += connection.execute(_MERGE_LEDGER, (number,)).rowcount
            connection.execute(_MERGE_KEYS, (number,))
            connection.execute(_DELETE_OLDEST, (KEPT_RECORDED_RUNS,))
    return Merged(runs, entries)


def _copy(connection: sqlite3.Connection, file: Path, number: int) -> None:
    """Copies the rows of a file to the temporary tables."""
    if not file.is_file():
        raise ConfigError(f"the history file {file} does not exist", hint=_HINT)
    address = f"{file.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as theirs:
            check_version(theirs, file)
            tables = {row[0] for row in theirs.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "runs" not in tables:
            raise _no_history(file, "the file does not contain the table runs")
        connection.execute("ATTACH DATABASE ? AS other", (address,))
        try:
            for table in tables & _COPIED.keys():
                names = ", ".join(_COPIED[table])
                query = f"INSERT INTO their_{table} SELECT {names}, ? FROM other.{table}"  # noqa: S608 - our own names
                connection.execute(query, (number,))
        finally:
            connection.execute("DETACH DATABASE other")
    except sqlite3.Error as error:
        raise _no_history(file, error) from None


_HINT: Final = "Pass the file that `svcnb history path` prints on the other machine."
_COPIED: Final = {
    "runs": COLUMNS,
    "ledger": LEDGER_COLUMNS,
    "account_keys": ("base_url", "key_hash", "account", "name"),
}
"""Tables that a merge copies from another history, each with the names of its columns."""

_NAMES: Final = ", ".join(COLUMNS)
_MERGE_RUNS: Final = (  # The statements contain only names of this package.
    f"INSERT OR IGNORE INTO runs ({_NAMES}) SELECT {_NAMES} FROM their_runs AS theirs WHERE file = ? "  # noqa: S608 - our own names
    "AND typeof(started_at) IN ('real', 'integer') AND typeof(elapsed) IN ('real', 'integer') "
    "AND typeof(cost_cents) = 'integer' AND (run_id <> '' OR NOT EXISTS (SELECT 1 FROM runs AS mine "
    "WHERE mine.started_at = theirs.started_at AND mine.source = theirs.source AND mine.run_id = '' "
    "AND mine.cid = theirs.cid AND mine.key_hash = theirs.key_hash)) ORDER BY started_at"
)
_ENTRY: Final = ", ".join(LEDGER_COLUMNS)
_MERGE_LEDGER: Final = (
    f"INSERT OR IGNORE INTO ledger ({_ENTRY}) SELECT {_ENTRY} FROM their_ledger AS theirs WHERE file = ? "  # noqa: S608 - our own names
    "AND typeof(at) IN ('real', 'integer') AND typeof(cents) = 'integer' AND (reference <> '' "
    "OR NOT EXISTS (SELECT 1 FROM ledger AS mine WHERE mine.base_url = theirs.base_url AND mine.at = theirs.at "
    "AND mine.kind = theirs.kind)) ORDER BY at"
)
_MERGE_KEYS: Final = (
    "INSERT OR IGNORE INTO account_keys SELECT base_url, key_hash, account, name FROM their_account_keys WHERE file = ?"
)
_DELETE_OLDEST: Final = "DELETE FROM runs WHERE id IN (SELECT id FROM runs ORDER BY started_at DESC LIMIT -1 OFFSET ?)"


def _no_history(file: Path, why: object) -> ConfigError:
    return ConfigError(f"{file} is not a history file: {why}", hint=_HINT)


def _served(row: Mapping[str, Any], service: str) -> dict[str, Any]:
    """Converts an emulator's record of one execution to a row of the table ``runs``.

    For an execution of a trigger, ``trigger_id`` contains the correlation id, which is the id of the trigger's run.
    """
    error = str(row["error"] or "")
    return storable(
        {
            "source": "service",
            "run_id": row["request_id"],
            "started_at": float(row["started_at"]),
            "base_url": service,
            "key_hash": row["api_key_hash"],
            "cid": row["cid"],
            "action": "",
            "status": "success" if row["status"] == "success" else "failed",
            "params": None,
            "response": None,
            "logs": "",
            "error_type": error and str(row["status"]),
            "error": strip_text(error),
            "elapsed": row["elapsed_ms"] / 1_000,
            "cost_cents": row["cost_cents"],
            "trigger_id": row.get("correlation_id", ""),
        }
    )


def _join_triggered(connection: sqlite3.Connection) -> None:
    """Combines a trigger's run and the emulator's records of its executions (one for each attempt) into one row."""
    served = connection.execute(
        "SELECT trigger_id, max(key_hash), max(base_url), sum(cost_cents) FROM runs "
        "WHERE source = 'service' AND run_id <> '' AND trigger_id <> '' GROUP BY trigger_id"
    ).fetchall()
    for run_id, key_hash, base_url, cents in served:
        update = "UPDATE runs SET key_hash = ?, base_url = ?, cost_cents = ? WHERE source = 'trigger' AND run_id = ?"
        if connection.execute(update, (key_hash, base_url, cents, run_id)).rowcount:
            delete = "DELETE FROM runs WHERE source = 'service' AND run_id <> '' AND trigger_id = ?"
            connection.execute(delete, (run_id,))
