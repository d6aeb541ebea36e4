"""The emulator's time: real, shifted, or standing still.

issuedAt windows, key expiry, schedules, the ledger and block timestamps all read this clock, so a lesson can make a
signature expire without waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class Clock:
    """Seconds since the Unix epoch, as the emulator sees them.

    Args:
        frozen_at: Unix seconds to stand still at, or None to follow the machine's clock.
    """

    def __init__(self, frozen_at: float | None = None) -> None:
        self._frozen_at = None if frozen_at is None else _finite(frozen_at)
        self._offset = 0.0
        self._listeners: list[Callable[[], None]] = []

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        return self._frozen_at is not None

    @property
    def offset_s(self) -> float:
        """Seconds this clock is ahead of the machine's, 0.0 when real; while frozen, of the moment of asking."""
        return self.now() - time.time() if self.frozen else self._offset

    def now(self) -> float:
        """Unix seconds."""
        return self._frozen_at if self._frozen_at is not None else time.time() + self._offset

    def now_s(self) -> int:
        """Whole Unix seconds, rounded down."""
        return int(self.now())

    def freeze(self, at: float | None = None) -> None:
        """Stands still.

        Args:
            at: Unix seconds, or None for this very moment.
        """
        self._frozen_at = self.now() if at is None else _finite(at)
        self._changed()

    def advance(self, seconds: float) -> None:
        """Moves forward, whether frozen or running.

        Args:
            seconds: How far, at least 0: block timestamps cannot go back.

        Raises:
            ValueError: ``seconds`` is negative or not a finite number.
        """
        if _finite(seconds) < 0:
            raise ValueError(f"time cannot go back ({seconds} s asked): restore a snapshot instead")
        if self._frozen_at is not None:
            self._frozen_at += seconds
        else:
            self._offset += seconds
        self._changed()

    def real(self) -> None:
        """Follows the machine's clock again."""
        self._frozen_at, self._offset = None, 0.0
        self._changed()

    def state(self) -> dict[str, float | None]:
        """What `restore` needs to stand here again."""
        return {"frozen_at": self._frozen_at, "offset": self._offset}

    def restore(self, state: dict[str, float | None]) -> None:
        """Returns to a state from `state`."""
        self._frozen_at, self._offset = state["frozen_at"], state["offset"] or 0.0
        self._changed()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Calls ``listener`` after every freeze, advance, return to real time or restore."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def _finite(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a time: give a finite number of seconds")
    return number
