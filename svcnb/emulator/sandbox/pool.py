"""Pool of warm isolates, which are started before they are needed."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable

from svcnb.emulator.platform.reachable import Reachable
from svcnb.emulator.sandbox.isolate import Isolate, StartFailed
from svcnb.emulator.sandbox.process import ProcessHost
from svcnb.emulator.sandbox.protocol import EngineUnavailable
from svcnb.emulator.sandbox.scheduler import Shares

_LOG = logging.getLogger(__name__)

_START_S = 30.0
_FAILURES_TO_OPEN = 5
_ANSWER_S = 2.0  # a working spawner answers a ping within milliseconds
_OPEN_S = 60.0  # reference facts 5.8
_GROWTH = 4
_CALM_S = 30.0
_HEAD_START_S = 0.01
_WARMING_S = 0.08  # processor time that a spare uses before its first job
# A run that ends within this time makes its process available to the next. Another process would only slow both down.
_PATIENCE_S = 0.05


class Pool:
    """Keeps isolates warm and hands each one out once.

    Args:
        new_host: Creates the host that starts processes. It is called again when a host is lost.
        spares: How many to keep ready. Of two and more, the last is reserved for accounts that did not use clearly more
            than others recently. While several accounts want isolates, it is reserved for a run that is its account's
            only one. When spares run low, up to four times as many are kept, until there were enough for half a minute.
        shares: Recent use by each account.
        runs_of: How many unfinished runs an account has, including those that wait for an isolate.
        reuse: Whether isolates are returned by `give`. Those in use then count as kept, and more are started only for
            runs that have waited for some time.
        idle: How many of them to keep until the first run, and after half a minute without a run. None means all.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        new_host: Callable[[Callable[[], None]], ProcessHost],
        *,
        spares: int,
        shares: Shares,
        runs_of: Callable[[str], int] = lambda _: 1,
        reuse: bool = False,
        idle: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._new_host = new_host
        self._base = spares
        self._idle = spares if idle is None else idle
        self._target = 0
        self._clock = clock
        self._host: ProcessHost | None = None
        self._reuse = reuse
        self._lent = 0
        self._reserve = min(1, spares - 1)
        self._shares = shares
        self._runs_of = runs_of
        self._ready: deque[Isolate] = deque()
        self._waiting: list[tuple[str, asyncio.Future[Isolate]]] = []
        self._starting: set[asyncio.Task[None]] = set()
        # Two at a time on two cores: more would only slow each other down.
        self._max_starting = max(2, os.cpu_count() or 2)
        self._failures = 0
        self._last_failure = ""
        self._open_until = 0.0
        self._last_low = self._last_used = 0.0
        self._refill: asyncio.TimerHandle | None = None
        self._calm: asyncio.TimerHandle | None = None
        self._stopped = True
        self._reachable = Reachable(self._host_answers, clock=clock)
        self.started = 0

    @property
    def ready(self) -> int:
        """How many spares are available."""
        return sum(isolate.usable for isolate in self._ready)

    @property
    def waiting(self) -> int:
        """How many runs wait for a spare."""
        return len(self._waiting)

    @property
    def available(self) -> bool:
        """False while the circuit breaker is open, because starts failed repeatedly."""
        return not self._stopped and self._clock() >= self._open_until

    async def reachable(self) -> bool:
        """Whether the process that starts isolates works and no spare is stopped by a signal."""
        if not self.available or any(isolate.suspended for isolate in self._ready):
            return False
        if self._host is None or not self._host.alive:
            return True  # it is started for the next run
        return await self._reachable.now(self._host.pid)

    async def _host_answers(self) -> bool:
        return self._host is not None and await self._host.answers(_ANSWER_S)

    def start(self, spares: int | None = None) -> None:
        """Starts to fill the pool in the background.

        Args:
            spares: How many to start with; when None, as many as while idle. A later call may only raise the number.
        """
        self._stopped = False
        self._target = max(self._target, self._idle if spares is None else spares)
        self._fill()

    async def stop(self) -> None:
        """Ends all spares. Waiting callers get `EngineUnavailable`."""
        self._stopped = True
        for timer in (self._calm, self._refill):
            if timer is not None:
                timer.cancel()
        self._calm = self._refill = None
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
        """Returns a warm isolate for one job. The caller closes it.

        Args:
            account: The account of the run. The account with the least recent use gets the next isolate.

        Raises:
            EngineUnavailable: No isolate can be started.
        """
        if not self.available:
            raise EngineUnavailable(self._last_failure or "the engine does not run")
        self._last_used = self._clock()
        self._target = max(self._target, self._base)
        self._bury_dead()
        if self._may_take(account):
            return self._hand_out(account)
        place: asyncio.Future[Isolate] = asyncio.get_running_loop().create_future()
        entry = (account, place)
        self._waiting.append(entry)
        patience = None
        if self._reuse:
            patience = asyncio.get_running_loop().call_later(_PATIENCE_S, self._grow_and_fill)
        else:
            self._grow()
        self._fill()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._take_back(place.result())
            raise
        finally:
            if patience is not None:
                patience.cancel()
            if entry in self._waiting:
                self._waiting.remove(entry)

    def give(self, isolate: Isolate, *, again: bool) -> None:
        """Returns an isolate that `take` handed out.

        Args:
            isolate: The isolate.
            again: Whether it may serve another run.
        """
        self._lent -= 1
        if again and isolate.usable and not self._stopped:
            isolate.rest()
            self._ready.append(isolate)
            self._serve()
            self._settle_later()
        else:
            isolate.close()
        self._fill()

    def _take_back(self, isolate: Isolate) -> None:
        """Puts back an unused isolate whose caller was cancelled at the moment it was handed out."""
        self._lent -= self._reuse
        if isolate.usable and not self._stopped:
            self._ready.appendleft(isolate)
            self._serve()
        else:
            isolate.close()
        self._fill()

    def _may_take(self, account: str) -> bool:
        ready = len(self._ready)
        if ready == 0 or ready > self._reserve:
            return ready > 0
        return not self._shares.greedy(account) and (self._runs_of(account) <= 1 or not self._shares.contested)

    def _hand_out(self, account: str) -> Isolate:
        isolate = self._ready.popleft()
        if self._reuse:
            self._lent += 1
            return isolate
        self._shares.add(account, _WARMING_S)
        if len(self._ready) <= self._reserve:
            self._grow()
        self._fill_soon()
        return isolate

    def _grow(self) -> None:
        """Raises the number of spares when they run low, because warming one takes longer than most runs."""
        self._last_low = self._clock()
        self._target = min(self._target + 1, self._base * _GROWTH)

    def _grow_and_fill(self) -> None:
        self._grow()
        self._fill()

    def _bury_dead(self) -> None:
        for isolate in [isolate for isolate in self._ready if not isolate.usable]:
            self._ready.remove(isolate)
            isolate.close()

    def _fill_soon(self) -> None:
        """Fills the pool, with a delay if spares are left: starting a process uses a core that a new run needs."""
        if not self._ready:
            self._fill()
        elif self._refill is None:
            self._refill = asyncio.get_running_loop().call_later(_HEAD_START_S, self._fill)

    def _fill(self) -> None:
        if self._refill is not None:
            self._refill.cancel()
            self._refill = None
        if self._stopped or self._clock() < self._open_until:
            return
        no_hurry = self._is_no_hurry()
        # The first process writes the code cache, and the others then start in half the time. Started with it, they
        # would compile, too.
        at_once = 1 if no_hurry or not self.started else self._max_starting
        needed = 0 if self._reuse else len(self._waiting)
        wanted = self._target + needed - self._lent - len(self._ready) - len(self._starting)
        for _ in range(min(wanted, at_once - len(self._starting))):
            task = asyncio.ensure_future(self._add(aside=no_hurry))
            self._starting.add(task)
            task.add_done_callback(self._added)

    def _is_no_hurry(self) -> bool:
        """Whether only accounts with clearly more use than others want spares. The others then keep a core."""
        if not self._shares.contested:
            return False
        return all(self._shares.greedy(account) for account, _ in self._waiting) if self._waiting else self.ready > 0

    async def _add(self, *, aside: bool) -> None:
        if self._host is None or not self._host.alive:
            self._host = self._new_host(self._lost)
            self._host.start()
        host = self._host
        isolate = Isolate(host)
        try:
            await isolate.start(_START_S, aside=aside, reuse=self._reuse)
        except StartFailed:
            if host.alive:
                raise
            return  # the host was lost with all its starting isolates, which counts as one failure: see `_lost`
        self.started += 1
        self._failures = 0
        self._ready.append(isolate)
        self._serve()

    def _serve(self) -> None:
        """Hands spares to waiting callers, the account with the least recent use first."""
        while self._waiting:
            entry = min(self._waiting, key=lambda waiting: self._shares.of(waiting[0]))
            account, place = entry
            if not place.done():
                if not self._may_take(account):
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
        self._settle_later()
        self._fill()

    def _failed(self, text: str) -> None:
        self._failures += 1
        self._last_failure = text
        if self._failures >= _FAILURES_TO_OPEN:
            _LOG.error("no isolate could be started, %d times in a row: %s", self._failures, text)
            self._failures = 0
            self._open_until = self._clock() + _OPEN_S
            self._refuse_waiting(text)
            asyncio.get_running_loop().call_later(_OPEN_S, self._fill)

    def _refuse_waiting(self, text: str) -> None:
        waiting, self._waiting = self._waiting, []
        for _, place in waiting:
            if not place.done():
                place.set_exception(EngineUnavailable(text))

    def _lost(self) -> None:
        """Handles the loss of the host, which ended every isolate."""
        _LOG.warning("the process that starts isolates was lost; another takes its place")
        self._host = None
        while self._ready:
            self._ready.popleft().close()
        if not self._stopped:
            self._failed("the process that starts isolates was lost")
            self._fill()

    def _settle_later(self) -> None:
        if self._target > self._idle and self._calm is None:
            self._calm = asyncio.get_running_loop().call_later(_CALM_S, self._settle)

    def _settle(self) -> None:
        self._calm = None
        now = self._clock()
        if now - self._last_low >= _CALM_S:
            self._target = min(self._target, self._base if now - self._last_used < _CALM_S else self._idle)
            while self._ready and len(self._ready) + self._lent > self._target:
                self._ready.pop().close()
        self._settle_later()
