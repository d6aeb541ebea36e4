"""Records of the triggers service. `svcnb.emulator.triggers.tables` describes their columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

import svcnb.emulator.triggers.tables  # noqa: F401 - the import adds the tables to a new database
from svcnb.emulator.platform.database import Connection, setting
from svcnb.protocol.nesting import parse

SIZED: Final = ("name", "action_code", "default_params", "config", "sealed_usage_key", "account_address")
"""Columns of the table ``triggers`` with user-defined values of variable length."""


def to_json(value: object) -> str:
    """Returns a value as JSON text with ASCII escapes, for a column of the database.

    Raises:
        ValueError: The value contains NaN or an infinite number.
        RecursionError: The value is nested too deeply.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def from_json(text: str | None) -> Any:
    """Returns the parsed value of a JSON column. None (an SQL NULL) stays None."""
    return None if text is None else parse(text)


def rfc3339(moment: float | None) -> str | None:
    """Returns Unix seconds in the format of the API: RFC 3339 in UTC, with microseconds and ``Z``. None stays None."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class TriggerRecord:
    """Row of the table ``triggers``. JSON columns contain JSON text."""

    seq: int
    id: str
    user_id: str
    name: str
    kind: str
    action_code: str
    action_cid: str
    default_params: str
    sealed_usage_key: str
    account_address: str | None
    max_runs_per_minute: int | None
    max_queued_runs: int | None
    config: str
    enabled: bool
    created_at: float
    updated_at: float
    watermark: float
    next_block: int | None
    last_block_hash: str | None

    @property
    def definition(self) -> TriggerRecord:
        """Copy of this record for comparisons. The columns that the scanners change have fixed values in the copy."""
        return replace(self, watermark=0.0, next_block=None, last_block_hash=None)

    def __repr__(self) -> str:
        return f"TriggerRecord(id={self.id!r}, kind={self.kind!r}, name={self.name!r})"

    @classmethod
    def of(cls, connection: Connection, row: dict[str, Any]) -> Self:
        """Creates a record from a row of the database, and unescapes the user's texts."""
        values: dict[str, Any] = row | {name: connection.unescaped(row[name]) for name in _TEXTS}
        values["enabled"] = bool(row["enabled"])  # SQLite has no boolean type
        return cls(**values)


@dataclass(frozen=True)
class RunRecord:
    """Row of the table ``trigger_runs``. JSON columns contain JSON text."""

    seq: int
    id: str
    trigger_id: str
    source: str
    status: str
    attempt: int
    interruptions: int
    input: str | None
    response: str | None
    error: str | None
    started_at: float
    finished_at: float | None
    next_attempt_at: float | None

    @classmethod
    def of(cls, connection: Connection, row: dict[str, Any]) -> Self:
        """Creates a record from a row of the database, and unescapes the error message."""
        values: dict[str, Any] = row | {"error": connection.unescaped(row["error"])}
        return cls(**values)


def find_trigger(connection: Connection, trigger_id: str, user_id: str | None = None) -> TriggerRecord | None:
    """Returns a trigger, or None if the trigger does not exist.

    With a ``user_id``, the function also returns None for a trigger of another user.
    """
    row = connection.record("SELECT * FROM triggers WHERE id = :id", id=trigger_id)
    if row is None or user_id not in {None, row["user_id"]}:
        return None
    return TriggerRecord.of(connection, row)


def trigger_bytes(values: Mapping[str, Any]) -> int:
    """Returns the total length of the columns in `SIZED`, in bytes of UTF-8.

    Args:
        values: Values of a trigger by column.
    """
    return sum(len((values[name] or "").encode("utf-8", "surrogatepass")) for name in SIZED)


def list_triggers(connection: Connection, user_id: str) -> list[TriggerRecord]:
    """Returns a user's triggers, newest first."""
    rows = connection.records("SELECT * FROM triggers WHERE user_id = :user_id ORDER BY seq DESC", user_id=user_id)
    return [TriggerRecord.of(connection, row) for row in rows]


def enabled_triggers(connection: Connection, kind: str) -> list[TriggerRecord]:
    """Returns all enabled triggers of a kind, oldest first."""
    rows = connection.records("SELECT * FROM triggers WHERE kind = :kind AND enabled ORDER BY seq", kind=kind)
    return [TriggerRecord.of(connection, row) for row in rows]


def add_trigger(connection: Connection, values: dict[str, Any]) -> TriggerRecord:
    """Inserts a trigger into the database, and returns its record. The database assigns the column ``seq``."""
    connection.insert("triggers", **_escaped(connection, values))
    found = find_trigger(connection, values["id"])
    if found is None:
        raise LookupError("the database did not return the trigger that was just inserted")
    return found


