"""Cron schedules: the parser, the ticks (the times at which a schedule fires), and the limits of the triggers service.

All times are UTC. The five fields are minute, hour, day of month, month and day of week. An optional first field
contains the seconds. The library cronsim parses the fields by the rules of Debian's cron.

Source: docs/service/triggers.md#sources-of-runs, docs/service/limits.md#limits-of-the-service.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from svcnb.errors import InvalidType
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.limits import SCHEDULE_SCAN_S

if TYPE_CHECKING:
    from cronsim import CronSim

_MAX_LENGTH: Final = 256
_FIELDS: Final = "Write five fields, or six fields that start with the seconds"
_EXAMPLES: Final = "for example '*/5 * * * *' (every five minutes), or '30 0 9 * * MON' (Mondays at 09:00:30)"
_LAST_MINUTE: Final = 59
_LAST_HOUR: Final = 23


class InvalidCron(MalformedValue):
    """Error for a string that is not a schedule, or for a schedule that is too frequent or never starts a run."""


class Cron:
    """Schedule that the triggers service accepts, parsed from a cron expression.

    Args:
        text: Cron expression with five fields, or with six fields, where the first field contains the seconds.

    Raises:
        InvalidType: ``text`` is not a string.
        InvalidCron: The string is not a schedule, or its times never occur or are less than 30 seconds apart.

    Example:
        >>> [tick.isoformat() for tick in Cron("0 12 * * *").preview(after=0, count=1)]
        ['1970-01-01T12:00:00+00:00']
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InvalidType(f"a schedule must be a string of five or six fields, not {type(text).__name__}")
        self.text = text
        if not text.strip():
            raise InvalidCron(
                "the schedule is empty",
                hint=f"{_FIELDS}, {_EXAMPLES}.",
            )
        if len(text) > _MAX_LENGTH:
            raise InvalidCron(
                f"the schedule {shown(text)} has {len(text)} characters; at most {_MAX_LENGTH} are allowed",
                hint=f"{_FIELDS}, {_EXAMPLES}.",
            )
        parsed = self._parse(datetime(2024, 1, 1, tzinfo=UTC))
        if _interval_s(parsed) < SCHEDULE_SCAN_S:
            raise InvalidCron(
                (
                    f"the schedule {shown(text)} starts two runs within {_interval_s(parsed)} s, but the service "
                    f"checks schedules only every {SCHEDULE_SCAN_S} s"
                ),
                hint=f"Use an interval of at least {SCHEDULE_SCAN_S} s, {_EXAMPLES}.",
            )
        try:
            next(parsed)
        except StopIteration:
            raise InvalidCron(
                f"the schedule {shown(text)} never starts a run", hint="Correct the day or the month."
            ) from None

    def __repr__(self) -> str:
        return f"Cron({self.text!r})"

    def ticks(self, after: float) -> Iterator[datetime]:
        """Yields the times when the schedule fires.

        Args:
            after: Unix seconds. The first tick is after this time.

        Yields:
            UTC times in order. The iterator has no end, unless the schedule stops firing.
        """
        yield from self._parse(datetime.fromtimestamp(after, UTC))

    def next_after(self, moment: float) -> float:
        """Returns the first tick later than a moment.

        Args:
            moment: Unix seconds.

        Returns:
            Unix seconds, or infinity if the schedule does not fire again within the next decades.
        """
        tick = next(self.ticks(moment), None)
        return float("inf") if tick is None else tick.timestamp()

    def preview(self, after: float, count: int = 10) -> list[datetime]:
        """Returns the next times when the schedule fires.

        Args:
            after: Unix seconds. The first returned time is after this time.
            count: Maximum number of times. The list is shorter if the schedule stops firing.
        """
        return [tick for tick, _ in zip(self.ticks(after), range(count), strict=False)]

    @property
    def sentence(self) -> str:
        """Description of the schedule in English, for example ``At 09:00 on Monday (UTC)``."""
        from cronsim import CronSim

        words = CronSim(self.text, datetime(2024, 1, 1, tzinfo=UTC)).explain()
        return f"{words} (UTC)"

    def _parse(self, after: datetime) -> CronSim:
        from cronsim import CronSim, CronSimError

        try:
            return CronSim(self.text, after)
        except CronSimError as error:
            raise InvalidCron(
                f"invalid schedule {shown(self.text)}: {str(error).lower()}",
                hint=(
                    "Write minute, hour, day of month, month and day of week, optionally with seconds first, "
                    f"{_EXAMPLES}."
                ),
            ) from None


def _interval_s(parsed: CronSim) -> int:
    """Returns the minimum number of seconds between two scheduled times, capped at 60.

    A check of only the next ticks depends on the current day, and misses shorter intervals later. Therefore, this
    function checks the fields themselves. The function treats 23:59 and 00:00 as consecutive minutes, even if the day
    fields exclude one of these two times.
    """
    seconds = sorted(parsed.seconds)
    within = min((later - earlier for earlier, later in pairwise(seconds)), default=60)
    across = 60 - seconds[-1] + seconds[0] if _has_consecutive_minutes(parsed) else 60
    return min(within, across, 60)


def _has_consecutive_minutes(parsed: CronSim) -> bool:
    """Returns whether the minute and hour fields contain two consecutive minutes, for example 23:59 and 00:00."""
    if any(minute + 1 in parsed.minutes for minute in parsed.minutes):
        return True
    if not {0, _LAST_MINUTE} <= parsed.minutes:
        return False
    return any(hour + 1 in parsed.hours for hour in parsed.hours) or {0, _LAST_HOUR} <= parsed.hours
