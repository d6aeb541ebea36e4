"""Control of an emulator's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from svcnb.checked import Checked
from svcnb.control.plane import ControlPlane
from svcnb.errors import InvalidArgument, InvalidType
from svcnb.protocol.durations import seconds


class ClockControl(Checked):
    """Control of the emulator's clock.

    This clock determines the validity of signatures, the expiry of keys, the times of schedules, and the timestamps of
    the ledger and of blocks.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def freeze(self, at: float | str | datetime | None = None) -> None:
        """Freezes the emulator's clock at a time.

        Args:
            at: Unix seconds, a ``datetime``, or an ISO 8601 string such as ``"2026-01-01T12:00"``. A time without a
                time zone is in UTC. None freezes the clock at the emulator's current time.

        Raises:
            InvalidArgument: The string is not a valid time.
        """
        self._plane.request("POST", "/clock", {"freeze": self.now() if at is None else _unix(at)})

    def __repr__(self) -> str:
        return "ClockControl: now(), freeze(at), advance(span), real()"

    def advance(self, span: float | str | timedelta | None = None, /, **units: float) -> None:
        """Moves the time forward.

        Args:
            span: Seconds, a string such as ``"10m"``, or a ``timedelta``.
            **units: Units as in ``timedelta``, instead of ``span``: ``hours=1, minutes=30``.

        Raises:
            InvalidType: The call has neither ``span`` nor units, or has both.
        """
        if (span is None) == (not units):
            raise InvalidType("advance() requires either a duration or units: advance('10m') or advance(minutes=10)")
        how_far = seconds(timedelta(**units) if span is None else span)
        self._plane.request("POST", "/clock", {"advance": how_far})

    def real(self) -> None:
        """Synchronises the time with the machine's clock again."""
        self._plane.request("POST", "/clock", {"real": True})

    def now(self) -> float:
        """Returns the emulator's time in Unix seconds."""
        return float(self._plane.request("GET", "/state")["clock"]["now"])


def _unix(at: float | str | datetime) -> float:
    if isinstance(at, str):
        text = at
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidArgument(
                f"invalid time {text[:60]!r}: expected Unix seconds, or a string such as '2026-01-01T12:00'"
            ) from None
    if isinstance(at, datetime):
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return at
