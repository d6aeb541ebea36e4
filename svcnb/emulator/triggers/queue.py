"""Per-trigger queues that execute runs. Each trigger with unfinished runs has one.

A queue executes its trigger's oldest unfinished run. One transaction records how the run ended and claims the next one.
The queue continues until no run is left. So the runs of a trigger execute one after another, in the order of their
admission. A run that waits for its retry delays only its own trigger. There is no polling: a queue starts when a run is
admitted, and ends when the trigger has no runs left.

All state that matters is in the database. At start, a queue opens for each trigger with unfinished runs. A run that a
kill interrupted is still marked as running, and is executed again under the same id. Servers that share the database
use leases: only one of them has the queue of a trigger open. The others regularly check whether it still has.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from svcnb.emulator.platform import leases
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection, DatabaseError
from svcnb.emulator.platform.fair_limit import FairLimit
from svcnb.emulator.platform.offload import LARGE_BYTES, current_account, is_large, offload
from svcnb.emulator.platform.store import StatementRefused, Store, StoreUnavailable, is_refusal
from svcnb.emulator.triggers.admission import RATE_WINDOW_S
from svcnb.emulator.triggers.encryption import Seal, SealBroken
from svcnb.emulator.triggers.execution import Execution, RunCall
from svcnb.emulator.triggers.outcomes import Answer, Verdict, judge
from svcnb.emulator.triggers.store import (
    RunRecord,
    TriggerRecord,
    change_run,
    empty_runs,
    find_trigger,
    from_json,
    oldest_open_run,
    trim_runs,
)
from svcnb.emulator.triggers.timing import Timer
from svcnb.protocol.limits import KEPT_TRIGGER_INPUT_BYTES, KEPT_TRIGGER_RUNS, RUN_RETRY_DELAYS_S

_LOG = logging.getLogger(__name__)
_STORE_RETRY_S: Final = 1.0
_TRIM_EVERY: Final = 64
_EMPTY_EVERY_BYTES: Final = 4 * 1024 * 1024
_LONGEST_PAUSE_S: Final = 60.0
INTERRUPTED: Final = "cut off by a stop of the service, executed again"
NOT_BEGUN: Final = "the service could not begin this run ({}); its log says why"
NOT_KEPT: Final = "the run ended ({}), and the service could not write down how ({}); its log says why"
BROKEN: Final = "the service failed while it executed this run ({}); its log says why"


@dataclass(frozen=True)
class RetryPolicy:
    """Rules for retries of failed attempts.

    Attributes:
        retries: Retries after the first attempt.
        retry_thrown: Whether an action that throws is retried.
    """

    retries: int
    retry_thrown: bool


@dataclass(frozen=True)
class _Claimed:
    run: RunRecord
    trigger: TriggerRecord


@dataclass(frozen=True)
class _Waiting:
    until: float
    since: float


@dataclass(frozen=True)
class _Ended:
    run: RunRecord
    verdict: Verdict


class Lanes:
    """Executor of runs, with one queue per trigger.

    Args:
        store: The database.
        clock: The time for records and retry delays.
        execution: Executes calls.
        seal: Decrypts usage keys.
        policy: Rules for retries.
        workers: Maximum of executions at the same time over all triggers. None means one per trigger. Of four and more,
            a quarter is reserved for owners who do not use all the others already.
        kept_runs: How many ended runs of a trigger are kept.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        execution: Execution,
        *,
        seal: Seal,
        policy: RetryPolicy,
        workers: int | None = None,
        kept_runs: int = KEPT_TRIGGER_RUNS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._execution = execution
        self._seal = seal
        self._policy = policy
        self._timer = Timer(clock)
        self._workers = None if workers is None else FairLimit(workers, workers - workers // 4)
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._asked: set[str] = set()
        self._executing: set[asyncio.Task[None]] = set()
        self._kept_runs = kept_runs
        self._ends: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._open = False

    @property
    def lanes(self) -> int:
        """How many triggers have unfinished runs that this server executes."""
        return len(self._lanes)

    async def start(self) -> None:
        """Opens a queue for every trigger with unfinished runs."""
        self._open = True
        await self.look()

    async def look(self) -> None:
        """Opens queues that are missing, such as those of a server that was killed."""
        open_ones = "SELECT DISTINCT trigger_id FROM trigger_runs WHERE finished_at IS NULL"
        for trigger_id in await self._store.run(lambda connection: connection.column(open_ones)):
            self.wake(trigger_id)

    async def restart(self) -> None:
        """Restarts all waiting queues after the database was exchanged. Executions under way finish normally."""
        self._open = False
        waiting = set(self._lanes.values()) - self._executing
        for lane in waiting:
            lane.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        # A task that was woken in the same step of the event loop never started, so it did not remove its own entry.
        self._lanes = {trigger_id: lane for trigger_id, lane in self._lanes.items() if not lane.done()}
        await self.start()

    def wake(self, trigger_id: str) -> None:
        """Starts the queue of a trigger. Called after the commit that admitted a run or enabled the trigger."""
        if not self._open:
            return
        self._asked.add(trigger_id)
        if trigger_id not in self._lanes:
            lane = asyncio.create_task(self._lane(trigger_id), name=f"trigger {trigger_id}")
            self._lanes[trigger_id] = lane

    async def stop(self, grace_s: float) -> None:
        """Stops taking runs, and waits for those under way.

        Args:
            grace_s: Seconds to wait. Runs that are interrupted then run again after the next start.
        """
        self._open = False
        lanes = set(self._lanes.values())
        for lane in lanes - self._executing:
            lane.cancel()
        if self._executing:
            await asyncio.wait(set(self._executing), timeout=grace_s)
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
        self._lanes.clear()
        self._asked.clear()

    # --- one queue ----------------------------------------------------------------------------------------------

    async def _lane(self, trigger_id: str) -> None:
        ended: _Ended | None = None
        try:
            while True:
                self._asked.discard(trigger_id)
                step = await self._step(trigger_id, ended)
                ended = None
                if isinstance(step, _Claimed):
                    ended = await self._attempt(step)
                elif isinstance(step, _Waiting) and self._open:
                    await self._timer.until(step.until, since=step.since)
                elif trigger_id not in self._asked or not self._open:
                    return
        except Exception as error:  # noqa: BLE001 - failures of a run are handled below, so this should not happen
            _log(f"the runs of trigger {trigger_id} stopped; they go on with its next run or the next start", error)
        finally:
            # There is no await after the last check of `_asked`, so no wake-up is lost.
            self._lanes.pop(trigger_id, None)

    async def _step(self, trigger_id: str, ended: _Ended | None) -> _Claimed | _Waiting | None:
        pause_s = _STORE_RETRY_S
        while True:
            try:
                # Shielded: a stop that cancels the queue must not undo the recorded end of a finished execution.
                work = partial(self._settle_and_claim, trigger_id=trigger_id, ended=ended)
                return await asyncio.shield(self._store.run(work))
            except Exception as error:  # noqa: BLE001 - the run must end and the queue continue after any error
                if _is_away(error):
                    # The result of a finished execution must not be lost while the database is unavailable.
                    _LOG.warning("the database is away (%s): trigger %s waits", error, trigger_id)
                    await asyncio.sleep(_STORE_RETRY_S)
                    continue
                _log(f"the runs of trigger {trigger_id} cannot go on as they should", error)
                if await self._rescue(trigger_id, ended, type(error).__name__):
                    ended, pause_s = None, _STORE_RETRY_S
                else:
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _rescue(self, trigger_id: str, ended: _Ended | None, problem: str) -> bool:
        """Ends a run after an unexpected error, so that the next one can begin.

        Args:
            trigger_id: The trigger of the run.
            ended: The run that was executed, and how it ended. None if the next run could not be started.
            problem: The name of the error. Its text may contain data of the run and is only logged.

        Returns:
            Whether the end was recorded.
        """
        work: Callable[[Connection], Exception | None]
        if ended is None:
            work = partial(_fail_next, trigger_id=trigger_id, error=NOT_BEGUN.format(problem), now=self._clock.now())
        else:
            # In a transaction of its own: another statement of the failed transaction may have caused the error.
            lost = Verdict("failed", error=NOT_KEPT.format(ended.verdict.status, problem))
            work = partial(_settle_or_lose, ended=ended, lost=lost, now=self._clock.now())
        refused: Exception | None
        is_kept = True
        try:
            refused = await asyncio.shield(self._store.run(work))
        except Exception as error:  # noqa: BLE001 - the queue tries again, from the beginning
            refused, is_kept = error, False
        if refused is not None:
            _log(f"a run of trigger {trigger_id} cannot be written down", refused)
        return is_kept

    def _settle_and_claim(
        self, connection: Connection, trigger_id: str, ended: _Ended | None
    ) -> _Claimed | _Waiting | None:
        now = self._clock.now()
        if ended is not None:
            _settle(connection, ended, now)
            self._trim(connection, trigger_id, now)
            self._empty(connection, ended)
        step = self._next(connection, trigger_id, now) if self._open else None
        if step is None:
            leases.give_back(connection, _lease(trigger_id))
        return step

    def _next(self, connection: Connection, trigger_id: str, now: float) -> _Claimed | _Waiting | None:
        if not leases.take(connection, _lease(trigger_id)):
            return None  # another server's queue executes it
        run = oldest_open_run(connection, trigger_id)
        if run is None:
            return None
        trigger = find_trigger(connection, trigger_id)
        if trigger is None or not trigger.enabled:
            return None
        # A time beyond the longest delay was set before the clock was set back.
        if run.next_attempt_at is not None and now < run.next_attempt_at <= now + max(RUN_RETRY_DELAYS_S):
            return _Waiting(run.next_attempt_at, since=now)
        return _Claimed(_claim(connection, run), trigger)

    def _trim(self, connection: Connection, trigger_id: str, now: float) -> None:
        # The check is expensive for a long history: do it at the first end after a start, and then regularly.
        if self._ends[trigger_id] % _TRIM_EVERY == 0:
            trim_runs(connection, trigger_id, self._kept_runs, now - RATE_WINDOW_S)
        self._ends[trigger_id] += 1

    def _empty(self, connection: Connection, ended: _Ended) -> None:
        """Deletes inputs and responses of the oldest ended runs once enough new ones have accumulated."""
        owner = ended.run.trigger_id
        self._bytes[owner] += len(ended.run.input or "") + len(ended.verdict.response or "")
        if self._bytes[owner] >= _EMPTY_EVERY_BYTES or self._ends[owner] % _TRIM_EVERY == 0:
            empty_runs(connection, owner, KEPT_TRIGGER_INPUT_BYTES)
            self._bytes[owner] = 0

    async def _attempt(self, claimed: _Claimed) -> _Ended:
        try:
            return await self._executed(claimed)
        except Exception as error:  # noqa: BLE001 - the run must end after any error
            _log(f"run {claimed.run.id} could not be executed", error)
            return _Ended(claimed.run, Verdict("failed", error=BROKEN.format(type(error).__name__)))

    async def _executed(self, claimed: _Claimed) -> _Ended:
        run, trigger = claimed.run, claimed.trigger
        current_account.set(trigger.user_id)
        try:
            usage_key = self._seal.open(trigger.sealed_usage_key, trigger.id)
            if len(trigger.default_params) + len(run.input or "") > LARGE_BYTES:
                given = await offload(_params_of, trigger, run)
            else:
                given = _params_of(trigger, run)
            call = RunCall(run.id, usage_key, trigger.action_code, given)
        except SealBroken as error:
            return _Ended(run, Verdict("failed", error=str(error)))
        async with AsyncExitStack() as held:
            if self._workers is not None:
                await held.enter_async_context(self._workers.hold(trigger.user_id))
            lane = self._lanes[trigger.id]
            self._executing.add(lane)
            try:
                answer = await self._answer(call)
            finally:
                self._executing.discard(lane)
        policy = self._policy
        work = partial(judge, answer, run.attempt, retries=policy.retries, retry_thrown=policy.retry_thrown)
        return _Ended(run, await offload(work) if is_large(answer.body) else work())

    async def _answer(self, call: RunCall) -> Answer:
        try:
            return await self._execution(call)
        except Exception as error:  # noqa: BLE001 - the run must end after any error
            _LOG.exception("run %s could not be called", call.run_id)
            return Answer(None, trouble=f"the call failed: {type(error).__name__}")


def _is_away(error: Exception) -> bool:
    """Whether the database is only temporarily unavailable."""
    return isinstance(error, StoreUnavailable) and not isinstance(error, StatementRefused)


def _log(what: str, error: Exception) -> None:
    """Logs an unexpected error. For a database error, omits the driver's text, which may contain data of the row."""
    if isinstance(error, DatabaseError):
        _LOG.error("%s: %s: %s", what, type(error.__cause__).__name__, error)
    else:
        _LOG.error("%s", what, exc_info=error)


def _lease(trigger_id: str) -> str:
    return f"trigger {trigger_id}"


def _params_of(trigger: TriggerRecord, run: RunRecord) -> dict[str, Any]:
    return params(from_json(trigger.default_params), from_json(run.input))


def params(defaults: Any, given: Any) -> dict[str, Any]:
    """Input of the action: the run's input merged over the trigger's default params, at the top level (facts 10.2)."""
    merged = dict(defaults) if isinstance(defaults, dict) else {}
    merged.update(given if isinstance(given, dict) else {"event": given})
    return merged


def _fail_next(connection: Connection, trigger_id: str, error: str, now: float) -> None:
    if leases.take(connection, _lease(trigger_id)) and (run := oldest_open_run(connection, trigger_id)) is not None:
        _settle(connection, _Ended(run, Verdict("failed", error=error)), now)


def _settle_or_lose(connection: Connection, ended: _Ended, lost: Verdict, now: float) -> Exception | None:
    """Records how a run ended. If the database refuses that, records that the result is lost, and returns the error.

    Both happen in one transaction. If another transaction came between them, the cause of the refusal might be gone.
    """
    try:
        with connection.savepoint():
            _settle(connection, ended, now)
    except Exception as error:
        if not is_refusal(error):
            raise
        _settle(connection, _Ended(ended.run, lost), now)
        return error
    return None


def _claim(connection: Connection, run: RunRecord) -> RunRecord:
    changes: dict[str, Any] = {"status": "running", "next_attempt_at": None}
    if run.status == "retrying":
        changes["attempt"] = run.attempt + 1
    elif run.status == "running":
        # Only a stop of the service leaves a run in this state. It was interrupted, and its attempt is repeated.
        changes |= {"interruptions": run.interruptions + 1, "error": INTERRUPTED}
    change_run(connection, "seq = :of", changes, of=run.seq)
    return RunRecord(**(run.__dict__ | changes))


def _settle(connection: Connection, ended: _Ended, now: float) -> None:
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
    # If the trigger was deleted during the run, its runs are gone. A restored snapshot may not contain this run.
    change_run(connection, "id = :of AND finished_at IS NULL", values, of=ended.run.id)
