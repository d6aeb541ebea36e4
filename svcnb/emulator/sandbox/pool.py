"""Pool of isolates that start and warm up in advance."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

from svcnb.emulator.platform.reachable import Reachable, is_stopped
from svcnb.emulator.sandbox.isolate import Isolate, ProcessorUse, StartFailed, processor_fractions
from svcnb.emulator.sandbox.process import ProcessHost
from svcnb.emulator.sandbox.protocol import EngineUnavailable
from svcnb.emulator.sandbox.scheduler import Shares

_LOG = logging.getLogger(__name__)

_START_S = 30.0
_FAILURES_TO_OPEN = 5
_ANSWER_S = 2.0  # a working spawner responds to a ping within milliseconds
_OPEN_S = 60.0  # docs/service/runtime.md#processes-and-caches
_GROWTH = 4
_SHRINK_AFTER_S = 30.0
_HEAD_START_S = 0.01
_WARMING_S = 0.08  # processor time that a spare uses before its first job
# Wait of a run before another process starts. If another run ends within this time, the waiting run uses that process.
_QUEUE_CHECK_S = 0.05
# If processes run or wait for a core for more than this fraction of the time, the processor limits them, and more
# processes do not help.
_WORKING = 0.5
# After this number of checks in which runs waited and no run ended, the pool starts another process in any case.
_STALLS = 10


class _Waiting(NamedTuple):
    """Run that waits for an isolate, with the start time of the wait."""

    account: str
    place: asyncio.Future[Isolate]
    since: float


@dataclass(eq=False, repr=False)
class Pool:
    """Pool of warmed-up isolates. Each isolate executes one run, unless ``reuse`` is set.

    If ``spares`` is two or more, the pool reserves the last spare (warmed-up isolate) for accounts whose recent use is
    not clearly above average. While several accounts are active, an account with another unfinished run does not
    receive this spare.

    Attributes:
        new_host: Coroutine function that creates the host of the processes, at the start and after each loss of a host.
        spares: Number of warmed-up isolates to keep. If too few are left, the pool keeps more for at least half a
            minute, up to four times this value.
        shares: Record of the recent use by each account.
        runs_of: Function that returns the number of unfinished runs of an account, including waiting runs.
        reuse: Whether callers return isolates with `give`. Isolates in use then count towards ``spares``. The pool
            starts more isolates only if runs have to wait although the processor is not busy.
        idle: Number of isolates before the first run and after half a minute without a run. None means ``spares``.
            With 0, the host also stops its template process.
        rest_s: Seconds without a run after which the pool closes all isolates until the next run. None means never.
        clock: Monotonic clock that returns seconds.
        started: Number of isolates started so far.
    """

    new_host: Callable[[Callable[[], None]], Awaitable[ProcessHost]]
    _: KW_ONLY
    spares: int
    shares: Shares
    runs_of: Callable[[str], int] = lambda _: 1
    reuse: bool = False
    idle: int | None = None
    rest_s: float | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._idle = self.spares if self.idle is None else self.idle
        self._target = 0
        self._host: ProcessHost | None = None
        self._creation = asyncio.Lock()
        self._lent: set[Isolate] = set()
        self._returned = 0
        self._stalled = 0
        self._queue_check: asyncio.TimerHandle | None = None
        self._reserve = min(1, self.spares - 1)
        self._ready: deque[Isolate] = deque()
        self._waiting: list[_Waiting] = []
        self._starting: set[asyncio.Task[None]] = set()
        # On two cores, two processes start at a time. More processes delay each other.
        self._max_starting = max(2, os.cpu_count() or 2)
        self._failures, self._last_failure = 0, ""
        self._open_until = 0.0
        self._last_low = self._last_used = 0.0
        self._refill: asyncio.TimerHandle | None = None
        self._shrink_timer: asyncio.TimerHandle | None = None
        self._stopped = True
        self._reachable = Reachable(self._host_answers, clock=self.clock)
        self.started = 0

    @property
    def ready(self) -> int:
        """Number of available spares."""
        return sum(isolate.usable for isolate in self._ready)

    @property
    def waiting(self) -> int:
        """Number of runs that wait for an isolate."""
        return len(self._waiting)

    @property
    def available(self) -> bool:
        """Whether the pool runs and can start isolates. False for a minute after repeated failures."""
        return not self._stopped and self.clock() >= self._open_until

    async def reachable(self) -> bool:
        """Returns whether the pool can execute runs.

        The result is False if the running spawner does not respond, or if a signal has stopped a spare. If the spawner
        is not running, the result can be True, because the next run starts the spawner.
        """
        if not self.available or any(is_stopped(isolate.pid) for isolate in self._ready):
            return False
        if self._host is None or not self._host.alive:
            return True  # the pool starts the spawner for the next run
        return await self._reachable.now(self._host.pid)

    async def _host_answers(self) -> bool:
        return self._host is not None and await self._host.answers(_ANSWER_S)

    def start(self, spares: int | None = None) -> None:
        """Starts to fill the pool in the background.

        Args:
            spares: Initial number of isolates. None means the number ``idle``. A later call can increase the number,
                but not decrease it.
        """
        self._stopped = False
        self._last_used = self.clock()
        self._target = max(self._target, self._idle if spares is None else spares)
        self._fill()

    async def stop(self) -> None:
        """Stops all processes, including busy processes. In waiting callers, `take` raises `EngineUnavailable`."""
        self._stopped = True
        for timer in (self._shrink_timer, self._refill, self._queue_check):
            if timer is not None:
                timer.cancel()
        self._shrink_timer = self._refill = self._queue_check = None
        self._refuse_waiting("the engine was stopped")
        await self._reachable.close()
        for task in list(self._starting):
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        while self._ready:
            self._ready.popleft().close()
        host, self._host = self._host, None
        if host is not None:
            await host.stop()

    async def take(self, account: str = "") -> Isolate:
        """Returns a warmed-up isolate for one run. The caller must close the isolate or return it with `give`.

        Args:
            account: Account of the run. The account with the lowest recent use receives the next isolate.

        Raises:
            EngineUnavailable: The pool is not running, or cannot start an isolate.
        """
        if not self.available:
            raise EngineUnavailable(self._last_failure or "the engine is not running")
        self._last_used = self.clock()
        was_idle = self._target < self.spares
        self._target = max(self._target, self.spares)
        for isolate in [isolate for isolate in self._ready if not isolate.usable]:
            self._ready.remove(isolate)
            isolate.close()
        if self._can_serve(account):
            return self._hand_out(account)
        place: asyncio.Future[Isolate] = asyncio.get_running_loop().create_future()
        entry = _Waiting(account, place, self.clock())
        self._waiting.append(entry)
        if self.reuse:
            self._schedule_queue_check()
        elif not was_idle:
            self._grow()
        self._fill()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.give(place.result(), again=True)
            raise
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)

    def give(self, isolate: Isolate, *, again: bool) -> None:
        """Returns an isolate from `take` to the pool.

        Args:
            isolate: Isolate to return.
            again: Whether the isolate can execute another run. Otherwise, the pool closes it.
        """
        self._lent.discard(isolate)
        self._returned += 1
        if again and isolate.usable and not self._stopped:
            isolate.detach()
            self._ready.append(isolate)
            self._serve()
            self._schedule_shrink()
        else:
            isolate.close()
        self._fill()

    def _can_serve(self, account: str) -> bool:
        ready = len(self._ready)
        if ready == 0 or ready > self._reserve:
            return ready > 0
        return not self.shares.exceeds_average(account) and (self.runs_of(account) <= 1 or not self.shares.is_shared)

    def _hand_out(self, account: str) -> Isolate:
        isolate = self._ready.popleft()
        if self.reuse:
            self._lent.add(isolate)
            return isolate
        self.shares.add(account, _WARMING_S)
        if len(self._ready) <= self._reserve:
            self._grow()
        self._fill_soon()
        return isolate

    def _grow(self) -> None:
        """Increases the number of spares when too few are left, because a warm-up takes longer than most runs."""
        self._last_low = self.clock()
        self._target = min(self._target + 1, self.spares * _GROWTH)

    def _schedule_queue_check(self) -> None:
        if self._queue_check is None and self._waiting and not self._stopped:
            before = {isolate: isolate.processor() for isolate in self._lent}
            self._queue_check = asyncio.get_running_loop().call_later(
                _QUEUE_CHECK_S, self._check_queue, self.clock(), self._returned, before
            )

    def _check_queue(self, at: float, returned: int, before: dict[Isolate, ProcessorUse | None]) -> None:
        """Starts another process if a run has waited for `_QUEUE_CHECK_S` seconds and another process can help."""
        self._queue_check = None
        now = self.clock()
        self._stalled = self._stalled + 1 if before and self._returned == returned else 0
        if self._waiting and now - self._waiting[0].since >= _QUEUE_CHECK_S:
            used, wanted = processor_fractions(before, now - at)
            # A starting process delays other processes. If this check is late, the processor is too busy.
            is_waiting = wanted < _WORKING and not self._starting and now - at < 2 * _QUEUE_CHECK_S
            is_long = self._stalled > 0 and (used > _WORKING or self._stalled >= _STALLS)
            if is_waiting or is_long:
                self._grow()
                self._fill()
        self._schedule_queue_check()

    def _fill_soon(self) -> None:
        """Fills the pool. If spares are left, waits first, because starting a process occupies a core."""
        if not self._ready:
            self._fill()
        elif self._refill is None:
            self._refill = asyncio.get_running_loop().call_later(_HEAD_START_S, self._fill)

    def _fill(self) -> None:
        if self._refill is not None:
            self._refill.cancel()
            self._refill = None
        if self._stopped or self.clock() < self._open_until:
            return
        can_wait = self._can_wait()
        # The first process writes the code cache, so that later processes start in half the time. Simultaneous
        # processes also have to compile the code.
        at_once = 1 if can_wait or not self.started else self._max_starting
        needed = 0 if self.reuse else len(self._waiting)
        wanted = self._target + needed - len(self._lent) - len(self._ready) - len(self._starting)
        for _ in range(min(wanted, at_once - len(self._starting))):
            task = asyncio.ensure_future(self._add(aside=can_wait))
            self._starting.add(task)
            task.add_done_callback(self._added)

    def _can_wait(self) -> bool:
        """Returns whether the start of another isolate can wait.

        The start can wait if several accounts are active, and only accounts with a use above average wait for a spare.
        Without waiting runs, the start can wait if a spare is left.
        """
        if not self.shares.is_shared:
            return False
        if not self._waiting:
            return self.ready > 0
        return all(self.shares.exceeds_average(waiting.account) for waiting in self._waiting)

    async def _add(self, *, aside: bool) -> None:
        async with self._creation:
            if self._host is None or not self._host.alive:
                self._host = await self.new_host(self._lost)
                self._host.start()
            host = self._host
        isolate = Isolate(host)
        try:
            await isolate.start(_START_S, aside=aside, reuse=self.reuse)
        except StartFailed:
            if host.alive:
                raise
            return  # `_lost` counts the loss of the host, with all its starting isolates, as one failure
        self.started += 1
        self._failures = 0
        self._ready.append(isolate)
        self._serve()

    def _serve(self) -> None:
        """Assigns spares to waiting callers, starting with the account with the lowest recent use."""
        while self._waiting:
            entry = min(self._waiting, key=lambda waiting: self.shares.of(waiting.account))
            account, place, _ = entry
            if not place.done():
                if not self._can_serve(account):
                    return
                place.set_result(self._hand_out(account))
            self._waiting.remove(entry)

    def _added(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if self._stopped or task.cancelled():
            return
        if (error := task.exception()) is not None:
            if not isinstance(error, (StartFailed, OSError)):
                _LOG.error("an isolate could not be started", exc_info=error)
            self._failed(str(error))
        self._schedule_shrink()
        self._fill()

    def _failed(self, text: str) -> None:
        self._failures += 1
        self._last_failure = text
        if self._failures >= _FAILURES_TO_OPEN:
            _LOG.error("no isolate could be started, %d times in a row: %s", self._failures, text)
            self._failures = 0
            self._open_until = self.clock() + _OPEN_S
            self._refuse_waiting(text)
            asyncio.get_running_loop().call_later(_OPEN_S, self._fill)

    def _refuse_waiting(self, text: str) -> None:
        waiting, self._waiting = self._waiting, []
        for _, place, _ in waiting:
            if not place.done():
                place.set_exception(EngineUnavailable(text))

    def _lost(self) -> None:
        """Handles the loss of the host, which also stopped all isolates."""
        _LOG.warning("the process that starts isolates was lost and is replaced")
        self._host = None
        while self._ready:
            self._ready.popleft().close()
        if not self._stopped:
            self._failed("the process that starts isolates was lost")
            self._fill()

    def _schedule_shrink(self) -> None:
        if self._shrink_timer is not None:
            return
        # If the target decreased during the start of an isolate, the pool has more isolates than it needs.
        if self._target > self._idle or len(self._ready) + len(self._lent) > self._target:
            wait_s = _SHRINK_AFTER_S
        elif self.rest_s is not None and self._target:
            wait_s = max(_SHRINK_AFTER_S, self._last_used + self.rest_s - self.clock())
        else:
            return
        self._shrink_timer = asyncio.get_running_loop().call_later(wait_s, self._shrink)

    def _shrink(self) -> None:
        self._shrink_timer = None
        now = self.clock()
        if now - self._last_low >= _SHRINK_AFTER_S:
            self._target = min(self._target, self._needed(now - self._last_used))
            while self._ready and len(self._ready) + len(self._lent) > self._target:
                self._ready.pop().close()
            if self._target == 0 and self._host is not None:
                self._host.stop_template()
        self._schedule_shrink()

    def _needed(self, unused_s: float) -> int:
        if unused_s < _SHRINK_AFTER_S or self._lent:
            return self.spares
        return 0 if self.rest_s is not None and unused_s >= self.rest_s else self._idle
