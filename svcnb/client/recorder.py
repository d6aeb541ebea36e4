"""Keeps a local record of every run, so that spend, failures and results can be asked for later.

One SQLite file, readable by its owner alone; secrets never reach it. Where it lies, or that there is none, is the
setting ``history`` (``SVC_HISTORY``): a path, or ``off``. Reading it is the toolkit's `History`.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.errors import ConfigError
from svcnb.client.record_schema import bring_forward
from svcnb.client.stripping import strip, strip_text
from svcnb.protocol.hashes import api_key_hash

if TYPE_CHECKING:
    import sqlite3

    from svcnb.client.calls import Noted
    from svcnb.client.config import Config
    from svcnb.client.running import RunRecord

OFF: Final = "off"
MAX_STORED: Final = 16_384
"""Longest parameters, response or logs that are kept, in characters; the rest is cut."""

KEPT_RUNS: Final = 2_000_000
"""Runs that are kept; beyond these the oldest are deleted, a thousand at a time."""

KEPT_DETAILS: Final = 200_000
"""Newest runs whose parameters, response and logs are kept, too."""

COLUMNS: Final = (
    "source", "run_id", "started_at", "base_url", "key_hash", "cid", "action", "status", "params", "response", "logs",
    "error_type", "error", "elapsed", "cost_cents", "trigger_id",
)  # fmt: skip
INSERT: Final = (
    f"INSERT OR REPLACE INTO runs ({', '.join(COLUMNS)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(':' + name for name in COLUMNS)})"
)
LEDGER_COLUMNS: Final = ("at", "base_url", "key_hash", "kind", "name", "cents", "subject", "reference")
INSERT_LEDGER: Final = (
    f"INSERT OR IGNORE INTO ledger ({', '.join(LEDGER_COLUMNS)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(':' + name for name in LEDGER_COLUMNS)})"
)
_LOG = logging.getLogger("svcnb.client")
_ELSEWHERE: Final = "SVC_HISTORY=off, or the path of another file, ends this warning."
_PRUNE_EVERY: Final = 1_000
_PATIENCE: Final = 5.0
"""How long a writer waits for others, in seconds."""

_PATIENCE_WHEN_BEHIND: Final = 0.05
"""The same while earlier runs wait already: every further run is held up for as long."""

MAX_WAITING: Final = 500
"""Runs that wait for a record that cannot be written; the oldest give way."""


def default_path(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the record lies unless told otherwise; None on a machine without a home folder."""
    root = environment.get("XDG_STATE_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "svcnb" / "history.sqlite"


def connect(path: Path, patience: float | None = None) -> sqlite3.Connection:
    """Opens the record, made if it is not there, for its owner's eyes alone.

    Args:
        path: The file.
        patience: Seconds to wait for others who write; `_PATIENCE` when None.

    Raises:
        ConfigError: A newer svcnb wrote the file.
        sqlite3.Error: The file is no such record, or cannot be written.
        OSError: The folder cannot be made.
    """
    import sqlite3

    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    patience = _PATIENCE if patience is None else patience
    connection = sqlite3.connect(path, timeout=patience, check_same_thread=False, isolation_level=None)
    try:
        _write_ahead(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        bring_forward(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Turns on the write-ahead log, which the first who opens a new file does for good.

    SQLite's own timeout does not hold here: of two who change the mode at once, one is refused without a wait.
    """
    import sqlite3

    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.005)
        else:
            return


class Recorder:
    """A listener of ``on_run`` that writes every run down. May be called from several threads.

    Runs of a moment in which the file cannot be written wait for the next run, or for `close`.

    Args:
        path: The file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque(maxlen=MAX_WAITING)
        self._told = False
        self._balances: dict[tuple[str, str], int] = {}

    def __repr__(self) -> str:
        return f"Recorder({str(self.path)!r})"

    def __call__(self, record: RunRecord) -> None:
        """Writes one run down; where that is not possible, says so once and lets the runs go on."""
        self._add(INSERT, row_of(record))

    def note(self, noted: Noted, config: Config) -> None:
        """Writes down a fee, a payment or a balance.

        Args:
            noted: What it was.
            config: Settings of the client; its service and the hash of its key are recorded.
        """
        key_hash = api_key_hash(config.api_key.reveal()) if config.api_key else ""
        if noted.kind == "balance":  # panels ask every few seconds
            if self._balances.get((config.base_url, key_hash)) == noted.cents:
                return
            self._balances[config.base_url, key_hash] = noted.cents
        row = asdict(noted) | {"base_url": config.base_url, "key_hash": key_hash}
        self._add(INSERT_LEDGER, row | {"at": time.time() if noted.at is None else noted.at})

    def _add(self, statement: str, row: dict[str, Any]) -> None:
        with self._lock:
            self._leave_to_the_parent()
            patience = _PATIENCE_WHEN_BEHIND if self._waiting else _PATIENCE
            self._waiting.append((statement, row))
            self._write(patience)

    def close(self) -> None:
        """Closes the file, once more trying to write what waits; a later run opens it again."""
        with self._lock:
            self._leave_to_the_parent()
            if self._waiting:
                self._write(_PATIENCE)
            if self._waiting:
                _LOG.warning("%d runs were not recorded in %s", len(self._waiting), self.path)
                self._waiting.clear()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _write(self, patience: float) -> None:
        """Writes what waits, in order."""
        import sqlite3

        try:
            connection = self._open(patience)
            while self._waiting:
                number = connection.execute(*self._waiting[0]).lastrowid or 0
                self._waiting.popleft()
                # By the row's number and not by a count of our own: most processes make a handful of runs.
                if number % _PRUNE_EVERY == 0:
                    prune(connection)
        except (ConfigError, OSError, sqlite3.Error) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            _LOG.warning("runs are not recorded yet, for %s cannot be written: %s. %s", self.path, error, _ELSEWHERE)
        self._told = True

    def _leave_to_the_parent(self) -> None:
        """A connection must not cross a fork, nor what waits: the parent will write it."""
        if self._owner != os.getpid():
            self._connection = None
            self._waiting.clear()
            self._owner = os.getpid()

    def _open(self, patience: float) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self.path, patience)
        self._connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
        return self._connection

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None and self._owner == os.getpid():
            self._connection.close()  # type: ignore[union-attr]  # open, or nothing would be written


def prune(connection: sqlite3.Connection) -> None:
    """Deletes the oldest runs beyond `KEPT_RUNS`, and the details of those beyond `KEPT_DETAILS`."""
    connection.execute("DELETE FROM runs WHERE id <= (SELECT max(id) FROM runs) - ?", (KEPT_RUNS,))
    connection.execute(
        "UPDATE runs SET params = NULL, response = NULL, logs = '' WHERE id <= (SELECT max(id) FROM runs) - ? "
        "AND id > (SELECT max(id) FROM runs) - ?",
        (KEPT_DETAILS, KEPT_DETAILS + 2 * _PRUNE_EVERY),
    )
    connection.execute("DELETE FROM ledger WHERE id <= (SELECT max(id) FROM ledger) - ?", (KEPT_RUNS,))


def row_of(record: RunRecord) -> dict[str, Any]:
    """Returns what is kept of one run; nothing secret."""
    run, error = record.run, record.error
    return storable(
        {
            "source": "client",
            "run_id": run.request_id if run else getattr(error, "request_id", ""),
            "started_at": record.started_at,
            "base_url": record.base_url,
            "key_hash": record.key_hash,
            "cid": record.cid,
            "action": record.action_name,
            "status": "success" if run else "failed",
            "params": stored(record.params),
            "response": stored(run.response) if run else None,
            "logs": strip_text(run.logs if run else getattr(error, "logs", ""))[:MAX_STORED],
            "error_type": type(error).__name__ if error else "",
            "error": strip_text(getattr(error, "message", ""))[:MAX_STORED],
            "elapsed": record.elapsed,
            "cost_cents": run.cost_cents if run else 0,
            "trigger_id": "",
        }
    )


def storable(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row whose texts SQLite takes: half surrogate pairs, which JSON may carry, become "?"."""
    texts = {name: value.encode(errors="replace").decode() for name, value in row.items() if isinstance(value, str)}
    return row | texts


def stored(value: Any) -> str:
    """Returns a value as JSON text without secrets, cut when it is long."""
    try:
        text = json.dumps(strip(value), ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps("(not kept: it has no JSON form)")
    if len(text) <= MAX_STORED:
        return text
    return json.dumps({"cut": text[: MAX_STORED // 2], "characters": len(text)}, ensure_ascii=False)
