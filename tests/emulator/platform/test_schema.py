"""Database schema. All states of the same version have the same tables, including migrated ones."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import svcnb.emulator.service  # noqa: F401 - each area writes down its tables when it is loaded
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.store import Store

EARLIER = Path(__file__).with_name("state-version-2.sql")


def shape(path: Path) -> dict[str, Any]:
    """Returns the columns, foreign keys and indexes of each table, as SQLite reports them."""
    with closing(sqlite3.connect(path)) as connection:
        found = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
            found[table] = {
                "columns": connection.execute(f"PRAGMA table_info({table})").fetchall(),
                "foreign keys": sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
                "indexes": sorted(
                    (
                        # The names of indexes for constraints differ between databases.
                        name if origin == "c" else "",
                        unique,
                        partial,
                        [row[1:] for row in connection.execute(f"PRAGMA index_info({name})")],
                    )
                    for _, name, unique, origin, partial in indexes
                ),
            }
        return found


def test_a_state_of_an_earlier_release_has_the_current_tables(tmp_path: Path) -> None:
    earlier, fresh = tmp_path / "earlier.db", tmp_path / "fresh.db"
    with closing(sqlite3.connect(earlier)) as connection:
        connection.executescript(EARLIER.read_text())
    Store(f"sqlite:///{fresh}").close()
    assert shape(fresh) == shape(earlier)


def test_states_of_earlier_releases_open_and_keep_their_data(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.db"
    with closing(sqlite3.connect(earlier)) as connection, connection:
        connection.executescript(EARLIER.read_text())
        connection.execute("INSERT INTO meta VALUES ('schema_version', '2')")
        connection.execute("INSERT INTO ledger_balances VALUES ('0xa', 7)")
    before = shape(earlier)
    store = Store(f"sqlite:///{earlier}")
    assert store.run_now(lambda connection: connection.rows("SELECT * FROM ledger_balances")) == [("0xa", 7)]
    store.close()
    assert shape(earlier) == before


def test_endpoints_that_are_loaded_later_declare_no_new_tables() -> None:
    program = """
from svcnb.emulator.areas import other_endpoints
from svcnb.emulator.http.body import ToleratedRequests
from svcnb.emulator.service import Service
from svcnb.emulator.platform.schema import tables
from svcnb.emulator.settings import Settings
before = tables()
assert other_endpoints(Service(Settings.load()), [], ToleratedRequests())
assert tables() == before, {table.name for table in tables()} - {table.name for table in before}
"""
    # Use a separate process, because other tests have loaded all modules into this one.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_two_tables_of_one_name_are_a_defect() -> None:
    with pytest.raises(ValueError, match="meta is defined twice"):
        Table("meta", "n INTEGER")
