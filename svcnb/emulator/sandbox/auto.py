"""Engine `auto`: runs an action on `fast` if that engine can run it exactly, and on `v8` otherwise."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from typing import Final

from svcnb.emulator.sandbox.fast import FastEngine
from svcnb.emulator.sandbox.protocol import EngineState, Host, Outcome
from svcnb.emulator.sandbox.repeat import RepeatableHost
from svcnb.emulator.sandbox.session import HOST_LOST_TEXT, timeout_text
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.protocol.limits import MAX_SCANNED_SOURCE, ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME: Final = "auto"

# Work with this much processor time in QuickJS takes V8 a fraction of it, so a process of its own is worth the cost.
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


def lacking_name(source: str) -> str | None:
    """The first name in a source that `fast` does not support.

    Args:
        source: JavaScript text. Names in comments and strings count, too.
    """
    found = _LACKING.search(source)
    return found[1] if found else None


class AutoEngine:
    """Engine that selects another engine for each run.

    A source without names that `fast` lacks runs there. If it still causes a trap, the run is repeated on `v8`. Its
    operations are not executed again but answered as before (`svcnb.emulator.sandbox.repeat.RepeatableHost`). A source
    that caused a trap once runs on `v8` at once from then on.

    Args:
        limits: Limits for which processes are prepared.
        spares: Warm processes of `v8` to keep, starting with the first run.
        concurrency: Maximum of runs at the same time, on each engine.
        vocabulary: Names that actions see.

    Raises:
        PartMissing: Deno or a bundle is not installed.
    """

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 1,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._fast = FastEngine(limits, concurrency=concurrency, vocabulary=vocabulary, busy_ms=BUSY_MS)
        self._v8 = V8Engine(limits, spares=spares, concurrency=concurrency, vocabulary=vocabulary)
        self._learned: OrderedDict[bytes, str] = OrderedDict()
        self._v8_asleep = False

    async def prepare(self) -> None:
        """Starts one process of `fast`."""
        await self._fast.prepare()

    async def start(self) -> None:
        """Starts to warm up `fast` and returns at once. `v8` follows with the first run, which seldom needs it."""
        await self._fast.start()
        self._v8_asleep = True

    async def stop(self) -> None:
        """Ends every process."""
        self._v8_asleep = False
        await self._fast.stop()
        await self._v8.stop()

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action; see `svcnb.emulator.sandbox.protocol.Engine`."""
        if self._v8_asleep:
            self._v8_asleep = False
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
                first.trace.why = "it names nothing that fast lacks"
                return first
            if first.error_kind == "unsupported":
                self._learn(mark, f"it came upon {why} before")
            return await self._repeat(source, params, limits, repeatable, first)
        finally:
            repeatable.close()

    async def is_reachable(self) -> bool:
        """Whether the processes of both engines answer; those of `v8` only once it is in use."""
        return await self._fast.is_reachable() and (self._v8_asleep or await self._v8.is_reachable())

    def state(self) -> EngineState:
        """State of both engines together. The details contain each engine separately."""
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
        if host.astray:
            # The two attempts request different operations, so the trace of one does not describe the other.
            first.trace.why = f"it came upon {why}, and v8 asked for other operations"
            return first._replace(elapsed_s=total_s)
        operations = f" after {host.operations} operations, which were not done again" if host.operations else ""
        second.trace.why = f"it came upon {why} on fast{operations}"
        error = timeout_text(limits) if second.error_kind == "timeout" else second.error
        return second._replace(elapsed_s=total_s, error=error)

    def _reason(self, source: str, mark: bytes) -> str | None:
        if len(source) > MAX_SCANNED_SOURCE:
            return f"it is longer than {MAX_SCANNED_SOURCE} characters"
        if (name := lacking_name(source)) is not None:
            return f"it names {name}"
        return self._learned.get(mark)

    def _learn(self, mark: bytes, why: str) -> None:
        self._learned[mark] = why
        while len(self._learned) > _LEARNED:
            self._learned.popitem(last=False)


def reason_to_repeat(outcome: Outcome) -> str | None:
    """Why a run on `fast` is repeated on `v8`. None if its outcome is final."""
    if outcome.error_kind == "unsupported":
        return next((str(event.detail["what"]) for event in outcome.trace.events if event.kind == "trap"), "a trap")
    if outcome.error_kind == "memory":
        return "the limit of memory"
    if outcome.error_kind == "host" and outcome.error == HOST_LOST_TEXT:
        return "the loss of its process"
    return None