def change_trigger(connection: Connection, trigger_id: str, values: dict[str, Any]) -> None:
    """Updates columns of a trigger. Does nothing if the trigger does not exist."""
    connection.run(
        f"UPDATE triggers SET {setting(values)} WHERE id = :trigger_id",  # noqa: S608 - the SQL contains no user input
        **_escaped(connection, values),
        trigger_id=trigger_id,
    )


def delete_trigger(connection: Connection, trigger_id: str, user_id: str) -> bool:
    """Deletes a trigger of a user, and its runs. Returns False if the user has no trigger with this id."""
    statement = "DELETE FROM triggers WHERE id = :id AND user_id = :user_id"
    return bool(connection.run(statement, id=trigger_id, user_id=user_id))


def change_run(connection: Connection, condition: str, values: dict[str, Any], /, **known: Any) -> None:
    """Updates columns of runs.

    Args:
        connection: Connection inside a transaction.
        condition: SQL condition that selects the runs.
        values: New values by column.
        **known: Parameters of the condition by name. The names must differ from column names.
    """
    if values.get("error"):
        values = values | {"error": connection.escaped(values["error"])}
    connection.run(f"UPDATE trigger_runs SET {setting(values)} WHERE {condition}", **values, **known)  # noqa: S608 - the SQL contains no user input


def trim_runs(connection: Connection, trigger_id: str, keep: int, before: float) -> None:
    """Deletes the oldest ended runs of a trigger.

    Deletes nothing while a chain_event trigger has read only a part of a block. The trigger reads the block again, and
    the existing runs show which logs it has already read.

    Args:
        connection: Connection inside a transaction.
        trigger_id: Id of the trigger.
        keep: Maximum number of ended runs to keep.
        before: Time in Unix seconds. The function does not delete runs that started later, because the rate limit
            counts them.
    """
    connection.run(
        """
        DELETE FROM trigger_runs
        WHERE trigger_id = :trigger_id AND finished_at IS NOT NULL AND started_at < :before AND seq <= (
            SELECT seq FROM trigger_runs
            WHERE trigger_id = :trigger_id AND finished_at IS NOT NULL
            ORDER BY seq DESC LIMIT 1 OFFSET :keep
        ) AND NOT EXISTS (
            SELECT 1 FROM triggers
            WHERE id = :trigger_id AND kind = 'chain_event' AND next_block IS NOT NULL AND last_block_hash IS NULL
        )
        """,
        trigger_id=trigger_id,
        before=before,
        keep=keep,
    )


def empty_runs(connection: Connection, trigger_id: str, most: int) -> None:
    """Deletes the inputs and responses of the oldest ended runs of a trigger's owner, but not the runs.

    Args:
        connection: Connection inside a transaction.
        trigger_id: One of the owner's triggers.
        most: Maximum total length of inputs and responses, in characters. The function does not delete the newest
            inputs and responses, up to this length.
    """
    connection.run(
        """
        UPDATE trigger_runs SET input = NULL, response = NULL
        WHERE seq IN (
            SELECT seq FROM (
                SELECT seq, sum(coalesce(length(input), 0) + coalesce(length(response), 0)) OVER (ORDER BY seq DESC)
                    AS total
                FROM trigger_runs
                WHERE finished_at IS NOT NULL AND (input IS NOT NULL OR response IS NOT NULL) AND trigger_id IN (
                    SELECT id FROM triggers WHERE user_id = (SELECT user_id FROM triggers WHERE id = :trigger_id)
                )
            ) AS sizes
            WHERE total > :most
        )
        """,
        trigger_id=trigger_id,
        most=most,
    )


def list_runs(connection: Connection, trigger_id: str, limit: int, offset: int) -> list[RunRecord]:
    """Returns at most ``limit`` runs of a trigger, newest first, after the newest ``offset`` runs."""
    rows = connection.records(
        "SELECT * FROM trigger_runs WHERE trigger_id = :id ORDER BY seq DESC LIMIT :limit OFFSET :offset",
        id=trigger_id,
        limit=limit,
        offset=offset,
    )
    return [RunRecord.of(connection, row) for row in rows]


def oldest_open_run(connection: Connection, trigger_id: str) -> RunRecord | None:
    """Returns the oldest unfinished run of a trigger, or None if all its runs have ended."""
    row = connection.record(
        "SELECT * FROM trigger_runs WHERE trigger_id = :id AND finished_at IS NULL ORDER BY seq LIMIT 1", id=trigger_id
    )
    return None if row is None else RunRecord.of(connection, row)


_TEXTS: Final = ("name", "action_code", "account_address")
"""Columns of the table ``triggers`` with text from the user, which the database stores in escaped form."""


def _escaped(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    return values | {name: connection.escaped(values[name]) for name in _TEXTS if name in values}
