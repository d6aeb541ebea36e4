"""Clock of the emulator, which shows the machine's time, a shifted time or a frozen time.

Signature ages, key expiry, schedules, the ledger and block timestamps all use this clock, so a lesson can make a
signature expire without waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from svcnb.protocol.limits import CLOCK_EARLIEST_S, CLOCK_LATEST_S


class Clock:
    """Clock of the emulator, in seconds since the Unix epoch.

    Only the event loop sets the clock. The database thread also reads the clock.

    Args:
        frozen_at: Unix seconds at which the clock is frozen, or None to follow the machine's clock.

    Raises:
        ValueError: ``frozen_at`` is outside the range from 1970-01-01 to 3000-01-01.
    """

    def __init__(self, frozen_at: float | None = None) -> None:
        # The frozen time and the offset are one attribute, so that other threads always read a consistent
        # pair of values.
        self._set: tuple[float | None, float] = (None if frozen_at is None else checked_time(frozen_at), 0.0)
        self._listeners: list[Callable[[], None]] = []

    @property
    def frozen(self) -> bool:
        """Whether the clock shows a fixed time."""
        return self._set[0] is not None

    @property
    def offset_s(self) -> float:
        """Time of this clock minus the time of the machine's clock, in seconds. Changes while this clock is frozen."""
        frozen_at, offset = self._set
        return offset if frozen_at is None else frozen_at - time.time()

    def now(self) -> float:
        """Returns the time in Unix seconds."""
        frozen_at, offset = self._set
        return time.time() + offset if frozen_at is None else frozen_at

    def now_s(self) -> int:
        """Returns the time in whole Unix seconds, rounded down."""
        return int(self.now())

    def freeze(self, at: float | None = None) -> None:
        """Freezes the clock, so that it shows a fixed time.

        Args:
            at: The fixed time in Unix seconds, or None for the current time of this clock.

        Raises:
            ValueError: ``at`` is outside the range from 1970-01-01 to 3000-01-01.
        """
        self._set = (self.now() if at is None else checked_time(at), self._set[1])
        self._changed()

    def advance(self, seconds: float) -> None:
        """Advances the frozen or running clock.

        Args:
            seconds: Seconds to advance, at least 0, because block timestamps must not decrease.

        Raises:
            ValueError: ``seconds`` is negative or not finite, or the result is after 3000-01-01.
        """
        if not math.isfinite(seconds) or seconds < 0:
            raise ValueError(f"cannot advance by {seconds!r} seconds: pass a finite number of at least 0")
        checked_time(self.now() + seconds)
        frozen_at, offset = self._set
        self._set = (None, offset + seconds) if frozen_at is None else (frozen_at + seconds, offset)
        self._changed()

    def real(self) -> None:
        """Sets the clock to the machine's time."""
        self._set = (None, 0.0)
        self._changed()

    def state(self) -> dict[str, float | None]:
        """Returns the frozen time and the offset of this clock, for `restore`."""
        frozen_at, offset = self._set
        return {"frozen_at": frozen_at, "offset": offset}

    def restore(self, state: dict[str, float | None]) -> None:
        """Restores a state that `state` returned.

        Raises:
            ValueError: The time of the state is not from 1970-01-01 to 3000-01-01.
        """
        self.check(state)
        self._set = (state["frozen_at"], state["offset"] or 0.0)
        self._changed()

    @staticmethod
    def check(state: dict[str, float | None]) -> None:
        """Checks a state that `state` returned, without restoring it.

        Raises:
            ValueError: The time of the state is not from 1970-01-01 to 3000-01-01.
        """
        frozen_at = state["frozen_at"]
        checked_time(time.time() + (state["offset"] or 0.0) if frozen_at is None else frozen_at)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Registers a function that the clock calls after every freeze, advance, return to real time and restore."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def checked_time(value: float) -> float:
    """Checks that a time is from 1970-01-01 to 3000-01-01, and returns the time.

    Blocks, HTTP dates and RFC 3339 can express all times in this range.

    Args:
        value: Time in Unix seconds.

    Raises:
        ValueError: The time is outside the range, or not a number.
    """
    number = float(value)
    if not CLOCK_EARLIEST_S <= number <= CLOCK_LATEST_S:  # this is also false for NaN
        raise ValueError(
            f"invalid time {value!r}: expected Unix seconds from {CLOCK_EARLIEST_S} (1970-01-01) "
            f"to {CLOCK_LATEST_S} (3000-01-01)"
        )
    return number
