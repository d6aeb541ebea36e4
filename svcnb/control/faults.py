"""Fault injector of an emulator."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from svcnb.checked import Checked
from svcnb.control.plane import ControlPlane, given, milliseconds

Part = Literal["chain", "billing", "runtime", "cpu", "triggers"]


class FaultControl(Checked):
    """Fault injector of an emulator, which makes calls fail or wait."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def __repr__(self) -> str:
        return "FaultControl: next(part, times=1), until_cleared(part), clear()"

    def next(
        self,
        part: Part,
        *,
        status: int | None = None,
        delay: float | str | timedelta | None = None,
        times: int = 1,
    ) -> None:
        """Makes the next calls that need one part of the service fail or wait.

        Args:
            part: ``chain``, ``billing``, ``triggers``, ``runtime`` for runs, or ``cpu`` for runs on an overloaded
                machine.
            status: HTTP status of the response. None means 429 for ``cpu`` and 503 for the other parts. If ``delay`` is
                set, None means that the call succeeds after the delay.
            delay: Delay of each call, in seconds or as a string such as ``"2s"``. None means no delay.
            times: Number of calls that the fault affects.
        """
        self._inject(part, status, delay, times)

    def until_cleared(
        self, part: Part, *, status: int | None = None, delay: float | str | timedelta | None = None
    ) -> None:
        """Makes all calls that need one part of the service fail or wait, until you call `clear`.

        The arguments are the same as for `next`, without ``times``.
        """
        self._inject(part, status, delay, None)

    def clear(self) -> None:
        """Deletes all injected faults."""
        self._plane.request("DELETE", "/faults")

    def _inject(self, part: Part, status: int | None, delay: float | str | timedelta | None, times: int | None) -> None:
        delay_ms = None if delay is None else milliseconds(delay)
        self._plane.request("POST", "/faults", given(part=part, status=status, delay_ms=delay_ms, times=times))
