"""State changes of runs in the database. Call each function inside a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import is_refusal
from svcnb.emulator.triggers.outcomes import Verdict
from svcnb.emulator.triggers.store import RunRecord, change_run

INTERRUPTED: Final = "the service stopped during this run; the run is executed again"


@dataclass(frozen=True)
class Ended:
    """Ended attempt of a run.

    Attributes:
        run: Record of the run at the start of the attempt.
        verdict: Result of the attempt.
    """

    run: RunRecord
    verdict: Verdict


def settle_or_fail(connection: Connection, ended: Ended, lost: Verdict, now: float) -> Exception | None:
    """Records the result of an attempt. If the database rejects the result, records a replacement instead.

    Call this function in a new transaction, after the failure of a transaction that contained `settle`. Another
    statement of that transaction can be the cause of the failure, so the function first calls `settle` again.

    Args:
        connection: Connection inside a transaction.
        ended: The ended attempt.
        lost: Result to record instead.
        now: Current time of the emulator's clock, in Unix seconds.

    Returns:
        The error with which the database rejected the result, or None.
    """
    try:
        with connection.savepoint():
            settle(connection, ended, now)
    except Exception as error:
        if not is_refusal(error):
            raise
        settle(connection, Ended(ended.run, lost), now)
        return error
    return None


def claim(connection: Connection, run: RunRecord) -> RunRecord:
    """Records the start of an attempt, and returns the updated run.

    The function counts a retry as a new attempt. If a stop of the service interrupted an attempt, the function counts
    an interruption and keeps the number of the attempt.
    """
    changes: dict[str, Any] = {"status": "running", "next_attempt_at": None}
    if run.status == "retrying":
        changes["attempt"] = run.attempt + 1
    elif run.status == "running":
        # A run has this status only after a stop of the service, so repeat the interrupted attempt.
        changes |= {"interruptions": run.interruptions + 1, "error": INTERRUPTED}
    change_run(connection, "seq = :of", changes, of=run.seq)
    return RunRecord(**(run.__dict__ | changes))


def settle(connection: Connection, ended: Ended, now: float) -> None:
    """Records the result of an attempt. A retry starts ``delay_s`` seconds later.

    Does nothing if the run no longer exists or has already ended.

    Args:
        connection: Connection inside a transaction.
        ended: The ended attempt.
        now: Current time of the emulator's clock, in Unix seconds.
    """
    verdict = ended.verdict
    if verdict.status == "retrying":
        values = {"status": "retrying", "error": verdict.error, "next_attempt_at": now + verdict.delay_s}
    else:
        values = {
            "status": verdict.status,
            "response": verdict.response,
            "error": verdict.error,
            "finished_at": now,
            "next_attempt_at": None,
        }
    # The run no longer exists after a deletion of its trigger, or after the restore of a snapshot without this run.
    change_run(connection, "id = :of AND finished_at IS NULL", values, of=ended.run.id)
