"""Engine `fast`: QuickJS-ng in WebAssembly. Its memory is restored from an image before every run.

Processes are long-lived. Each does one run at a time, and the engine's whole memory is overwritten before the next. So
no data of one run is available to another. An operation that QuickJS cannot do exactly as V8 does is a trap. It ends
the run with kind ``unsupported``. `svcnb.emulator.sandbox.auto.AutoEngine` repeats such runs on `v8`.
"""

from __future__ import annotations

import os
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.names import names_json
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, FLAGS, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Host, Outcome
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "fast"
BOOTSTRAP = STATIC / "fast.js"

# The engine ends a run at its deadline and continues to serve. Where it cannot, the process is ended a little later.
GRACE_S = 0.05
# The image twice, the compiled engines, and the memory that grows beside them.
_OWN_MIB = 256


class FastEngine(PooledEngine):
    """Runs actions in QuickJS inside long-lived Deno processes.

    Args:
        limits: Limits for which processes are prepared; a run may have tighter ones.
        processes: Processes to keep, one of them while nothing runs. While runs have to wait, up to four times as many.
        concurrency: Maximum of runs at the same time. More wait in a queue, and one account never has all slots.
        vocabulary: Names that actions see.
        busy_ms: Milliseconds of processor time after which a run ends as ``unsupported``. 0 means no limit.

    Raises:
        PartMissing: Deno or the bundle is not installed.
    """

    # A lowered priority cannot be undone, so the process is discarded afterwards. Only very long runs justify that.
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
        trace = Trace(NAME, isolate.grown_bytes)
        return Session(isolate, host, limits, trace, busy_ms=self._busy_ms, grace_s=GRACE_S)

    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:
        self._pool.give(isolate, again=outcome is not None and session.answered and not session.lowered)
