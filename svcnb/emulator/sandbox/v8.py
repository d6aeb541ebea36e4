"""Engine `v8`: a fresh Deno process for every execution, taken warm from a pool.

A Deno worker is not a security boundary. A busy one cannot be stopped, and one out of memory ends the whole process. So
each run has a process of its own, in its own session, with every permission denied, no module loading and limited
resources. The kernel ties it to ours, and a signal ends it.
"""

from __future__ import annotations

import asyncio
import math
import platform
import sys
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.names import names_json
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, FLAGS, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Host, Outcome
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "v8"
BOOTSTRAP = STATIC / "engine.js"

_FAREWELL_S = 0.02
# Initial size of the young generation, in MiB: enough to warm up a spare without garbage collection.
_YOUNG_MIB = 4


def command_line(
    deno: Path, bootstrap: Path, memory_limit_mb: int, names: str, *, is_template: bool = False
) -> list[str]:
    """Command line of one isolate, or of the template that isolates are copies of."""
    v8 = [
        "--v8-flags=--disallow-code-generation-from-strings",
        f"--max-old-space-size={memory_limit_mb}",
        f"--min-semi-space-size={_YOUNG_MIB}",
    ]
    if not is_template:
        return [str(deno), "run", *FLAGS, ",".join(v8), str(bootstrap), names]
    # A copy of a process has one thread. The copies give up the permission to call `fork`.
    v8.append("--single-threaded")
    return [str(deno), "run", *FLAGS, "--allow-ffi", ",".join(v8), str(bootstrap), names, "template"]


def _can_copy() -> bool:
    """Whether templates work on this system: they use system calls of Linux by number."""
    return sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}


class V8Engine(PooledEngine):
    """Engine that runs each action in a Deno process of its own.

    Args:
        limits: Limits for which processes are prepared; a run may have tighter ones.
        spares: Warm processes to keep.
        concurrency: Maximum of runs at the same time. More wait in a queue, and one account never has all slots.
        vocabulary: Names that actions see.
        bootstrap: The script that Deno runs, for tests.

    Raises:
        PartMissing: Deno or the bundle is not installed.
    """

    # Most runs end sooner. One that continues must not delay the start of others, especially if it is a busy loop.
    _brief_s = 0.05

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 3,
        concurrency: int = 16,
        vocabulary: Vocabulary | None = None,
        bootstrap: Path = BOOTSTRAP,
    ) -> None:
        super().__init__(
            limits,
            name=NAME,
            bootstrap=bootstrap,
            beside=("bootstrap.js", "secp256k1.wasm"),
            spares=spares,
            concurrency=concurrency,
            vocabulary=vocabulary,
        )
        self._ending: dict[Isolate, asyncio.TimerHandle] = {}

    async def stop(self) -> None:
        """Ends every process. Runs under way end with kind ``host``."""
        self._stopped = True
        for isolate in list(self._ending):
            self._bury(isolate)
        await super().stop()

    def _command(self, bootstrap: Path) -> list[str]:
        return command_line(self._deno, bootstrap, self._limits.memory_limit_mb, names_json(self._vocabulary))

    def _template_command(self, bootstrap: Path) -> list[str] | None:
        if not _can_copy():
            return None
        names = names_json(self._vocabulary)
        return command_line(self._deno, bootstrap, self._limits.memory_limit_mb, names, is_template=True)

    def _resource_limits(self) -> dict[str, int]:
        return {
            "RLIMIT_DATA": (DENO_DATA_MIB + self._limits.memory_limit_mb) * 2**20,
            "RLIMIT_CPU": math.ceil(self._limits.timeout_ms / 1000) * 4 + 10,
            "RLIMIT_FSIZE": 64 * 2**20,
            "RLIMIT_CORE": 0,
            "RLIMIT_NOFILE": 256,
        }

    def _session(self, isolate: Isolate, host: Host, limits: ActionLimits) -> Session:
        return Session(isolate, host, limits, Trace(NAME, isolate.grown_bytes), alone=True)

    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:  # noqa: ARG002 - one run each
        # The end of a successful run may wait: ending a process is work, and the answer must be sent first.
        if self._stopped or outcome is None or not outcome.ok:
            isolate.close()
            return
        isolate.deafen()
        self._ending[isolate] = asyncio.get_running_loop().call_later(_FAREWELL_S, self._bury, isolate)

    def _bury(self, isolate: Isolate) -> None:
        self._ending.pop(isolate).cancel()
        isolate.close()
