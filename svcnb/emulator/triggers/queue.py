"""Per-trigger queues that execute runs. Each trigger with unfinished runs has a queue.

A queue executes the oldest unfinished run of its trigger. Then one transaction records the result and claims the next
run. The runs of a trigger therefore execute in sequence, in order of admission. A run that waits for a retry delays
only its own trigger. The queue does not poll: the admission of a run starts the queue, which ends after the last run.

The state of each run is in the database. At the start, the service opens a queue for each trigger with unfinished
runs. A run of a killed process is still marked as running, and the queue executes it again with the same id. Servers
that share the database use leases, so that only one server runs the queue of a trigger. The other servers check
regularly whether the lease is free.
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
from svcnb.emulator.platform.store import StatementRefused, Store, StoreUnavailable
from svcnb.emulator.triggers.encryption import DecryptionFailed, UsageKeyEncryption
from svcnb.emulator.triggers.execution import Execution, RunCall
from svcnb.emulator.triggers.outcomes import Answer, Verdict, judge
from svcnb.emulator.triggers.store import (
    RunRecord,
    TriggerRecord,
    empty_runs,
    find_trigger,
    from_json,
    oldest_open_run,
    trim_runs,
)
from svcnb.emulator.triggers.timing import Timer
from svcnb.emulator.triggers.transitions import Ended, claim, settle, settle_or_fail
from svcnb.protocol.limits import KEPT_TRIGGER_INPUT_BYTES, KEPT_TRIGGER_RUNS, RATE_WINDOW_S, RUN_RETRY_DELAYS_S

_LOG = logging.getLogger(__name__)
_STORE_RETRY_S: Final = 1.0
_TRIM_EVERY: Final = 64
_EMPTY_EVERY_BYTES: Final = 4 * 1024 * 1024
_LONGEST_PAUSE_S: Final = 60.0
NOT_BEGUN: Final = "the service could not start this run ({}); the log of the service contains the cause"
NOT_KEPT: Final = (
    "the run ended ({}), but the service could not store the result ({}); the log of the service contains the cause"
)
BROKEN: Final = "the service failed while it executed this run ({}); the log of the service contains the cause"


@dataclass(frozen=True)
class RetryPolicy:
    """Rules for retries of failed attempts of trigger runs.

    Attributes:
        retries: Maximum number of retries after the first attempt.
        retry_thrown: Whether to retry a run if its action throws an error.
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


