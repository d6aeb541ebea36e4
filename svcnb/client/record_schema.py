"""Database schema of the local history of runs, and its migrations."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.errors import ConfigError
from svcnb.migrations import Schema, UnreadableVersion, copy_path

if TYPE_CHECKING:
    import sqlite3

_RUNS: Final = """
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  run_id TEXT NOT NULL,
  started_at REAL NOT NULL,
  base_url TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  cid TEXT NOT NULL,
  action TEXT NOT NULL,
  status TEXT NOT NULL,
  params TEXT,
  response TEXT,
  logs TEXT NOT NULL,
  error_type TEXT NOT NULL,
  error TEXT NOT NULL,
  elapsed REAL NOT NULL,
  cost_cents INTEGER NOT NULL,
  trigger_id TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS runs_by_id ON runs (source, run_id) WHERE run_id <> '';
CREATE INDEX IF NOT EXISTS runs_by_time ON runs (started_at);
CREATE INDEX IF NOT EXISTS runs_by_action ON runs (cid, started_at);
"""
_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS ledger (
  id INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  base_url TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  cents INTEGER NOT NULL,
  subject TEXT NOT NULL DEFAULT '',
  reference TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS ledger_by_reference ON ledger (base_url, kind, reference) WHERE reference <> '';
CREATE INDEX IF NOT EXISTS ledger_by_time ON ledger (base_url, at);
CREATE TABLE IF NOT EXISTS account_keys (
  base_url TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (base_url, key_hash)
);
"""


def _create(connection: sqlite3.Connection, statements: str) -> sqlite3.Connection:
    for statement in statements.split(";"):  # `executescript` would commit the transaction
        connection.execute(statement)
    return connection


VERSIONS: Final[Schema[Any]] = Schema("run history", 1, {0: lambda connection: _create(connection, _LEDGER)})
"""Versions of the schema, with their migrations. A file stores its version in the SQLite value ``user_version``.

Version 0 contained only the runs.
"""


def check_version(connection: sqlite3.Connection, path: Path) -> bool:
    """Checks the version of a file.

    Args:
        connection: Connection to the file.
        path: Path of the file, for the error message.

    Returns:
        Whether the file needs a migration.

    Raises:
        ConfigError: A newer version of svcnb wrote the file.
    """
    try:
        return VERSIONS.needs_migration(_version(connection), path)
    except UnreadableVersion as error:
        raise ConfigError(
            error.message,
            hint="Use the version of svcnb that this error names, or set SVC_HISTORY to the path of another file.",
        ) from None


def create_or_migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Creates the tables of a new file, or migrates a file of an earlier version.

    The migration is one transaction. Before the migration, the function copies the file.

    Args:
        connection: Connection to the file, without an open transaction.
        path: Path of the file.

    Raises:
        ConfigError: A newer version of svcnb wrote the file.
        sqlite3.Error: The file is not a database, or another process locks it for too long.
        OSError: The copy cannot be written.
    """
    if not check_version(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if check_version(connection, path):  # another process may have migrated the file in the meantime
            found = _version(connection)
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                _copy(path, found)
            _create(connection, _RUNS)
            VERSIONS.migrate(connection, found)
            connection.execute(f"PRAGMA user_version = {VERSIONS.current}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _copy(path: Path, found: int) -> None:
    """Copies the file as it was before the transaction, unless a copy exists. Only the owner can read the copy."""
    import sqlite3

    copy = copy_path(path, found)
    if copy.exists():
        return
    draft = copy.with_name(f"{copy.name}.{os.getpid()}.partial")
    draft.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as target:
            source.backup(target)
        draft.replace(copy)
    finally:
        draft.unlink(missing_ok=True)


KEY_CHECK: Final = "key-check-"
"""Prefix of the correlation id of a run that only checks whether the service finds a new usage key."""
