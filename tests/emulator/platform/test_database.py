"""Database connections: the same statements, errors and transactions with SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcnb.emulator.platform.database import (
    Connection,
    ConstraintBroken,
    DatabaseError,
    InvalidDatabaseUrl,
    SqliteConnection,
    inserting,
)
from svcnb.emulator.platform.database_url import Address


@pytest.fixture
def connection(store_url: str | None) -> Iterator[Connection]:
    opened = Address(store_url).connect()
    with opened.transaction():
        opened.run("CREATE TABLE things (n INTEGER PRIMARY KEY, name TEXT, size FLOAT)")
    yield opened
    opened.close()


def names(connection: Connection) -> list[str]:
    with connection.transaction():
        return connection.column("SELECT name FROM things ORDER BY n")


def test_named_parameters_are_replaced_and_other_text_is_unchanged(connection: Connection) -> None:
    with connection.transaction():
        connection.insert("things", n=1, name="50 % of :name", size=0.5)
        read = "SELECT name, ':name', '100 %', CAST(:n AS INTEGER) % 4 FROM things WHERE name LIKE '50 %' AND n < :n"
        assert connection.rows(read, n=7) == [("50 % of :name", ":name", "100 %", 3)]


def test_rows_are_available_in_all_formats(connection: Connection) -> None:
    with connection.transaction():
        connection.each(inserting("things", ["n", "name"]), [{"n": n, "name": f"thing {n}"} for n in range(3)])
        every = "SELECT n, name FROM things ORDER BY n"
        assert connection.rows(every) == [(0, "thing 0"), (1, "thing 1"), (2, "thing 2")]
        assert connection.records(every)[2] == {"n": 2, "name": "thing 2"}
        assert connection.column(every) == [0, 1, 2]
        assert connection.value(every) == 0
        assert connection.names(every) == ["n", "name"]
        nothing = "SELECT n FROM things WHERE n = :n"
        assert (connection.rows(nothing, n=9), connection.record(nothing, n=9), connection.value(nothing, n=9)) == (
            [],
            None,
            None,
        )
        assert connection.run("UPDATE things SET size = 1 WHERE n > :n", n=0) == 2
        assert connection.each("DELETE FROM things WHERE n = :n RETURNING name", [{"n": 1}, {"n": 2}]) == [
            ("thing 1",),
            ("thing 2",),
        ]


def test_a_transaction_with_an_error_is_rolled_back(connection: Connection) -> None:
    def fail() -> None:
        with connection.transaction():
            connection.insert("things", n=1, name="lost")
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert names(connection) == []


def test_a_savepoint_with_an_error_is_rolled_back_at_any_depth(connection: Connection) -> None:
    with connection.transaction():
        connection.insert("things", n=1, name="outside")
        with connection.savepoint():
            connection.insert("things", n=2, name="first")
            with pytest.raises(ConstraintBroken), connection.savepoint():
                connection.each(inserting("things", ["n", "name"]), [{"n": n, "name": "undone"} for n in (3, 1)])
            connection.insert("things", n=4, name="after it")
    assert names(connection) == ["outside", "first", "after it"]


def test_errors_distinguish_the_statement_from_the_database(connection: Connection) -> None:
    twice = [{"n": 1, "name": "the secret"}] * 2
    with pytest.raises(ConstraintBroken) as broken, connection.transaction():
        connection.each(inserting("things", ["n", "name"]), twice)
    assert (broken.value.lost, broken.value.final) == (False, True)
    assert "the secret" not in str(broken.value)
    assert "\n" not in str(broken.value)
    assert names(connection) == []


def test_a_locked_database_is_a_temporary_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcnb.emulator.platform.database._BUSY_S", 0.01)
    connection = SqliteConnection(str(tmp_path / "held.db"))
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError, match="locked") as caught, connection.transaction():
            pytest.fail("it was not held")
        assert (caught.value.lost, caught.value.final) == (False, False)
        holder.execute("ROLLBACK")
        with connection.transaction():
            assert connection.value("SELECT 1") == 1
    finally:
        holder.close()
        connection.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (None, "memory"),
        ("sqlite:////a/b@c:d/state.db", "sqlite:////a/b@c:d/state.db"),
        ("postgresql://svcnb@/name", "postgresql://svcnb@/name"),
        ("postgresql://svcnb:hidden@host:5432/name", "postgresql://svcnb:***@host:5432/name"),
        ("postgresql://svcnb:hid@den@host/name", "postgresql://svcnb:***@host/name"),
        ("postgresql+psycopg://svcnb@host/name?password=hidden", "postgresql://svcnb@host/name"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str | None, shown: str) -> None:
    assert str(Address(url)) == shown


@pytest.mark.parametrize(
    ("url", "path"), [("sqlite:////a/b.db", "/a/b.db"), ("sqlite:///b.db", "b.db"), ("sqlite://", None)]
)
def test_the_path_of_a_file_begins_after_the_third_slash(url: str, path: str | None) -> None:
    assert Address(url).path == path


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hidden",
        "://host/hidden",
        "sqlite://hidden.db",
        "postgresql://host:hidden/name",
        "postgresql://svcnb:hidden/1@host/name",
        "postgresql://[hidden/name",
    ],
)
def test_an_invalid_url_is_rejected_without_its_text(url: str) -> None:
    with pytest.raises(InvalidDatabaseUrl) as caught:
        Address(url)
    assert "hidden" not in "".join(traceback.format_exception(caught.value))
