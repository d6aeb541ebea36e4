"""Load monitor that decides whether the machine is too busy for another run.

Source: docs/service/http.md#overload-and-transport.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
_INTERVAL_S = 1.0


@dataclass(eq=False)
class LoadMonitor:
    """Monitor that samples the load average and the CPU pressure at most once per second.

    Attributes:
        multiplier: Limit for the 1-minute load average per core. Above this limit, the machine is overloaded.
        psi_threshold: Limit for the CPU pressure (PSI "some"), in percent of the time since the last sample. Above this
            limit, the machine is overloaded.
        clock: Monotonic clock that returns seconds.
    """

    multiplier: float = 2.0
    psi_threshold: float = 50.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._limit = self.multiplier * (os.cpu_count() or 1)
        self._sampled_at: float | None = None
        self._stalled_before: int | None = None
        self._overloaded = False

    def overloaded(self) -> bool:
        """Returns whether the machine is overloaded. In this case, the service must reject new runs with status 429."""
        now = self.clock()
        if self._sampled_at is None or now - self._sampled_at >= _INTERVAL_S:
            self._sample(now)
        return self._overloaded

    def _sample(self, now: float) -> None:
        load = read_load_average()
        stalled = read_stalled_us()
        pressure = 0.0
        if stalled is not None and self._stalled_before is not None and self._sampled_at is not None:
            # After a long pause between samples, the mean hides a burst, but the load average still shows it.
            pressure = (stalled - self._stalled_before) / ((now - self._sampled_at) * 1_000_000) * 100
        self._sampled_at, self._stalled_before = now, stalled
        self._overloaded = (load is not None and load > self._limit) or pressure > self.psi_threshold


def read_load_average() -> float | None:
    """Returns the 1-minute load average, or None on Windows."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def read_stalled_us() -> int | None:
    """Returns the total time since boot in which at least one task waited for a CPU, in microseconds.

    Returns None if the kernel does not report this time.
    """
    try:
        text = PRESSURE.read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^some .*total=(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else None
