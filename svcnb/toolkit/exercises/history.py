"""Exercises of the lesson on run history and charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise

_TROUBLE = (8, 14)
_PNG = b"\x89PNG\r\n\x1a\n"


def _days(answer: Any) -> str | None:
    first, last = (int(day) for day in answer)
    if (first, last) == _TROUBLE:
        return None
    if last < first:
        return "the first day comes first."
    if first == _TROUBLE[0] or last == _TROUBLE[1]:
        return "one of the two is right: look at the runs of rates that failed, day by day."
    return "look at the runs of rates that failed: charts.run_timeline(month[month.action == 'rates'])."


def _saved(answer: Any) -> str | None:
    if not isinstance(answer, (str, Path)):
        return "put the path of the file: charts.save(chart, path) takes it."
    path = Path(answer)
    if not path.is_file():
        return "there is no such file: charts.save(chart, path) writes it."
    return None if path.read_bytes()[: len(_PNG)] == _PNG else "this is no PNG: let its name end in .png."


EXERCISES = (
    Exercise("history.days", "its second week, and nobody would have seen it in the average.", _days),
    Exercise("history.saved", "a picture for a report.", _saved),
)
