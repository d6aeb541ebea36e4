"""Local history of all runs. Users can query the history for costs, failures and results.

The history is an SQLite file, which only its owner can read. `strip` removes secrets from a value before the recorder
stores it. The setting ``history`` (``SVC_HISTORY``) is the path of the file, or ``off``. The toolkit's class `History`
reads the file.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.errors import ConfigError
from svcnb.client.record_schema import create_or_migrate
from svcnb.logs import MASK, redact
from svcnb.protocol.hashes import api_key_hash
from svcnb.protocol.limits import KEPT_RECORDED_DETAILS, KEPT_RECORDED_RUNS, MAX_RECORDED_CHARS

if TYPE_CHECKING:
    import sqlite3

    from svcnb.client.calls import Noted
    from svcnb.client.config import Config
    from svcnb.client.running import RunRecord

OFF: Final = "off"


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
_ELSEWHERE: Final = "To stop this warning, set SVC_HISTORY to off or to the path of another file."
_PRUNE_EVERY: Final = 1_000
_TIMEOUT_S: Final = 5.0
"""Time that a writer waits for other writers, in seconds."""

_TIMEOUT_WHEN_BEHIND_S: Final = 0.05
"""Shorter wait in seconds while earlier runs are still unwritten, because each wait delays the next run."""

MAX_WAITING: Final = 500
"""Maximum number of rows in memory while the file is not writable. The recorder discards the oldest rows first."""


def default_path() -> Path | None:
    """Returns the default path of the history file, or None on a machine without a home folder."""
    root = os.environ.get("XDG_STATE_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "svcnb" / "history.sqlite"


def connect(path: Path, timeout_s: float | None = None) -> sqlite3.Connection:
    """Returns a connection to the history file. If the file is missing, creates a file that only its owner can read.

    Args:
        path: Path of the file.
        timeout_s: Seconds to wait for other writers. None means `_TIMEOUT_S`.

    Raises:
        ConfigError: A newer version of svcnb wrote the file.
        sqlite3.Error: The file is not a history of runs, or cannot be written to.
        OSError: The folder cannot be created, or the path is not a regular file.
    """
    import sqlite3

    if path.exists() and not path.is_file():
        raise OSError("the path is not a regular file")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    timeout_s = _TIMEOUT_S if timeout_s is None else timeout_s
    connection = sqlite3.connect(path, timeout=timeout_s, check_same_thread=False, isolation_level=None)
    try:
        _enable_write_ahead_log(connection, timeout_s)
        connection.execute("PRAGMA synchronous = NORMAL")
        create_or_migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _enable_write_ahead_log(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Enables the write-ahead log, which stays enabled in the file.

    SQLite's own timeout does not apply here: if two processes change the mode simultaneously, one of the two fails
    without waiting.
    """
    import sqlite3

    until = time.monotonic() + timeout_s
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
    """Listener of ``on_run`` that records every run. Several threads can use one recorder.

    If the file is not writable, runs stay in memory. The recorder tries to write these runs again at the next run and
    at `close`.

    Args:
        path: Path of the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path).expanduser()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque(maxlen=MAX_WAITING)
        self._told = False
        self._balances: dict[tuple[str, str], int] = {}

    def __repr__(self) -> str:
        return f"Recorder({str(self.path)!r})"

    def __call__(self, record: RunRecord) -> None:
        """Records one run. If the file is not writable, the method logs one warning and raises no error."""
        self._add(INSERT, _row_of(record))

    def note(self, noted: Noted, config: Config) -> None:
        """Records a fee, a payment or a balance.

        Args:
            noted: The fee, payment or balance.
            config: Settings of the client. The record contains the address of the service and the hash of the key.
        """
        key_hash = api_key_hash(config.api_key.reveal()) if config.api_key else ""
        if noted.kind == "balance":  # panels request the balance every few seconds
            if self._balances.get((config.base_url, key_hash)) == noted.cents:
                return
            self._balances[config.base_url, key_hash] = noted.cents
        row = asdict(noted) | {"base_url": config.base_url, "key_hash": key_hash}
        self._add(INSERT_LEDGER, row | {"at": time.time() if noted.at is None else noted.at})

    def _add(self, statement: str, row: dict[str, Any]) -> None:
        with self._lock:
            self._leave_to_the_parent()
            timeout_s = _TIMEOUT_WHEN_BEHIND_S if self._waiting else _TIMEOUT_S
            self._waiting.append((statement, row))
            self._write(timeout_s)

    def close(self) -> None:
        """Closes the file after one more attempt to write the runs in memory. A later run opens the file again."""
        with self._lock:
            self._leave_to_the_parent()
            if self._waiting:
                self._write(_TIMEOUT_S)
            if self._waiting:
                _LOG.warning("%d rows of the run history were not stored in %s", len(self._waiting), self.path)
                self._waiting.clear()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _write(self, timeout_s: float) -> None:
        """Writes the runs in memory, in order."""
        import sqlite3

        try:
            connection = self._open(timeout_s)
            while self._waiting:
                number = connection.execute(*self._waiting[0]).lastrowid or 0
                self._waiting.popleft()
                # The condition uses the row's number, not a counter of this process, because most processes make only a
                # few runs.
                if number % _PRUNE_EVERY == 0:
                    prune(connection)
        except (ConfigError, OSError, sqlite3.Error) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            said = getattr(error, "message", error)
            _LOG.warning("runs are not recorded, because %s cannot be written: %s. %s", self.path, said, _ELSEWHERE)
        self._told = True

    def _leave_to_the_parent(self) -> None:
        """Drops the connection and the runs in memory after a fork, because the parent process writes these runs."""
        if self._owner != os.getpid():
            self._connection = None
            self._waiting.clear()
            self._owner = os.getpid()

    def _open(self, timeout_s: float) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self.path, timeout_s)
        self._connection.execute(f"PRAGMA busy_timeout = {round(timeout_s * 1000)}")
        return self._connection

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None and self._owner == os.getpid():
            self._connection.close()  # type: ignore[union-attr] # the connection is open during a write


def prune(connection: sqlite3.Connection) -> None:
    """Deletes old runs and old ledger entries. The newest `KEPT_RECORDED_RUNS` of each remain.

    The function also deletes the parameters, responses and logs of all runs except the newest `KEPT_RECORDED_DETAILS`.
    """
    connection.execute("DELETE FROM runs WHERE id <= (SELECT max(id) FROM runs) - ?", (KEPT_RECORDED_RUNS,))
    connection.execute(
        "UPDATE runs SET params = NULL, response = NULL, logs = '' WHERE id <= (SELECT max(id) FROM runs) - ? "
        "AND id > (SELECT max(id) FROM runs) - ?",
        (KEPT_RECORDED_DETAILS, KEPT_RECORDED_DETAILS + 2 * _PRUNE_EVERY),
    )
    connection.execute("DELETE FROM ledger WHERE id <= (SELECT max(id) FROM ledger) - ?", (KEPT_RECORDED_RUNS,))


def _row_of(record: RunRecord) -> dict[str, Any]:
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
            "logs": strip_text(run.logs if run else getattr(error, "logs", ""))[:MAX_RECORDED_CHARS],
            "error_type": type(error).__name__ if error else "",
            "error": strip_text(getattr(error, "message", ""))[:MAX_RECORDED_CHARS],
            "elapsed": record.elapsed,
            "cost_cents": run.cost_cents if run else 0,
            "trigger_id": "",
        }
    )


def storable(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row whose strings SQLite accepts.

    JSON can contain lone surrogates, which SQLite rejects. The function replaces each lone surrogate with "?".
    """
    texts = {name: value.encode(errors="replace").decode() for name, value in row.items() if isinstance(value, str)}
    return row | texts


