"""Engine `v8`, which executes every run in a new Deno process from a pool of warmed-up processes.

A Deno worker is not a security boundary. The process cannot stop a busy worker, and a worker that is out of memory ends
the whole process. Therefore, each run has its own process. The process has its own operating system session and limited
resources, but no permissions, and it cannot load modules. The emulator can stop the process with a signal, and the
kernel kills the process when the emulator exits.
"""

from __future__ import annotations

import asyncio
import math
import platform
import sys
from pathlib import Path

from svcnb.emulator.sandbox.isolate import Isolate
from svcnb.emulator.sandbox.pooled import DENO_DATA_MIB, STATIC, PooledEngine
from svcnb.emulator.sandbox.protocol import Outcome
from svcnb.emulator.sandbox.session import Session
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

_END_S = 0.02
# Initial size of the young generation, in MiB. It is sufficient to warm up a spare without garbage collection.
_YOUNG_MIB = 4


def _can_copy() -> bool:
    """Returns whether a warmed-up process can copy itself on this system. The copy needs Linux system calls."""
    return sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}


class V8Engine(PooledEngine):
    """Engine that runs each action in its own Deno process.

    For arguments and errors, see `PooledEngine`.
    """

    _name = "v8"
    _bootstrap = STATIC / "engine.js"
    _beside = ("bootstrap.js", "secp256k1.wasm")
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
    ) -> None:
        super().__init__(limits, spares=spares, idle=idle, concurrency=concurrency, vocabulary=vocabulary)
        self._ending: dict[Isolate, asyncio.TimerHandle] = {}

    async def stop(self) -> None:
        """Stops all processes. Running actions end with the error kind ``host``."""
        self._stopped = True
        for isolate in list(self._ending):
            self._close_ended(isolate)
        await super().stop()

    def _command(self, bootstrap: Path) -> list[str]:
        return self._deno_command(bootstrap, self._v8_flags())

    def _template_command(self, bootstrap: Path) -> list[str] | None:
        if not _can_copy():
            return None
        # A copied process must have only one thread. The copies drop the permission to call `fork`.
        flags = [*self._v8_flags(), "--single-threaded"]
        return [*self._deno_command(bootstrap, flags, permissions=["--allow-ffi"]), "template"]

    def _v8_flags(self) -> list[str]:
        return [f"--max-old-space-size={self._limits.memory_limit_mb}", f"--min-semi-space-size={_YOUNG_MIB}"]

    def _resource_limits(self) -> dict[str, int]:
        return {
            "RLIMIT_DATA": (DENO_DATA_MIB + self._limits.memory_limit_mb) * 2**20,
            "RLIMIT_CPU": math.ceil(self._limits.timeout_ms / 1000) * 4 + 10,
        }

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
