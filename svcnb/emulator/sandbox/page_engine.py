"""Engine `fast` in a browser page, with web workers instead of processes.

The workers restore the same memory image of QuickJS-ng before every run.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Final

from svcnb.emulator.sandbox.fast import GRACE_S, NAME
from svcnb.emulator.sandbox.isolate import StartFailed
from svcnb.emulator.sandbox.page_isolate import PageIsolate
from svcnb.emulator.sandbox.pooled import blank_outcome, is_blank
from svcnb.emulator.sandbox.protocol import EngineState, EngineUnavailable, Host, Outcome, names_json
from svcnb.emulator.sandbox.scheduler import slots
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

WORKERS: Final = 2
"""Maximum number of workers. Each worker needs 10 MB for its code and its memory image."""
_START_S: Final = 120.0


_early: dict[str, asyncio.Task[PageIsolate]] = {}
"""The worker from `start_early`, if no engine uses it yet. The key contains the names that are visible to actions."""


def start_early() -> None:
    """Starts to warm up a worker, which the first emulator with the default names for actions then uses."""
    names = names_json(Vocabulary())
    _early[names] = asyncio.ensure_future(_started(names))


async def _started(names: str) -> PageIsolate:
    isolate = PageIsolate()
    await isolate.start(names, _START_S)
    return isolate


class PageEngine:
    """Engine that runs actions in web workers of the page.

    Args:
        concurrency: Maximum number of runs at the same time, at most `WORKERS`.
        vocabulary: Names that are visible to actions.
    """

    def __init__(self, *, concurrency: int, vocabulary: Vocabulary) -> None:
        self._names = names_json(vocabulary)
        self._slots = slots(min(concurrency, WORKERS))
        self._idle: deque[PageIsolate] = deque()
        self._sessions: set[Session] = set()
        self._warming: asyncio.Task[PageIsolate] | None = None
        self._started = 0
        self._stopped = True

    async def prepare(self) -> None:
        """Starts to warm up a worker and returns immediately."""
        self._stopped = False
        if self._warming is None:
            self._warming = asyncio.create_task(self._new(), name="svcnb-engine-worker")

    async def start(self) -> None:
        """Enables runs. The method does not warm up a worker. For the warm-up, see `prepare`."""
        self._stopped = False

    async def stop(self) -> None:
        """Stops all idle workers and the worker that is warming up. A busy worker stops after its run."""
        self._stopped = True
        if self._warming is not None:
            self._warming.cancel()
            (found,) = await asyncio.gather(self._warming, return_exceptions=True)
            if isinstance(found, PageIsolate):
                found.close()
            self._warming = None
        while self._idle:
            self._idle.pop().close()

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action. See `svcnb.emulator.sandbox.protocol.Engine`."""
        if self._stopped:
            raise EngineUnavailable("the engine is not running")
        if is_blank(source):
            return blank_outcome(NAME)
        came = time.monotonic()
        async with self._slots.hold(host.account):
            isolate = await self._take()
            session = Session(isolate, host, limits, Trace(NAME, isolate.growth_bytes), grace_s=GRACE_S)
            outcome = None
            try:
                self._sessions.add(session)
                outcome = await session.run(source, params, time.monotonic() - came)
                return outcome
            finally:
                self._sessions.discard(session)
                if outcome is not None and session.answered and not self._stopped:
                    isolate.detach()
                    self._idle.append(isolate)
                else:
                    isolate.close()

    async def is_reachable(self) -> bool:
        """Returns whether the engine is running."""
        return not self._stopped

    def state(self) -> EngineState:
        """Returns the status of the engine, with the numbers of workers and runs."""
        return EngineState(
            name=NAME,
            ready=len(self._idle),
            running=len(self._sessions),
            waiting=self._slots.waiting,
            started=self._started,
            available=not self._stopped,
        )

    async def _take(self) -> PageIsolate:
        if self._idle:
            return self._idle.pop()
        warming, self._warming = self._warming, None
        try:
            return await (warming or self._new())
        except StartFailed as error:
            raise EngineUnavailable(str(error)) from error

    async def _new(self) -> PageIsolate:
        isolate = await (_early.pop(self._names, None) or _started(self._names))
        self._started += 1
        return isolate
