"""Records of the triggers service. `svcnb.emulator.triggers.tables` describes their columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

import svcnb.emulator.triggers.tables  # noqa: F401 - the import adds the tables to a new database
from svcnb.emulator.platform.database import Connection, setting
from svcnb.protocol.nesting import parse


def to_json(value: object) -> str:
    """JSON text in the form of the tables."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def from_json(text: str | None) -> Any:
    """The value of a JSON column."""
    return None if text is None else parse(text)


def rfc3339(moment: float | None) -> str | None:
    """A time in the form of the API: UTC, microseconds, ``Z``."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class TriggerRecord:
    """A row of ``triggers``; JSON columns are still text."""

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

    def __repr__(self) -> str:
        return f"TriggerRecord(id={self.id!r}, kind={self.kind!r}, name={self.name!r})"

    @classmethod
    def of(cls, connection: Connection, row: dict[str, Any]) -> Self:
        """The trigger in a row of all columns."""
        plain = {name: connection.unescaped(row[name]) for name in _TEXTS}
        return cls(**row | plain | {"enabled": bool(row["enabled"])})  # SQLite has no boolean type


@dataclass(frozen=True)
class RunRecord:
    """A row of ``trigger_runs``; JSON columns are still text."""

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
        """The run in a row of all columns."""
        return cls(**row | {"error": connection.unescaped(row["error"])})


def find_trigger(connection: Connection, trigger_id: str, user_id: str | None = None) -> TriggerRecord | None:
    """One trigger, or None when it does not exist or is not this user's."""
    row = connection.record("SELECT * FROM triggers WHERE id = :id", id=trigger_id)
    if row is None or user_id not in {None, row["user_id"]}:
        return None
    return TriggerRecord.of(connection, row)


def trigger_chars(trigger: TriggerRecord) -> int:
    """The number of characters that the owner wrote in a trigger."""
    return len(trigger.name) + len(trigger.action_code) + len(trigger.default_params) + len(trigger.config)


def list_triggers(connection: Connection, user_id: str) -> list[TriggerRecord]:
    """A user's triggers, newest first."""
    rows = connection.records("SELECT * FROM triggers WHERE user_id = :user_id ORDER BY seq DESC", user_id=user_id)
    return [TriggerRecord.of(connection, row) for row in rows]


def enabled_triggers(connection: Connection, kind: str) -> list[TriggerRecord]:
    """All enabled triggers of a kind, oldest first."""
    rows = connection.records("SELECT * FROM triggers WHERE kind = :kind AND enabled ORDER BY seq", kind=kind)
    return [TriggerRecord.of(connection, row) for row in rows]


def add_trigger(connection: Connection, values: dict[str, Any]) -> TriggerRecord:
    """Inserts a trigger and returns it."""
    connection.insert("triggers", **_escaped(connection, values))
    found = find_trigger(connection, values["id"])
    if found is None:
        raise LookupError("the trigger just inserted is not there")
    return found


def change_trigger(connection: Connection, trigger_id: str, values: dict[str, Any]) -> None:
    """Updates columns of a trigger."""
    connection.run(
        f"UPDATE triggers SET {setting(values)} WHERE id = :trigger_id",  # noqa: S608 - our own names
        **_escaped(connection, values),
        trigger_id=trigger_id,
    )


def delete_trigger(connection: Connection, trigger_id: str, user_id: str) -> bool:
    """Deletes a trigger with its runs. Returns whether it existed."""
    statement = "DELETE FROM triggers WHERE id = :id AND user_id = :user_id"
    return bool(connection.run(statement, id=trigger_id, user_id=user_id))


def change_run(connection: Connection, condition: str, values: dict[str, Any], /, **known: Any) -> None:
    """Updates columns of runs.

    Args:
        connection: Inside a transaction.
        condition: Selects the runs, as SQL.
        values: The new values by column.
        **known: Values in the condition, by name. The names must differ from those of columns.
    """
    if values.get("error"):
        values = values | {"error": connection.escaped(values["error"])}
    connection.run(f"UPDATE trigger_runs SET {setting(values)} WHERE {condition}", **values, **known)  # noqa: S608 - our own text


def trim_runs(connection: Connection, trigger_id: str, keep: int, before: float) -> None:
    """Deletes the oldest ended runs of a trigger.

    Args:
        connection: Inside a transaction.
        trigger_id: The trigger.
        keep: How many ended runs are kept.
        before: Unix seconds. Later runs are kept, because the rate limit counts them.
    """
    connection.run(
        """
        DELETE FROM trigger_runs
        WHERE trigger_id = :trigger_id AND finished_at IS NOT NULL AND started_at < :before AND seq <= (
            SELECT seq FROM trigger_runs
            WHERE trigger_id = :trigger_id AND finished_at IS NOT NULL
            ORDER BY seq DESC LIMIT 1 OFFSET :keep
        )
        """,
        trigger_id=trigger_id,
        before=before,
        keep=keep,
    )


def empty_runs(connection: Connection, trigger_id: str, most: int) -> None:
    """Deletes inputs and responses of the oldest ended runs of a trigger's owner. The runs themselves stay.

    Args:
        connection: Inside a transaction.
        trigger_id: One of the owner's triggers.
        most: Maximum of characters in inputs and responses. Those of the newest runs are kept.
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
    """A page of a trigger's runs, newest first."""
    rows = connection.records(
        "SELECT * FROM trigger_runs WHERE trigger_id = :id ORDER BY seq DESC LIMIT :limit OFFSET :offset",
        id=trigger_id,
        limit=limit,
        offset=offset,
    )
    return [RunRecord.of(connection, row) for row in rows]


def oldest_open_run(connection: Connection, trigger_id: str) -> RunRecord | None:
    """The oldest run of a trigger that has not ended."""
    row = connection.record(
        "SELECT * FROM trigger_runs WHERE trigger_id = :id AND finished_at IS NULL ORDER BY seq LIMIT 1", id=trigger_id
    )
    return None if row is None else RunRecord.of(connection, row)


_TEXTS: Final = ("name", "action_code", "account_address")
"""Columns of a trigger that contain text of the owner."""


def _escaped(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    return values | {name: connection.escaped(values[name]) for name in _TEXTS if name in values}