def stored(value: Any) -> str:
    """Returns a value as JSON text without secrets. The function truncates long text."""
    try:
        text = json.dumps(strip(value), ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps("(not stored: the value cannot be written as JSON)")
    if len(text) <= MAX_RECORDED_CHARS:
        return text
    return json.dumps({"cut": text[: MAX_RECORDED_CHARS // 2], "characters": len(text)}, ensure_ascii=False)


_SECRET_NAME: Final = re.compile(
    r"(?i)(?:pass(?:word|phrase|wd)|secret|token|mnemonic|seed|private|credential|authorization|cookie|bearer|jwt"
    r"|(?:api|usage|access|signing|encryption|auth|master)[_-]?key|\bkey\b|\bpin\b|\botp\b)"
)
_PUBLIC_HASH_NAME: Final = re.compile(r"(?i)hash|tx|transaction|topic|cid|root|digest|block|salt|nonce|\bid\b")
_WORD32: Final = re.compile(r"(?<![0-9a-fA-Fx])(?:0x)?[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_MNEMONIC: Final = re.compile(r"(?<![\w])(?:[a-z]{3,8}\s+){11,23}[a-z]{3,8}(?![\w])")
_SIGNED: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")
_PEM: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def strip(value: Any, name: str = "") -> Any:
    """Returns a JSON value in which every secret and every possible secret is masked.

    The function masks fields whose names refer to a secret, and strings that look like a secret. Such strings are 32
    bytes in base64 or hex, words of a wallet's recovery phrase, signed tokens, and PEM keys. The function
    does not mask a 32-byte hex value if the field's name indicates a public value, for example ``transactionHash``.

    Args:
        value: Any JSON value.
        name: Name of the field that contains the value.

    Example:
        >>> strip({"to": "0x01", "apiKey": "c2VjcmV0"})
        {'to': '0x01', 'apiKey': '********'}
    """
    if isinstance(value, Mapping):
        return {str(key): strip(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strip(item, name) for item in value]
    if value is None or isinstance(value, (bool, float)):
        return value
    if names_secret(name):
        return MASK
    return strip_text(value, public=bool(_PUBLIC_HASH_NAME.search(name))) if isinstance(value, str) else value


def names_secret(name: str) -> bool:
    """Returns whether a field's name indicates a secret value.

    Args:
        name: Name of the field, for example ``apiKey``.
    """
    return bool(_SECRET_NAME.search(name)) and not _PUBLIC_HASH_NAME.search(name)


def strip_text(text: str, *, public: bool = False) -> str:
    """Returns a string in which everything that looks like a secret is masked.

    Args:
        text: Any string.
        public: Whether 32-byte hex values stay unmasked, because the field contains a public hash.
    """
    text = redact(text)
    for pattern in (_PEM, _SIGNED, _MNEMONIC):
        text = pattern.sub(MASK, text)
    return text if public else _WORD32.sub(MASK, text)
