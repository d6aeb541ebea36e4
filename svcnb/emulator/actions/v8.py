"""The engine `v8`: a fresh Deno process for every execution, taken warm from a pool.

A Deno worker is no boundary: a busy one cannot be stopped and one out of memory takes the process with it. So each run
has a process of its own, with every permission denied, no module loading, limited resources, in its own session, tied
to ours by the kernel and ended by signal.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from svcnb import parts
from svcnb.emulator.actions.fairness import Places, Shares
from svcnb.emulator.actions.isolate import Isolate
from svcnb.emulator.actions.names import names_json
from svcnb.emulator.actions.pool import Pool
from svcnb.emulator.actions.processes import ProcessHost
from svcnb.emulator.actions.protocol import EngineState, EngineUnavailable, Host, Outcome
from svcnb.emulator.actions.session import Session
from svcnb.emulator.actions.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "v8"
BOOTSTRAP = Path(__file__).with_name("static") / "engine.js"

# Deno maps about 750 MiB of data segment before it runs anything (measured with 2.9.8).
_DENO_DATA_MIB = 772
# Beyond the heap: young generation, compiled code, buffers on their way.
_MEMORY_SLACK = 48 * 2**20
_LOOK_S = 0.03
# Most runs end sooner. One that goes on must not keep others from beginning, least of all a busy loop.
_BRIEF_S = 0.05
_FAREWELL_S = 0.02
_FLAGS = (
    "--quiet",
    "--no-prompt",
    "--no-npm",
    "--no-remote",
    "--cached-only",
    "--no-config",
    "--no-lock",
)
_BLANK = frozenset(" \t\n\r\f\v")


def command_line(deno: Path, bootstrap: Path, memory_limit_mb: int, names: str) -> list[str]:
    """What starts one isolate."""
    v8 = f"--v8-flags=--disallow-code-generation-from-strings,--max-old-space-size={memory_limit_mb}"
    return [str(deno), "run", *_FLAGS, v8, str(bootstrap), names]


class V8Engine:
    """Runs each action in a Deno process of its own.

    Args:
        limits: Limits that processes are prepared for; a run may have tighter ones.
        spares: Warm processes to keep.
        concurrency: Runs at once; more wait in line, and one account never has all places.
        vocabulary: Names that actions see.
        bootstrap: The bundle, for tests.

    Raises:
        PartMissing: Deno or the bundle is not on this machine.
    """

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 3,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
        bootstrap: Path = BOOTSTRAP,
    ) -> None:
        self._limits = limits
        self._vocabulary = vocabulary or Vocabulary()
        self._bootstrap = bootstrap
        self._deno = parts.deno()
        if not bootstrap.is_file():
            raise parts.PartMissing("the action engine", f"no {bootstrap}", "Run: python hatch_build.py")
        self._places = Places(concurrency)
        self._shares = Shares()
        self._pool = Pool(self._new_host, spares=spares, shares=self._shares)
        self._folder: Path | None = None
        self._sessions: set[Session] = set()
        self._ending: dict[Isolate, asyncio.TimerHandle] = {}
        self._watch: asyncio.Task[None] | None = None
        self._stopped = True

    async def prepare(self) -> None:
        """Begins with one process, which leaves the machine to whatever else is starting; `start` follows."""
        self._stopped = False
        self._pool.start(spares=1)

    async def start(self) -> None:
        """Begins to warm up in the background; returns at once."""
        self._stopped = False
        self._pool.start()

    async def stop(self) -> None:
        """Ends every process. Runs under way end with kind ``host``."""
        self._stopped = True
        for isolate in list(self._ending):
            self._bury(isolate)
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        await self._pool.stop()

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action; see `svcnb.emulator.actions.protocol.Engine`."""
        if self._stopped:
            raise EngineUnavailable("the engine does not run")
        if not source.strip("".join(_BLANK)):
            return _nothing_to_do()
        came = time.monotonic()
        async with self._places.held_by(host.account):
            return await self._run(source, params, limits, host, came)

    def state(self) -> EngineState:
        """Where the engine stands."""
        return EngineState(
            name=NAME,
            ready=self._pool.ready,
            running=len(self._sessions),
            waiting=self._places.waiting + self._pool.waiting,
            started=self._pool.started,
            available=not self._stopped and self._pool.available,
        )

    async def _run(self, source: str, params: object, limits: ActionLimits, host: Host, came: float) -> Outcome:
        isolate = await self._pool.take(host.account)
        waited_s = time.monotonic() - came
        outcome = None
        try:
            session = Session(isolate, host, limits, Trace(NAME, isolate.grown_bytes))
            session.begin(source, params)
            # What follows is done while the isolate works already.
            self._sessions.add(session)
            try:
                self._look_after()
                outcome = await session.end(waited_s)
                return outcome
            finally:
                self._sessions.discard(session)
        finally:
            self._end(isolate, at_once=outcome is None or not outcome.ok)

    def _end(self, isolate: Isolate, *, at_once: bool) -> None:
        """Ends a process. That of a good run may wait: taking it apart is work, and an answer is on its way out."""
        if at_once or self._stopped:
            isolate.close()
            return
        isolate.deafen()
        self._ending[isolate] = asyncio.get_running_loop().call_later(_FAREWELL_S, self._bury, isolate)

    def _bury(self, isolate: Isolate) -> None:
        self._ending.pop(isolate).cancel()
        isolate.close()

    def _look_after(self) -> None:
        if self._watch is None or self._watch.done():
            self._watch = asyncio.ensure_future(self._look_at_sessions())

    async def _look_at_sessions(self) -> None:
        # The heap has V8's own limit; this one also sees what lies beside the heap, such as large buffers.
        while self._sessions:
            await asyncio.sleep(_LOOK_S)
            for session in list(self._sessions):
                self._shares.add(session.account, _LOOK_S)
                session.check_memory(_MEMORY_SLACK)
                if session.elapsed_s > _BRIEF_S:
                    session.give_way()

    def _new_host(self, on_lost: Callable[[], None]) -> ProcessHost:
        folder = Path(tempfile.mkdtemp(prefix="svcnb-engine-"))
        # Stacks that an action reads name this neutral folder instead of the place of the installation.
        for file in self._bootstrap.parent.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        bootstrap = folder / self._bootstrap.name
        return ProcessHost(
            command_line(self._deno, bootstrap, self._limits.memory_limit_mb, names_json(self._vocabulary)),
            env={
                "DENO_DIR": str(folder / "cache"),  # compiled code of the bootstrap, kept between spares
                "DENO_NO_UPDATE_CHECK": "1",
                "LANG": "en_US.UTF-8",
                "NO_COLOR": "1",
                "TZ": "UTC",
            },
            cwd=Path("/"),
            limits={
                "RLIMIT_DATA": (_DENO_DATA_MIB + self._limits.memory_limit_mb) * 2**20,
                "RLIMIT_CPU": math.ceil(self._limits.timeout_ms / 1000) * 4 + 10,
                "RLIMIT_FSIZE": 64 * 2**20,
                "RLIMIT_CORE": 0,
                "RLIMIT_NOFILE": 256,
            },
            remove=folder,
            on_lost=on_lost,
        )


def _nothing_to_do() -> Outcome:
    """Code of ASCII whitespace alone succeeds and does nothing (reference facts 5.1)."""
    trace = Trace(NAME)
    trace.add("start")
    trace.add("end", ok=True)
    return Outcome(ok=True, response="", logs="", trace=trace, elapsed_s=trace.elapsed_s)
