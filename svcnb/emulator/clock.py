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

    It is set on the event loop and read by the database's thread as well.

    Args:
        frozen_at: Unix seconds to stand still at, or None to follow the machine's clock.
    """

    def __init__(self, frozen_at: float | None = None) -> None:
        # Where it stands still, and how far it is ahead. One attribute: nobody sees one changed and not the other.
        self._set: tuple[float | None, float] = (None if frozen_at is None else _finite(frozen_at), 0.0)
        self._listeners: list[Callable[[], None]] = []

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        return self._set[0] is not None

    @property
    def offset_s(self) -> float:
        """Seconds this clock is ahead of the machine's, 0.0 when real; while frozen, of the moment of asking."""
        frozen_at, offset = self._set
        return offset if frozen_at is None else frozen_at - time.time()

    def now(self) -> float:
        """Unix seconds."""
        frozen_at, offset = self._set
        return time.time() + offset if frozen_at is None else frozen_at

    def now_s(self) -> int:
        """Whole Unix seconds, rounded down."""
        return int(self.now())

    def freeze(self, at: float | None = None) -> None:
        """Stands still.

        Args:
            at: Unix seconds, or None for this very moment.
        """
        self._set = (self.now() if at is None else _finite(at), self._set[1])
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
        frozen_at, offset = self._set
        self._set = (None, offset + seconds) if frozen_at is None else (frozen_at + seconds, offset)
        self._changed()

    def real(self) -> None:
        """Follows the machine's clock again."""
        self._set = (None, 0.0)
        self._changed()

    def state(self) -> dict[str, float | None]:
        """What `restore` needs to stand here again."""
        frozen_at, offset = self._set
        return {"frozen_at": frozen_at, "offset": offset}

    def restore(self, state: dict[str, float | None]) -> None:
        """Returns to a state from `state`."""
        self._set = (state["frozen_at"], state["offset"] or 0.0)
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
