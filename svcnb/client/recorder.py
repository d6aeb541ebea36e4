"""Local record of every run, for later queries of costs, failures and results.

It is one SQLite file, readable by its owner alone and without secrets. The setting ``history`` (``SVC_HISTORY``) is its
path, or ``off``. The toolkit's `History` reads it.
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
"""Maximum length of stored parameters, response or logs, in characters; the rest is cut off."""

KEPT_RUNS: Final = 2_000_000
"""Maximum number of stored runs; beyond it the oldest are deleted, a thousand at a time."""

KEPT_DETAILS: Final = 200_000
"""Number of the newest runs whose parameters, response and logs are stored, too."""

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
"""Seconds that a writer waits for others."""

_PATIENCE_WHEN_BEHIND: Final = 0.05
"""The same while earlier runs are waiting, since it delays every further run."""

MAX_WAITING: Final = 500
"""Maximum number of runs that wait while the file cannot be written; the oldest are deleted."""


def default_path(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the default path of the record; None on a machine without a home folder."""
    root = environment.get("XDG_STATE_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "svcnb" / "history.sqlite"


def connect(path: Path, patience: float | None = None) -> sqlite3.Connection:
    """Opens the record, which only its owner can read; creates it if it does not exist.

    Args:
        path: The file.
        patience: Seconds to wait for other writers; `_PATIENCE` when None.

    Raises:
        ConfigError: A newer svcnb wrote the file.
        sqlite3.Error: The file is not such a record, or cannot be written.
        OSError: The folder cannot be created.
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
    """Enables the write-ahead log, which is permanent once the first process has enabled it.

    SQLite's own timeout does not apply here: if two processes change the mode at once, one fails without waiting.
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
    """Listener of ``on_run`` that records every run. May be called from several threads.

    If the file cannot be written, runs wait in memory for the next run, or for `close`.

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
        """Records one run. If that is not possible, logs it once and does not stop the runs."""
        self._add(INSERT, row_of(record))

    def note(self, noted: Noted, config: Config) -> None:
        """Records a fee, a payment or a balance.

        Args:
            noted: The fee, payment or balance.
            config: Settings of the client; its service and the hash of its key are recorded.
        """
        key_hash = api_key_hash(config.api_key.reveal()) if config.api_key else ""
        if noted.kind == "balance":  # panels read it every few seconds
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
        """Closes the file after one more attempt to write the waiting runs; a later run opens it again."""
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
        """Writes the waiting runs in order."""
        import sqlite3

        try:
            connection = self._open(patience)
            while self._waiting:
                number = connection.execute(*self._waiting[0]).lastrowid or 0
                self._waiting.popleft()
                # By the row's number, not by a counter of this process: most processes make only a few runs.
                if number % _PRUNE_EVERY == 0:
                    prune(connection)
        except (ConfigError, OSError, sqlite3.Error) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            _LOG.warning("runs are not recorded yet, for %s cannot be written: %s. %s", self.path, error, _ELSEWHERE)
        self._told = True

    def _leave_to_the_parent(self) -> None:
        """Drops the connection and the waiting runs after a fork: the parent process writes them."""
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
    """Returns the stored values of one run, without secrets."""
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
    """Returns a row with strings that SQLite accepts: half surrogate pairs, which JSON can contain, become "?"."""
    texts = {name: value.encode(errors="replace").decode() for name, value in row.items() if isinstance(value, str)}
    return row | texts


def stored(value: Any) -> str:
    """Returns a value as JSON text without secrets, cut off if it is long."""
    try:
        text = json.dumps(strip(value), ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps("(not kept: it has no JSON form)")
    if len(text) <= MAX_STORED:
        return text
    return json.dumps({"cut": text[: MAX_STORED // 2], "characters": len(text)}, ensure_ascii=False)
