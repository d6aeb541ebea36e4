"""Engine `fast`, which runs QuickJS-ng in WebAssembly. The engine restores the memory of QuickJS-ng before every run.

Processes are long-lived. Each process executes one run at a time, and overwrites the whole memory of QuickJS-ng with an
image before the next run. A run can therefore not read data of another run. An operation that QuickJS cannot perform
exactly like V8 is a trap, which ends the run with the error kind ``unsupported``.
`svcnb.emulator.sandbox.auto.AutoEngine` repeats such runs on `v8`.
"""

from __future__ import annotations

import os
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Outcome
from svcnb.emulator.sandbox.session import Session
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "fast"

# Seconds in which a process can stop its own run after the deadline, and then execute another run. After this time, the
# service kills the process.
GRACE_S = 0.05
# Memory of the engine itself in MiB: two copies of the image, the compiled engines, and their additional growth.
_OWN_MIB = 256


class FastEngine(PooledEngine):
    """Engine that runs actions in QuickJS inside long-lived Deno processes.

    For the other arguments and errors, see `PooledEngine`.

    Args:
        processes: Number of processes, or None for one process per processor core. While runs have to wait, the engine
            uses up to four times this number. After half a minute without a run, one process remains. After two
            minutes, no process remains.
        busy_ms: Processor time in milliseconds after which a run ends with ``unsupported``. 0 means no limit.
    """

    _name = NAME
    _bootstrap = STATIC / "fast.js"
    _beside = ("fast.image", "quickjs.wasm", "secp256k1.wasm")
    # A process cannot raise its lowered priority again, so the pool discards the process after the run. Only long runs
    # justify this cost.
    _brief_s = 0.5
    _reuse = True
    # A process uses about 45 MB and starts in 0.2 s. A workshop runs many emulators, and most of them are idle.
    _rest_s = 120.0
    _grace_s = GRACE_S

    def __init__(
        self,
        limits: ActionLimits,
        *,
        processes: int | None = None,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
        busy_ms: int = 0,
    ) -> None:
        spares = processes or os.cpu_count() or 2
        super().__init__(limits, spares=spares, idle=1, concurrency=concurrency, vocabulary=vocabulary)
        self._busy_ms = busy_ms

    def _command(self, bootstrap: Path) -> list[str]:
        return self._deno_command(bootstrap, ["--expose-gc"], permissions=[f"--allow-read={bootstrap.parent}"])

    def _resource_limits(self) -> dict[str, int]:
        return {"RLIMIT_DATA": (DENO_DATA_MIB + _OWN_MIB + 2 * self._limits.memory_limit_mb) * 2**20}

    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:
        self._pool.give(isolate, again=outcome is not None and session.answered and not session.lowered)
