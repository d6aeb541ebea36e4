"""Tables of the triggers service, and the records read from them.

Times are Unix seconds of the emulator's clock. JSON is text written with ASCII escapes only, so that any string of a
webhook (NUL and lone surrogates included) survives on every database.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final, Self

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    Row,
    String,
    Table,
    Text,
    delete,
    event,
    insert,
    select,
    update,
)

from svcnb.emulator.store import AnyText, metadata

# SQLite numbers rows by itself only when the type is spelled INTEGER.
_SEQUENCE: Final = BigInteger().with_variant(Integer, "sqlite")

users = Table(
    "trigger_users",
    metadata,
    Column("id", String, primary_key=True),
    Column("email", String, nullable=False, unique=True),
)

tokens = Table(
    "trigger_tokens",
    metadata,
    Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    # Only the challenge is kept, the SHA-256 of a token that the service never sees before its first use.
    Column("challenge", String, nullable=False, unique=True),
    Column("user_id", String, ForeignKey("trigger_users.id", ondelete="CASCADE"), nullable=False),
    Column("label", AnyText, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("last_used_at", Float),
    Column("revoked_at", Float),
)

triggers = Table(
    "triggers",
    metadata,
    Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("user_id", String, ForeignKey("trigger_users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", AnyText, nullable=False),
    Column("kind", String, nullable=False, index=True),
    Column("action_code", AnyText, nullable=False),
    Column("action_cid", String, nullable=False),
    Column("default_params", Text, nullable=False),
    Column("sealed_usage_key", Text, nullable=False),
    Column("account_address", AnyText),
    Column("max_runs_per_minute", Integer),
    Column("max_queued_runs", Integer),
    Column("config", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    # Where the scanners stand: the last tick that had its run (or the moment to count from), the next block to read,
    # and the hash of the block before it, by which a reorganisation is noticed.
    Column("watermark", Float, nullable=False),
    Column("next_block", BigInteger),
    Column("last_block_hash", String),
)

runs = Table(
    "trigger_runs",
    metadata,
    Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("trigger_id", String, ForeignKey("triggers.id", ondelete="CASCADE"), nullable=False),
    Column("source", String, nullable=False),
    Column("status", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("interruptions", Integer, nullable=False),
    Column("input", Text),
    Column("response", Text),
    Column("error", AnyText),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("next_attempt_at", Float),
)

# A lane asks for the oldest run that has not ended; that must not slow down as history grows.
_unended = runs.c.finished_at.is_(None)
_open = Index("trigger_runs_open", runs.c.trigger_id, runs.c.seq, sqlite_where=_unended)
Index("trigger_runs_history", runs.c.trigger_id, runs.c.seq)
Index("trigger_runs_rate", runs.c.trigger_id, runs.c.source, runs.c.started_at)


@event.listens_for(runs, "before_create")
def _partial_there_too(_table: Table, connection: Connection, **_: object) -> None:
    """Told only now: naming a dialect loads it, a fifteenth of a start in memory."""
    if connection.dialect.name == "postgresql":
        _open.dialect_options["postgresql"]["where"] = _unended


def to_json(value: object) -> str:
    """JSON text as the tables hold it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def from_json(text: str | None) -> Any:
    """The value of a JSON column."""
    return None if text is None else json.loads(text)


def rfc3339(moment: float | None) -> str | None:
    """A time as the API shows it: UTC, microseconds, ``Z``."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class _Record:
    @classmethod
    def of(cls, row: Row[Any]) -> Self:
        """The record in a row that holds all its columns."""
        mapping = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
        return cls(**{field.name: mapping[field.name] for field in fields(cls)})  # type: ignore[arg-type]  # every record is a dataclass


@dataclass(frozen=True)
class TriggerRecord(_Record):
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


@dataclass(frozen=True)
class RunRecord(_Record):
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


def find_trigger(connection: Connection, trigger_id: str, user_id: str | None = None) -> TriggerRecord | None:
    """One trigger, or None when it does not exist or is not this user's."""
    query = select(triggers).where(triggers.c.id == trigger_id)
    if user_id is not None:
        query = query.where(triggers.c.user_id == user_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else TriggerRecord.of(row)


def list_triggers(connection: Connection, user_id: str) -> list[TriggerRecord]:
    """A user's triggers, newest first."""
    query = select(triggers).where(triggers.c.user_id == user_id).order_by(triggers.c.seq.desc())
    return [TriggerRecord.of(row) for row in connection.execute(query)]


def enabled_triggers(connection: Connection, kind: str) -> list[TriggerRecord]:
    """All enabled triggers of a kind, oldest first."""
    query = select(triggers).where(triggers.c.kind == kind, triggers.c.enabled).order_by(triggers.c.seq)
    return [TriggerRecord.of(row) for row in connection.execute(query)]


def add_trigger(connection: Connection, values: dict[str, Any]) -> TriggerRecord:
    """Inserts a trigger and returns it."""
    connection.execute(insert(triggers).values(values))
    found = find_trigger(connection, values["id"])
    if found is None:
        raise LookupError("the trigger just inserted is not there")
    return found


def change_trigger(connection: Connection, trigger_id: str, values: dict[str, Any]) -> None:
    """Updates columns of a trigger."""
    connection.execute(update(triggers).where(triggers.c.id == trigger_id).values(values))


def delete_trigger(connection: Connection, trigger_id: str, user_id: str) -> bool:
    """Deletes a trigger with its runs; whether there was one."""
    query = delete(triggers).where(triggers.c.id == trigger_id, triggers.c.user_id == user_id)
    return bool(connection.execute(query).rowcount)


def trim_runs(connection: Connection, trigger_id: str, keep: int, before: float) -> None:
    """Lets the oldest ended runs of a trigger go.

    Args:
        connection: Inside a transaction.
        trigger_id: The trigger.
        keep: Ended runs that stay.
        before: Unix seconds; what began later stays, because the rate limit counts it.
    """
    ended = (runs.c.trigger_id == trigger_id) & runs.c.finished_at.is_not(None)
    newest_gone = select(runs.c.seq).where(ended).order_by(runs.c.seq.desc()).offset(keep).limit(1).scalar_subquery()
    connection.execute(delete(runs).where(ended, runs.c.seq <= newest_gone, runs.c.started_at < before))


def list_runs(connection: Connection, trigger_id: str, limit: int, offset: int) -> list[RunRecord]:
    """A page of a trigger's runs, newest first."""
    query = select(runs).where(runs.c.trigger_id == trigger_id).order_by(runs.c.seq.desc()).limit(limit).offset(offset)
    return [RunRecord.of(row) for row in connection.execute(query)]
