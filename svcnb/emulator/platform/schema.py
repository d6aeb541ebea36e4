"""Database schema. Each package declares its tables, in SQL for both SQLite and PostgreSQL."""

from __future__ import annotations

import re
from typing import Final

from svcnb.emulator.platform.database import POSTGRESQL, Connection
from svcnb.migrations import Schema

STATE: Final[Schema[Connection]] = Schema("state", 2)
"""Name and version of the schema. A change to a table must increase the version and add a migration step."""

_SPELLINGS: Final = {
    # SQLite numbers rows automatically only if the name of the type is INTEGER.
    "NUMBERED": ("INTEGER NOT NULL PRIMARY KEY", "BIGSERIAL PRIMARY KEY"),
    "BYTES": ("BLOB", "BYTEA"),
}
_NUMBERED: Final = re.compile(r"^\s*(\w+) NUMBERED", re.MULTILINE)


class Table:
    """Database table. Declare a table after the tables that its foreign keys refer to.

    Args:
        name: Name of the table.
        definition: Columns and constraints of the table: the text inside the parentheses of CREATE TABLE. ``NUMBERED``
            is an automatically numbered primary key, and ``BYTES`` is the type for bytes.
        indexes: Indexes of the table by name. Each value is the text after the table's name in CREATE INDEX.
    """

    def __init__(self, name: str, definition: str, **indexes: str) -> None:
        self.name = name
        self._definition = definition
        self._indexes = indexes
        found = _NUMBERED.search(definition)
        self._numbered = found[1] if found else None
        if name in _TABLES:
            raise ValueError(f"the table {name} is defined twice: use a different name")
        _TABLES[name] = self

    def create(self, connection: Connection) -> None:
        """Creates the table and its indexes, unless they exist."""
        definition = self._definition
        for word, spellings in _SPELLINGS.items():
            definition = re.sub(rf"\b{word}\b", spellings[connection.kind == POSTGRESQL], definition)
        connection.run(f"CREATE TABLE IF NOT EXISTS {self.name} ({definition})")
        for name, on in self._indexes.items():
            connection.run(f"CREATE INDEX IF NOT EXISTS {name} ON {self.name} {on}")

    def columns(self, connection: Connection) -> list[str]:
        """Returns the names of the table's columns, in order."""
        return connection.names(f"SELECT * FROM {self.name} LIMIT 0")  # noqa: S608 - the SQL contains no user input

    def number_on(self, connection: Connection) -> None:
        """Advances the automatic numbering beyond the largest number in the table, after a restore of rows."""
        if self._numbered is not None and connection.kind == POSTGRESQL:
            connection.rows(
                f"SELECT setval(pg_get_serial_sequence('{self.name}', '{self._numbered}'), max({self._numbered})) "  # noqa: S608 - the SQL contains no user input
                f"FROM {self.name}"
            )


_TABLES: Final[dict[str, Table]] = {}


def tables() -> tuple[Table, ...]:
    """Returns all tables, each after the tables that it refers to."""
    return tuple(_TABLES.values())


META: Final = Table("meta", "name VARCHAR NOT NULL PRIMARY KEY, value VARCHAR NOT NULL")


def get_meta(connection: Connection, name: str) -> str | None:
    """Returns a metadata value of the state, such as its schema version, or None if the value does not exist."""
    found = connection.value("SELECT value FROM meta WHERE name = :name", name=name)
    return None if found is None else str(found)


def set_meta(connection: Connection, name: str, value: str) -> None:
    """Writes a metadata value of the state."""
    connection.run(
        "INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name=name,
        value=value,
    )
