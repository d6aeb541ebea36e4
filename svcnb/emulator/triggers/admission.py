"""Admission of runs: one database transaction checks the limits and creates a queued run.

After the commit, the service executes the run, even if the service crashes before the execution. Before the commit, the
run does not exist.

Source: docs/service/triggers.md#errors, docs/service/triggers.md#runs-of-a-trigger.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

from svcnb.emulator.platform.database import POSTGRESQL, Connection
from svcnb.emulator.platform.rate_limiter import CLOCK_DIFFERENCE_S
from svcnb.emulator.triggers.errors import Refused, limited
from svcnb.emulator.triggers.store import SIZED, TriggerRecord, trigger_bytes
from svcnb.protocol.limits import (
    DEFAULT_QUEUED_RUNS,
    DEFAULT_RUNS_PER_MINUTE,
    MAX_OPEN_INPUT_BYTES,
    MAX_TRIGGERS_BYTES,
    RATE_WINDOW_S,
    TRIGGER_BYTES,
)

_NAMESPACE: Final = uuid.UUID("6f0c1a52-5d0f-5a3e-9a53-0f4b6b1f1e0d")


def run_id(trigger_id: str, cause: str) -> str:
    """Returns the id of the run for a cause, for example a scheduled time or an event log of a chain.

    The run of a cause always has the same id, so a cause starts only one run of a trigger.
    """
    return str(uuid.uuid5(_NAMESPACE, f"{trigger_id}\n{cause}"))


def room(connection: Connection, trigger: TriggerRecord) -> int:
    """Returns how many more unfinished runs a trigger can have. The limit is ``max_queued_runs`` (None means 100)."""
    open_ones = "SELECT count(*) FROM trigger_runs WHERE trigger_id = :id AND finished_at IS NULL"
    return max(0, _queue_limit(trigger) - int(connection.value(open_ones, id=trigger.id)))


def _queue_limit(trigger: TriggerRecord) -> int:
    return DEFAULT_QUEUED_RUNS if trigger.max_queued_runs is None else trigger.max_queued_runs


def require_room(connection: Connection, trigger: TriggerRecord) -> None:
    """Rejects a run if the trigger already has ``max_queued_runs`` unfinished runs (None means 100).

    Raises:
        Refused: 429 ``queue_depth_exceeded`` if the trigger has reached this limit.
    """
    if room(connection, trigger) == 0:
        raise limited(
            "queue_depth_exceeded",
            f"the trigger has reached its limit of {_queue_limit(trigger)} queued and running runs (max_queued_runs): "
            "wait until a run has ended",
            1,
        )


def require_rate(connection: Connection, trigger: TriggerRecord, now: float) -> None:
    """Rejects a webhook run if the trigger has reached ``max_runs_per_minute`` (None means 60) in the last 60 s.

    Args:
        connection: Connection inside a transaction.
        trigger: Webhook trigger.
        now: Current time of the emulator's clock, in Unix seconds.

    Raises:
        Refused: 429 ``trigger_rate_limited`` if the trigger has reached this limit.
    """
    limit = DEFAULT_RUNS_PER_MINUTE if trigger.max_runs_per_minute is None else trigger.max_runs_per_minute
    # Ignore runs with a start time in the future, which exist after a user has set the clock back.
    lately = (
        "SELECT count(*) FROM trigger_runs WHERE trigger_id = :id AND source = 'webhook' "
        "AND started_at > :since AND started_at <= :until"
    )
    counted = connection.value(lately, id=trigger.id, since=now - RATE_WINDOW_S, until=now + CLOCK_DIFFERENCE_S)
    if counted >= limit:
        raise limited(
            "trigger_rate_limited",
            f"the trigger has reached its limit of {limit} webhook runs per minute (max_runs_per_minute): wait for the "
            "number of seconds in Retry-After",
            RATE_WINDOW_S,
        )


def is_admitted(connection: Connection, identifier: str) -> bool:
    """Returns whether a run with this id exists."""
    return bool(connection.rows("SELECT 1 FROM trigger_runs WHERE id = :id", id=identifier))


def require_room_for_input(connection: Connection, trigger: TriggerRecord, input_json: str) -> None:
    """Rejects a run if its input and the inputs of the owner's unfinished runs are too large in total.

    Raises:
        Refused: 429 ``queue_depth_exceeded``.
    """
    held = connection.value(
        """
        SELECT coalesce(sum(length(input)), 0) FROM trigger_runs
        WHERE finished_at IS NULL AND trigger_id IN (SELECT id FROM triggers WHERE user_id = :user_id)
        """,
        user_id=trigger.user_id,
    )
    if int(held) + len(input_json) > MAX_OPEN_INPUT_BYTES:
        raise limited(
            "queue_depth_exceeded",
            f"the input of this run has {len(input_json)} bytes, and the inputs of the owner's unfinished runs have "
            f"{held} bytes: the limit for both together is {MAX_OPEN_INPUT_BYTES} bytes. Wait until some runs have "
            "ended, or send less data.",
            1,
        )


def require_room_for_trigger(connection: Connection, values: dict[str, Any]) -> None:
    """Rejects a new or changed trigger if the stored texts of all triggers of its owner are too long in total.

    Args:
        connection: Connection inside a transaction.
        values: New values of the trigger, by column.

    Raises:
        Refused: 413 ``triggers_too_large``.
    """
    length = "octet_length({})" if connection.kind == POSTGRESQL else "length(CAST({} AS BLOB))"
    sizes = " + ".join(f"coalesce({length.format(name)}, 0)" for name in SIZED)
    held = connection.value(
        f"SELECT coalesce(sum({sizes} + :each), 0) FROM triggers WHERE user_id = :user_id AND id <> :id",  # noqa: S608 - no user input
        user_id=values["user_id"],
        id=values["id"],
        each=TRIGGER_BYTES,
    )
    size = TRIGGER_BYTES + trigger_bytes(values)
    if int(held) + size > MAX_TRIGGERS_BYTES:
        raise Refused(
            413,
            "triggers_too_large",
            f"this trigger has {size} bytes, and your other triggers have {held} bytes: together, at most "
            f"{MAX_TRIGGERS_BYTES} bytes are allowed. The size of a trigger includes its code, params, settings, "
            f"name, key and address, and {TRIGGER_BYTES} additional bytes. Delete unused triggers, or send less data.",
        )


def admit(connection: Connection, trigger: TriggerRecord, identifier: str, input_json: str, now: float) -> None:
    """Creates a queued run. The transaction must already have checked the limits.

    Args:
        connection: Connection inside the transaction.
        trigger: Trigger of the run.
        identifier: Id of the run, for example from `run_id`.
        input_json: Input of the run, as JSON text.
        now: Current time of the emulator's clock, in Unix seconds.
    """
    connection.insert(
        "trigger_runs",
        id=identifier,
        trigger_id=trigger.id,
        source=trigger.kind,
        status="queued",
        attempt=1,
        interruptions=0,
        input=input_json,
        started_at=now,
    )
