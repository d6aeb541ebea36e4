"""Base class of `fast` and `v8`, with a process pool, an admission limit, and a monitor of the running actions."""

from __future__ import annotations

import asyncio
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from svcnb import tools
from svcnb.bundles import bundle_exists, read_bundle
from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.pool import Pool
from svcnb.emulator.sandbox.process import ProcessHost
from svcnb.emulator.sandbox.protocol import EngineState, EngineUnavailable, Host, Outcome, names_json
from svcnb.emulator.sandbox.scheduler import Shares, slots
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

STATIC = Path(__file__).with_name("static")

# Deno maps a data segment of about 750 MiB before it runs any code (measured with version 2.9.8).
DENO_DATA_MIB = 772
_MONITOR_S = 0.03
_RESOURCE_LIMITS = {"RLIMIT_FSIZE": 64 * 2**20, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 256}
"""Resource limits of a process, by their names in the module ``resource``."""


class PooledEngine(ABC):
    """Engine that runs actions in separate processes, with a warm-up in advance.

    Args:
        limits: Highest limits of a run, which determine the resource limits of the processes.
        spares: Number of warmed-up processes to keep.
        concurrency: Maximum number of runs at the same time. Other runs wait in a queue. One account can have at most
            three quarters of the concurrent runs (rounded up).
        vocabulary: Names that are visible to actions. None means the default names.
        idle: Number of processes to keep before the first run and after half a minute without a run. None means
            ``spares``.

    Raises:
        ToolMissing: Deno or the engine's JavaScript bundle is not installed.
    """

    _name: str
    """Name of the engine in settings and traces."""
    _bootstrap: Path
    """JavaScript bundle that the processes run."""
    _beside: tuple[str, ...]
    """Names of other files that the processes read from the folder of the bundle."""
    _brief_s: float
    """Duration of a run, in seconds, after which the run gets a lower priority than other runs."""
    _reuse = False
    """Whether a process executes several runs in sequence."""
    _rest_s: float | None = None
    """Seconds without a run after which the engine keeps no process until the next run. None means never."""
    _grace_s = 0.0
    """Seconds after the deadline in which a process can stop its own run."""
    _busy_ms = 0
    """Processor time in milliseconds after which a process stops its own run. 0 means no limit."""

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 3,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
        idle: int | None = None,
    ) -> None:
        self._limits = limits
        self._names = names_json(vocabulary or Vocabulary())
        self._deno = tools.deno()
        if not bundle_exists(self._bootstrap):
            raise tools.ToolMissing(
                f"the action engine {self._name!r}",
                f"the file {self._bootstrap} does not exist",
                "In a working copy, run: python hatch_build.py. Otherwise, reinstall svcnb.",
            )
        self._slots = slots(concurrency)
        self._shares = Shares()
        self._pool = Pool(
            self._new_host,
            spares=spares,
            shares=self._shares,
            runs_of=self._slots.of,
            reuse=self._reuse,
            idle=idle,
            rest_s=self._rest_s,
        )
        self._sessions: set[Session] = set()
        self._monitor: asyncio.Task[None] | None = None
        self._stopped = True

    @abstractmethod
    def _command(self, bootstrap: Path) -> list[str]:
        """Returns the command line of one process."""

    def _template_command(self, bootstrap: Path) -> list[str] | None:  # noqa: ARG002 - for engines that have one
        """Returns the command line of the process that copies itself, or None if the engine has no such process."""
        return None

    def _deno_command(self, bootstrap: Path, v8_flags: Sequence[str], *, permissions: Sequence[str] = ()) -> list[str]:
        v8 = ",".join(["--v8-flags=--disallow-code-generation-from-strings", *v8_flags])
        return [str(self._deno), "run", *tools.OFFLINE_FLAGS, *permissions, v8, str(bootstrap), self._names]

    @abstractmethod
    def _resource_limits(self) -> dict[str, int]:
        """Returns the limits of one process in addition to `_RESOURCE_LIMITS`."""

    @abstractmethod
    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:
        """Releases an isolate after its run."""

    async def prepare(self) -> None:
        """Starts only one process, so that other components can start at the same time. Call `start` afterwards."""
        self._stopped = False
        self._pool.start(spares=1)

    async def start(self) -> None:
        """Starts to warm up processes in the background and returns immediately."""
        self._stopped = False
        self._pool.start()

    async def stop(self) -> None:
        """Stops all processes. Running actions end with the error kind ``host``."""
        self._stopped = True
        if self._monitor is not None:
            self._monitor.cancel()
            await asyncio.gather(self._monitor, return_exceptions=True)
            self._monitor = None
        await self._pool.stop()

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action. See `svcnb.emulator.sandbox.protocol.Engine`."""
        if self._stopped:
            raise EngineUnavailable("the engine is not running")
        if is_blank(source):
            return blank_outcome(self._name)
        came = time.monotonic()
        async with self._slots.hold(host.account):
            return await self._run(source, params, limits, host, came)

    async def is_reachable(self) -> bool:
        """Returns whether the processes respond. See `svcnb.emulator.sandbox.protocol.Engine`."""
        return not self._stopped and await self._pool.reachable()

    def state(self) -> EngineState:
        """Returns the status of the engine, with the numbers of processes and runs."""
        return EngineState(
            name=self._name,
            ready=self._pool.ready,
            running=len(self._sessions),
            waiting=self._slots.waiting + self._pool.waiting,
            started=self._pool.started,
            available=not self._stopped and self._pool.available,
        )

    async def _run(self, source: str, params: object, limits: ActionLimits, host: Host, came: float) -> Outcome:
        isolate = await self._pool.take(host.account)
        waited_s = time.monotonic() - came
        outcome = None
        session = Session(
            isolate,
            host,
            limits,
            Trace(self._name, isolate.growth_bytes),
            busy_ms=self._busy_ms,
            grace_s=self._grace_s,
            alone=not self._reuse,
        )
        try:
            if self._shares.exceeds_average(host.account):
                if self._reuse:
                    isolate.leave_reserved_cores()  # until the end of its run, because a higher niceness is permanent
                else:
                    session.lower_priority(aside=True)
            self._sessions.add(session)
            if self._monitor is None or self._monitor.done():
                self._monitor = asyncio.ensure_future(self._monitor_sessions())
            outcome = await session.run(source, params, waited_s)
            return outcome
        finally:
            self._sessions.discard(session)
            self._end(isolate, session, outcome)

    async def _monitor_sessions(self) -> None:
        # V8 limits only the heap. This check also includes memory outside the heap, such as large buffers.
        while self._sessions:
            await asyncio.sleep(_MONITOR_S)
            for session in list(self._sessions):
                self._shares.add(session.host.account, _MONITOR_S)
                session.check_memory()
                session.check_processor()
                if session.trace.elapsed_s > self._brief_s:
                    session.lower_priority(aside=self._shares.exceeds_average(session.host.account))

    async def _new_host(self, on_lost: Callable[[], None]) -> ProcessHost:
        bundles = await asyncio.to_thread(self._read_bundles)
        # Stack traces in actions contain this neutral folder instead of the path of the installation.
        folder = Path(tempfile.mkdtemp(prefix="svcnb-engine-"))
        for name, content in bundles.items():
            (folder / name).write_bytes(content)
        bootstrap = folder / self._bootstrap.name
        return ProcessHost(
            self._command(bootstrap),
            template=self._template_command(bootstrap),
            env={
                "DENO_DIR": str(folder / "cache"),  # compiled code of the bootstrap script, which spares share
                "DENO_NO_UPDATE_CHECK": "1",
                "LANG": "en_US.UTF-8",
                "NO_COLOR": "1",
                "TZ": "UTC",
            },
            own_folder="DENO_DIR",
            cwd=Path("/"),
            limits=_RESOURCE_LIMITS | self._resource_limits(),
            remove=folder,
            on_lost=on_lost,
        )

    def _read_bundles(self) -> dict[str, bytes]:
        files = map(self._bootstrap.with_name, (self._bootstrap.name, *self._beside))
        return {file.name: read_bundle(file) for file in files if bundle_exists(file)}


def is_blank(source: str) -> bool:
    """Returns whether a source contains only ASCII whitespace."""
    return not source.strip(" \t\n\r\f\v")


def blank_outcome(engine: str) -> Outcome:
    """Returns the successful outcome of a source that contains only ASCII whitespace.

    Source: docs/service/runtime.md#calling-main.
    """
    trace = Trace(engine)
    trace.add("start")
    trace.add("end", ok=True)
    return Outcome(ok=True, response="", logs="", trace=trace, elapsed_s=trace.elapsed_s)
