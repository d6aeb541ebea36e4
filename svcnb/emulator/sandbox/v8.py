"""Engine `v8`, which runs every execution in a new Deno process from a pool of warmed-up processes.

A Deno worker is not a security boundary. The process cannot stop a busy worker, and a worker that is out of memory ends
the whole process. Therefore, each run has its own process in its own session, without permissions or module loading,
and with limited resources. The emulator can stop the process with a signal, and the kernel kills the process when the
emulator exits.
"""

from __future__ import annotations

import asyncio
import math
import platform
import sys
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, FLAGS, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Host, Outcome, names_json
from svcnb.emulator.sandbox.session import Session
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

NAME = "v8"
BOOTSTRAP = STATIC / "engine.js"

_END_S = 0.02
# Initial size of the young generation, in MiB. It is sufficient to warm up a spare without garbage collection.
_YOUNG_MIB = 4


def command_line(
    deno: Path, bootstrap: Path, memory_limit_mb: int, names: str, *, is_template: bool = False
) -> list[str]:
    """Returns the command line of one isolate, or of the template process whose copies are isolates."""
    v8 = [
        "--v8-flags=--disallow-code-generation-from-strings",
        f"--max-old-space-size={memory_limit_mb}",
        f"--min-semi-space-size={_YOUNG_MIB}",
    ]
    if not is_template:
        return [str(deno), "run", *FLAGS, ",".join(v8), str(bootstrap), names]
    # A copied process must have only one thread. The copies drop the permission to call `fork`.
    v8.append("--single-threaded")
    return [str(deno), "run", *FLAGS, "--allow-ffi", ",".join(v8), str(bootstrap), names, "template"]


def _can_copy() -> bool:
    """Returns whether a warmed-up process can copy itself on this system. The copy needs Linux system calls."""
    return sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}


class V8Engine(PooledEngine):
    """Engine that runs each action in its own Deno process.

    Args:
        limits: Limits of the prepared processes. A run can have lower limits.
        spares: Number of warmed-up processes to keep.
        idle: Number of processes to keep before the first run and after half a minute without a run. None means all.
        concurrency: Maximum number of runs at the same time. Other runs wait in a queue. One account can have at most
            three quarters of these runs (rounded up).
        vocabulary: Names that are visible to actions.
        bootstrap: Script that Deno runs. Only tests pass another script.

    Raises:
        ToolMissing: Deno or the engine's JavaScript bundle is not installed.
    """

    # Most runs take less time. A longer run, especially a busy loop, must not delay the start of other runs.
    _brief_s = 0.05

    def __init__(
        self,
        limits: ActionLimits,
        *,
        spares: int = 3,
        idle: int | None = None,
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
            idle=idle,
        )
        self._ending: dict[Isolate, asyncio.TimerHandle] = {}

    async def stop(self) -> None:
        """Stops all processes. Running actions end with the error kind ``host``."""
        self._stopped = True
        for isolate in list(self._ending):
            self._close_ended(isolate)
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
        return Session(isolate, host, limits, Trace(NAME, isolate.growth_bytes), alone=True)

    def _end(self, isolate: Isolate, session: Session, outcome: Outcome | None) -> None:  # noqa: ARG002 - one run each
        # After a successful run, stop the process later. The stop takes time, and the service must send the response
        # first.
        if self._stopped or outcome is None or not outcome.ok:
            isolate.close()
            return
        isolate.ignore_output()
        self._ending[isolate] = asyncio.get_running_loop().call_later(_END_S, self._close_ended, isolate)

    def _close_ended(self, isolate: Isolate) -> None:
        self._ending.pop(isolate).cancel()
        isolate.close()
