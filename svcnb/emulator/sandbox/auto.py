"""Engine `auto`, which runs an action on `fast`, or on `v8` if `fast` does not support the action."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from typing import Final

from svcnb.emulator.sandbox.fast import FastEngine
from svcnb.emulator.sandbox.protocol import EngineState, Host, Outcome
from svcnb.emulator.sandbox.repeat import RepeatableHost
from svcnb.emulator.sandbox.run_result import HOST_LOST_TEXT, diverged_text, timeout_text
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.protocol.limits import MAX_SCANNED_SOURCE, ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME: Final = "auto"

# V8 needs a fraction of QuickJS's processor time. A run with more processor time than this is faster on `v8`.
BUSY_MS: Final = 250
_LEARNED: Final = 1_000
_LACKING = re.compile(
    r"\b(Intl|WebAssembly|Temporal|WeakRef|FinalizationRegistry|SharedArrayBuffer|Atomics|Proxy|subtle|Blob|File"
    r"|FormData"
    r"|(?:Readable|Writable|Transform|Compression|Decompression)Stream|TextDecoderStream|TextEncoderStream"
    r"|MessageChannel|FileReader|URLPattern|toLocale\w*String|toLocale(?:Lower|Upper)Case|localeCompare"
    r"|prepareStackTrace|captureStackTrace|stackTraceLimit|localStorage|sessionStorage|Worker|Deno|import|eval"
    r"|Function)\b"
)


class AutoEngine:
    """Engine that selects `fast` or `v8` for each run.

    A source runs on `v8` if it contains a name that `fast` does not support, or if it is longer than
    `MAX_SCANNED_SOURCE` characters. Other sources run on `fast`. A trap is an operation that `fast` cannot perform
    exactly, or a computation of more than `BUSY_MS` milliseconds. The engine repeats a run on `v8` after a trap, after
    too much memory use, or after the crash of a process. The second attempt receives the results of the first attempt,
    and does not repeat operations with side effects (`svcnb.emulator.sandbox.repeat.RepeatableHost`). If the second
    attempt makes different requests, the run fails. Later runs of a source that caused a trap start on `v8`.

    Args:
        limits: Highest limits of a run. The memory limit and the timeout determine the resource limits of processes.
        spares: Number of warmed-up `v8` processes to keep. The engine starts them at the first run on either engine.
        idle: Number of warmed-up `v8` processes to keep after half a minute without a run on `v8`. None means
            ``spares``.
        concurrency: Maximum number of runs at the same time, on each engine.
        vocabulary: Names that are visible to actions. None means the default names.

    Raises:
        ToolMissing: Deno or an engine's JavaScript bundle is not installed.
    """

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 1,
        idle: int | None = None,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._fast = FastEngine(limits, concurrency=concurrency, vocabulary=vocabulary, busy_ms=BUSY_MS)
        self._v8 = V8Engine(limits, spares=spares, idle=idle, concurrency=concurrency, vocabulary=vocabulary)
        self._learned: OrderedDict[bytes, str] = OrderedDict()
        self._v8_asleep = False

    async def prepare(self) -> None:
        """Starts one `fast` process."""
        await self._fast.prepare()

    async def start(self) -> None:
        """Starts to warm up `fast` and returns immediately.

        The warm-up of `v8` starts only with the first run, because an idle emulator must use little memory.
        """
        await self._fast.start()
        self._v8_asleep = True

    async def stop(self) -> None:
        """Stops all processes of both engines. Running actions end with the error kind ``host``."""
        self._v8_asleep = False
        await self._fast.stop()
        await self._v8.stop()

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action. See `svcnb.emulator.sandbox.protocol.Engine`."""
        if self._v8_asleep:
            self._v8_asleep = False
            await self._v8.prepare()
            await self._v8.start()
        mark = b""
        if len(source) <= MAX_SCANNED_SOURCE:
            mark = hashlib.sha256(source.encode(errors="surrogatepass")).digest()
        why = self._reason(source, mark)
        if why is not None:
            outcome = await self._v8.run(source, params, limits, host)
            outcome.trace.why = why
            return outcome
        repeatable = RepeatableHost(host)
        try:
            first = await self._fast.run(source, params, limits, repeatable)
            why = reason_to_repeat(first)
            if why is None:
                first.trace.why = "the source uses only names that fast supports"
                return first
            if first.error_kind == "unsupported":
                self._learned[mark] = f"an earlier run encountered {why}"
                while len(self._learned) > _LEARNED:
                    self._learned.popitem(last=False)
            return await self._repeat(source, params, limits, repeatable, first)
        finally:
            repeatable.close()

    async def is_reachable(self) -> bool:
        """Returns whether the processes of both engines respond.

        The method checks the processes of `v8` only after the first run.
        """
        return await self._fast.is_reachable() and (self._v8_asleep or await self._v8.is_reachable())

    def state(self) -> EngineState:
        """Returns the combined state of both engines. The field ``details`` contains the state of each engine."""
        fast, v8 = self._fast.state(), self._v8.state()
        return EngineState(
            name=NAME,
            ready=fast.ready + v8.ready,
            running=fast.running + v8.running,
            waiting=fast.waiting + v8.waiting,
            started=fast.started + v8.started,
            available=fast.available and (v8.available or self._v8_asleep),
            details={"fast": fast, "v8": v8},
        )

    async def _repeat(
        self, source: str, params: object, limits: ActionLimits, host: RepeatableHost, first: Outcome
    ) -> Outcome:
        why = reason_to_repeat(first)
        host.repeat(first.elapsed_s)
        left = limits._replace(timeout_ms=max(1, limits.timeout_ms - int(first.elapsed_s * 1000)))
        second = await self._v8.run(source, params, left, host)
        total_s = first.elapsed_s + second.elapsed_s
        if host.diverged:
            # The two attempts request different operations, so the trace of the first attempt remains valid.
            first.trace.why = (
                f"the run encountered {why} on fast, but the repetition on v8 requested different operations"
            )
            text = diverged_text(str(why)) if first.error_kind == "unsupported" else first.error
            return first._replace(elapsed_s=total_s, error=text)
        operations = f" after {host.operations} operations, whose results v8 used again" if host.operations else ""
        second.trace.why = f"the run encountered {why} on fast{operations}"
        error = timeout_text(limits) if second.error_kind == "timeout" else second.error
        return second._replace(elapsed_s=total_s, error=error)

    def _reason(self, source: str, mark: bytes) -> str | None:
        if len(source) > MAX_SCANNED_SOURCE:
            return f"the source is longer than {MAX_SCANNED_SOURCE} characters"
        if (found := _LACKING.search(source)) is not None:  # also in a comment or a string
            return f"the source uses the name {found[1]}"
        return self._learned.get(mark)


def reason_to_repeat(outcome: Outcome) -> str | None:
    """Returns the reason why `v8` must repeat a run that ended on `fast`, or None if the outcome is final."""
    if outcome.error_kind == "unsupported":
        return next((str(event.detail["what"]) for event in outcome.trace.events if event.kind == "trap"), "a trap")
    if outcome.error_kind == "memory":
        return "the memory limit"
    if outcome.error_kind == "host" and outcome.error == HOST_LOST_TEXT:
        return "the loss of its process"
    return None
