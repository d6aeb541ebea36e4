"""Statements that are run with every call: SQLite is handed their text, past SQLAlchemy, whose way there takes longer.

Building, looking up and unpacking a statement costs SQLAlchemy ten times what SQLite needs to run a small one, and an
execution runs four of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Connection, Insert, Select, TextClause
from sqlalchemy.exc import DBAPIError

SQLITE: Final = "sqlite"


class _Text(NamedTuple):
    sql: str
    names: Sequence[str]


class Statement:
    """A statement whose values are all texts, numbers or None, as drivers take them.

    Other databases than SQLite get it through SQLAlchemy: there the way to the server is what takes time.

    Args:
        statement: As SQLAlchemy builds it.
        names: Columns that it gives values to, for an insertion.
    """

    def __init__(self, statement: Select[Any] | Insert | TextClause, names: Iterable[str] = ()) -> None:
        self._statement = statement
        self._names = list(names)

    def rows(self, connection: Connection, *values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Runs it for each of some sets of values and returns all that it answers.

        Args:
            connection: In a transaction.
            values: At least one set, by name.

        Raises:
            DBAPIError: As SQLAlchemy raises it.
        """
        if connection.dialect.name != SQLITE:
            answer = connection.execute(self._statement, values[0] if len(values) == 1 else values)
            return [tuple(row) for row in answer] if answer.returns_rows else []
        sql, names = self._text
        driver: Any = connection.connection.driver_connection
        try:
            return [row for one in values for row in driver.execute(sql, [one[name] for name in names])]
        except sqlite3.Error as error:
            # Without the values, which may be anything.
            raise cast("DBAPIError", DBAPIError.instance(sql, None, error, sqlite3.Error)) from error

    @cached_property
    def _text(self) -> _Text:
        # Loading a dialect takes as long as starting the chain: only the one in use.
        from sqlalchemy.dialects import sqlite

        compiled: Any = self._statement.compile(dialect=sqlite.dialect(), column_keys=self._names or None)
        return _Text(str(compiled), compiled.positiontup or ())
