"""Engine `fast`, which runs QuickJS-ng in WebAssembly. It restores the memory of QuickJS-ng before every run.

Processes are long-lived. Each process executes one run at a time, and overwrites the whole memory of QuickJS-ng with an
image before the next run. A run can therefore not read data of another run. An operation that QuickJS cannot perform
exactly like V8 is a trap, which ends the run with the error kind ``unsupported``.
`svcnb.emulator.sandbox.auto.AutoEngine` repeats such runs on `v8`.
"""

from __future__ import annotations

import os
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, FLAGS, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Host, Outcome, names_json
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "fast"
BOOTSTRAP = STATIC / "fast.js"

# Seconds in which a process can stop its own run after the deadline, and then execute another run. After this time, the
# service kills the process.
GRACE_S = 0.05
# Memory of the engine itself in MiB: two copies of the image, the compiled engines, and their additional growth.
_OWN_MIB = 256
# Seconds without a run after which all processes stop. A process uses about 45 MB and starts in 0.2 s. A workshop runs
# many emulators, and most of them are idle.
_REST_S = 120.0


class FastEngine(PooledEngine):
    """Engine that runs actions in QuickJS inside long-lived Deno processes.

    Args:
        limits: Limits of the prepared processes. A run can have lower limits.
        processes: Number of processes, or None for one process per processor core. While runs have to wait, the engine
            uses up to four times this number. After half a minute without a run, one process remains. After two
            minutes, no process remains.
        concurrency: Maximum number of runs at the same time. Other runs wait in a queue. One account can have at most
            three quarters of these runs (rounded up).
        vocabulary: Names that are visible to actions.
        busy_ms: Processor time in milliseconds after which a run ends with ``unsupported``. 0 means no limit.

    Raises:
        ToolMissing: Deno or the engine's JavaScript bundle is not installed.
    """

    # A process cannot raise its lowered priority again, so the pool discards the process after the run. Only long runs
    # justify this cost.
    _brief_s = 0.5

    def __init__(
        self,
        limits: ActionLimits,
        *,
        processes: int | None = None,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
        busy_ms: int = 0,
    ) -> None:
        super().__init__(
            limits,
            name=NAME,
            bootstrap=BOOTSTRAP,
            beside=("fast.image", "quickjs.wasm", "secp256k1.wasm"),
            spares=processes or os.cpu_count() or 2,
            concurrency=concurrency,
            vocabulary=vocabulary,
            reuse=True,
            idle=1,
            rest_s=_REST_S,
        )
        self._busy_ms = busy_ms

    def _command(self, bootstrap: Path) -> list[str]:
        v8 = "--v8-flags=--disallow-code-generation-from-strings,--expose-gc"
        read = f"--allow-read={bootstrap.parent}"
        return [str(self._deno), "run", *FLAGS, read, v8, str(bootstrap), names_json(self._vocabulary)]

    def _resource_limits(self) -> dict[str, int]:
        return {
            "RLIMIT_DATA": (DENO_DATA_MIB + _OWN_MIB + 2 * self._limits.memory_limit_mb) * 2**20,
            "RLIMIT_FSIZE": 64 * 2**20,
            "RLIMIT_CORE": 0,
            "RLIMIT_NOFILE": 256,
        }

    def _session(self, isolate: Isolate, host: Host, limits: ActionLimits) -> Session:
        trace = Trace(NAME, isolate.growth_bytes)
        return Session(isolate, host, limits, trace, busy_ms=self._busy_ms, grace_s=GRACE_S)

    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:
        self._pool.give(isolate, again=outcome is not None and session.answered and not session.lowered)
