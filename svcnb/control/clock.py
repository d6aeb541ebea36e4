"""The emulator's time, from outside."""

from __future__ import annotations

from datetime import timedelta

from svcnb.control.plane import ControlPlane
from svcnb.protocol.durations import seconds


class ClockControl:
    """The emulator's time. Validity windows, expiry, schedules, the ledger and blocks all follow it."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def freeze(self, at: float | None = None) -> None:
        """Stands still.

        Args:
            at: Unix seconds; this very moment when None.
        """
        if at is None:
            at = self.now()
        self._plane.request("POST", "/clock", {"freeze": at})

    def advance(self, span: float | str | timedelta | None = None, /, **units: float) -> None:
        """Moves forward.

        Args:
            span: Seconds, ``"10m"`` or a ``timedelta``.
            **units: Or as in ``timedelta``: ``hours=1, minutes=30``.
        """
        if (span is None) == (not units):
            raise TypeError("advance() takes a span or units: advance('10m') or advance(minutes=10)")
        how_far = seconds(timedelta(**units) if span is None else span)
        self._plane.request("POST", "/clock", {"advance": how_far})

    def real(self) -> None:
        """Follows the machine's clock again."""
        self._plane.request("POST", "/clock", {"real": True})

    def now(self) -> float:
        """Unix seconds, as the emulator sees them."""
        return float(self._plane.request("GET", "/state")["clock"]["now"])