class RunQueues:
    """Executor of runs, with one queue per trigger.

    Args:
        store: The database.
        clock: Clock for the timestamps of records and for retry delays.
        execution: Executor that sends the requests of runs.
        encryption: Cipher that decrypts the stored usage keys.
        policy: Rules for retries.
        workers: Maximum number of concurrent executions of all triggers. None means one execution for each trigger. The
            triggers of one owner can use at most three quarters of the workers (rounded up).
        kept_runs: Number of ended runs to keep per trigger. After every 64 ended runs, the queue deletes older runs.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        execution: Execution,
        *,
        encryption: UsageKeyEncryption,
        policy: RetryPolicy,
        workers: int | None = None,
        kept_runs: int = KEPT_TRIGGER_RUNS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._execution = execution
        self._encryption = encryption
        self._policy = policy
        self._timer = Timer(clock)
        self._workers = None if workers is None else FairLimit(workers, workers - workers // 4)
        self._queues: dict[str, asyncio.Task[None]] = {}
        self._asked: set[str] = set()
        self._executing: set[asyncio.Task[None]] = set()
        self._kept_runs = kept_runs
        self._ends: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._open = False

    @property
    def count(self) -> int:
        """Number of open queues on this server."""
        return len(self._queues)

    async def start(self) -> None:
        """Opens a queue for every trigger with unfinished runs."""
        self._open = True
        await self.look()

    async def look(self) -> None:
        """Opens a queue for every trigger that has unfinished runs, but no open queue on this server.

        For example, another server was killed before it executed these runs.
        """
        open_ones = "SELECT DISTINCT trigger_id FROM trigger_runs WHERE finished_at IS NULL"
        for trigger_id in await self._store.run(lambda connection: connection.column(open_ones)):
            self.wake(trigger_id)

    async def restart(self) -> None:
        """Restarts all waiting queues after a replacement of the database. Executions in progress finish normally."""
        self._open = False
        waiting = set(self._queues.values()) - self._executing
        for queue in waiting:
            queue.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        # A task that is cancelled before its first step cannot remove its own entry.
        self._queues = {trigger_id: queue for trigger_id, queue in self._queues.items() if not queue.done()}
        await self.start()

    def wake(self, trigger_id: str) -> None:
        """Starts the queue of a trigger. Call this method after the commit that admits a run or enables the trigger."""
        if not self._open:
            return
        self._asked.add(trigger_id)
        if trigger_id not in self._queues:
            queue = asyncio.create_task(self._run_queue(trigger_id), name=f"trigger {trigger_id}")
            self._queues[trigger_id] = queue

    async def stop(self, grace_s: float) -> None:
        """Stops all queues, and waits for executions in progress for at most ``grace_s`` seconds.

        Then cancels the executions that have not finished. The next start repeats them.
        """
        self._open = False
        queues = set(self._queues.values())
        for queue in queues - self._executing:
            queue.cancel()
        if self._executing:
            await asyncio.wait(set(self._executing), timeout=grace_s)
        for queue in queues:
            queue.cancel()
        await asyncio.gather(*queues, return_exceptions=True)
        self._queues.clear()
        self._asked.clear()

    # --- one queue ----------------------------------------------------------------------------------------------

    async def _run_queue(self, trigger_id: str) -> None:
        ended: Ended | None = None
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
        except Exception as error:  # noqa: BLE001 - unexpected, because `_step` and `_attempt` handle errors
            _log(
                f"the queue of trigger {trigger_id} stopped: the queued runs continue with the trigger's next run or "
                "after a restart of the emulator",
                error,
            )
        finally:
            # No await follows the last check of `_asked`, so no wake-up is lost.
            self._queues.pop(trigger_id, None)

    async def _step(self, trigger_id: str, ended: Ended | None) -> _Claimed | _Waiting | None:
        pause_s = _STORE_RETRY_S
        while True:
            try:
                # Shield this step. A stop cancels the queue, but the queue must still record the result of a finished
                # execution.
                work = partial(self._settle_and_claim, trigger_id=trigger_id, ended=ended)
                return await asyncio.shield(self._store.run_long(work))
            except Exception as error:  # noqa: BLE001 - the run must end and the queue continue after any error
                if _is_away(error):
                    # Retry until the database is available, so that the result of a finished execution is not lost.
                    _LOG.warning("the database is unavailable (%s): trigger %s waits", error, trigger_id)
                    await asyncio.sleep(_STORE_RETRY_S)
                    continue
                _log(f"the queue of trigger {trigger_id} could not store a result or start the next run", error)
                if await self._end_failed(trigger_id, ended, type(error).__name__):
                    ended, pause_s = None, _STORE_RETRY_S
                else:
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _end_failed(self, trigger_id: str, ended: Ended | None, problem: str) -> bool:
        """Ends a run after an unexpected error, so that the next run can begin. Returns whether the run has ended.

        The method ends the run in ``ended``. With None, the method ends the next run, which the queue could not start.
        ``problem`` is only the name of the exception, because the exception's message can contain data of the run.
        """
        work: Callable[[Connection], Exception | None]
        if ended is None:
            work = partial(_fail_next, trigger_id=trigger_id, error=NOT_BEGUN.format(problem), now=self._clock.now())
        else:
            # Use a separate transaction, because another statement of the failed transaction can be the cause.
            lost = Verdict("failed", error=NOT_KEPT.format(ended.verdict.status, problem))
            work = partial(settle_or_fail, ended=ended, lost=lost, now=self._clock.now())
        refused: Exception | None
        is_kept = True
        try:
            refused = await asyncio.shield(self._store.run_long(work))
        except Exception as error:  # noqa: BLE001 - the queue tries again
            refused, is_kept = error, False
        if refused is not None:
            _log(f"the result of a run of trigger {trigger_id} could not be stored", refused)
        return is_kept

    def _settle_and_claim(
        self, connection: Connection, trigger_id: str, ended: Ended | None
    ) -> _Claimed | _Waiting | None:
        now = self._clock.now()
        if ended is not None:
            settle(connection, ended, now)
            self._trim(connection, trigger_id, now)
            self._empty(connection, ended)
        step = self._next(connection, trigger_id, now) if self._open else None
        if step is None:
            leases.release(connection, _lease(trigger_id))
        return step

    def _next(self, connection: Connection, trigger_id: str, now: float) -> _Claimed | _Waiting | None:
        if not leases.take(connection, _lease(trigger_id)):
            return None  # another server runs this queue
        run = oldest_open_run(connection, trigger_id)
        if run is None:
            return None
        trigger = find_trigger(connection, trigger_id)
        if trigger is None or not trigger.enabled:
            return None
        # Ignore a time beyond the longest delay, which can exist after a user has set the clock back.
        if run.next_attempt_at is not None and now < run.next_attempt_at <= now + max(RUN_RETRY_DELAYS_S):
            return _Waiting(run.next_attempt_at, since=now)
        return _Claimed(claim(connection, run), trigger)

    def _trim(self, connection: Connection, trigger_id: str, now: float) -> None:
        # The check is slow for a long history, so perform it after the first run since the start, and then at
        # intervals.
        if self._ends[trigger_id] % _TRIM_EVERY == 0:
            trim_runs(connection, trigger_id, self._kept_runs, now - RATE_WINDOW_S)
        self._ends[trigger_id] += 1

    def _empty(self, connection: Connection, ended: Ended) -> None:
        """Deletes the inputs and responses of the oldest ended runs of the trigger's owner.

        To save time, does this only after every `_TRIM_EVERY` ended runs of the trigger, or when new inputs and
        responses have reached `_EMPTY_EVERY_BYTES` characters.
        """
        owner = ended.run.trigger_id
        self._bytes[owner] += len(ended.run.input or "") + len(ended.verdict.response or "")
        if self._bytes[owner] >= _EMPTY_EVERY_BYTES or self._ends[owner] % _TRIM_EVERY == 0:
            empty_runs(connection, owner, KEPT_TRIGGER_INPUT_BYTES)
            self._bytes[owner] = 0

    async def _attempt(self, claimed: _Claimed) -> Ended:
        try:
            return await self._executed(claimed)
        except Exception as error:  # noqa: BLE001 - the run must end after any error
            _log(f"run {claimed.run.id} could not be executed", error)
            return Ended(claimed.run, Verdict("failed", error=BROKEN.format(type(error).__name__)))

    async def _executed(self, claimed: _Claimed) -> Ended:
        run, trigger = claimed.run, claimed.trigger
        current_account.set(trigger.user_id)
        try:
            usage_key = self._encryption.decrypt(trigger.sealed_usage_key, trigger.id)
            if len(trigger.default_params) + len(run.input or "") > LARGE_BYTES:
                given = await offload(_params_of, trigger, run)
            else:
                given = _params_of(trigger, run)
            call = RunCall(run.id, usage_key, trigger.action_code, given)
        except DecryptionFailed as error:
            return Ended(run, Verdict("failed", error=str(error)))
        async with AsyncExitStack() as held:
            if self._workers is not None:
                await held.enter_async_context(self._workers.hold(trigger.user_id))
            queue = self._queues[trigger.id]
            self._executing.add(queue)
            try:
                answer = await self._answer(call)
            finally:
                self._executing.discard(queue)
        policy = self._policy
        work = partial(judge, answer, run.attempt, retries=policy.retries, retry_thrown=policy.retry_thrown)
        return Ended(run, await offload(work) if is_large(answer.body) else work())

    async def _answer(self, call: RunCall) -> Answer:
        try:
            return await self._execution(call)
        except Exception as error:  # noqa: BLE001 - the run must end after any error
            _LOG.exception("run %s could not be executed", call.run_id)
            return Answer(None, trouble=f"the call failed: {type(error).__name__}")


def _is_away(error: Exception) -> bool:
    """Returns whether an error means that the database is unavailable, so that the same work can succeed later."""
    return isinstance(error, StoreUnavailable) and not isinstance(error, StatementRefused)


def _log(what: str, error: Exception) -> None:
    """Logs an unexpected error. The traceback of a database error is omitted, because it can contain user data."""
    if isinstance(error, DatabaseError):
        _LOG.error("%s: %s: %s", what, type(error.__cause__).__name__, error)
    else:
        _LOG.error("%s", what, exc_info=error)


def _lease(trigger_id: str) -> str:
    return f"trigger {trigger_id}"


def _params_of(trigger: TriggerRecord, run: RunRecord) -> dict[str, Any]:
    return params(from_json(trigger.default_params), from_json(run.input))


def params(defaults: Any, given: Any) -> dict[str, Any]:
    """Merges the run's input into the default params at the top level, and returns the action's input.

    An input that is not a JSON object becomes the field ``event`` of the action's input.

    Source: docs/service/triggers.md#runs-of-a-trigger.
    """
    merged = dict(defaults) if isinstance(defaults, dict) else {}
    merged.update(given if isinstance(given, dict) else {"event": given})
    return merged


def _fail_next(connection: Connection, trigger_id: str, error: str, now: float) -> None:
    if leases.take(connection, _lease(trigger_id)) and (run := oldest_open_run(connection, trigger_id)) is not None:
        settle(connection, Ended(run, Verdict("failed", error=error)), now)
