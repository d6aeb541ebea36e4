"""Board of a workshop. It shows the current lesson of each learner, stuck learners, and solved exercises."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final

from svcnb.client import display

if TYPE_CHECKING:
    from svcnb.workshop.roster import Learner

SOLVED, TRIED, OPEN = "✓", "·", ""
STUCK_TRIES: Final = 3
"""Number of wrong answers to an unsolved exercise after which the board shows a learner as stuck."""
RECENT_S: Final = 300.0
"""Time for which the board shows an activity as *now*, in seconds."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_NONE_YET: Final = "No learners."


class Board:
    """Snapshot of the progress of all learners.

    Args:
        learners: Learners, in the order of the rows.
        exercises: Names of all exercises, ``<lesson>.<exercise>``, in the order of the lessons.
        now: Time of the snapshot in Unix seconds. None means the current time.
    """

    def __init__(self, learners: Sequence[Learner], exercises: Sequence[str], now: float | None = None) -> None:
        self._people = [each.model_copy(deep=True) for each in learners]
        self.learners = {each.name: each.progress for each in self._people}
        self.exercises: list[str] = list(exercises)
        self.lessons: dict[str, list[str]] = {}
        for name in exercises:
            self.lessons.setdefault(name.partition(".")[0], []).append(name)
        self._now = time.time() if now is None else now

    def solved(self, learner: str) -> int:
        """Returns the number of exercises that a learner has solved."""
        return sum(each.right for each in self.learners[learner].values())

    def stuck(self, tries: int = STUCK_TRIES) -> list[tuple[str, str, int]]:
        """Returns the learners with many wrong answers to an unsolved exercise, most wrong answers first.

        Args:
            tries: Minimum number of wrong answers.

        Returns:
            List of tuples: name of the learner, name of the exercise, number of wrong answers.
        """
        found = [
            (name, exercise, each.tries)
            for name, progress in self.learners.items()
            for exercise, each in progress.items()
            if not each.right and each.tries >= tries
        ]
        return sorted(found, key=lambda row: (-row[2], row[0], row[1]))

    def as_dict(self) -> dict[str, dict[str, dict[str, int | bool]]]:
        """Returns the progress for JSON, by learner and exercise, with the fields of `Learner.progress`."""
        return {
            name: {exercise: each.model_dump() for exercise, each in progress.items()}
            for name, progress in self.learners.items()
        }

    def report(self) -> list[dict[str, Any]]:
        """Returns the lesson, the last activity and the progress of each learner, for JSON and CSV.

        The entries contain e-mail addresses, so they are only for the instructor.
        """
        stuck = self._stuck_at()
        return [
            {
                "name": each.name,
                "display": each.title,
                "email": each.email,
                "lesson": each.lesson,
                "exercise": each.exercise,
                "last_activity": _iso(each.last_at),
                "solved": self.solved(each.name),
                "tries": sum(done.tries for done in each.progress.values()),
                "stuck": stuck.get(each.name, ""),
                "progress": {exercise: done.model_dump() for exercise, done in each.progress.items()},
            }
            for each in self._people
        ]

    def csv(self) -> str:
        """Returns the report as CSV.

        The column of an exercise contains the number of attempts, preceded by ``ok`` if the exercise is solved.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        entries = self.report()
        heads = ["name", "display", "email", "lesson", "exercise", "last_activity", "solved", "tries", "stuck"]
        writer.writerow([*heads, *self.exercises])
        for entry in entries:
            marks = [_mark(entry["progress"].get(exercise)) for exercise in self.exercises]
            writer.writerow([*(_plain(entry[head]) for head in heads), *marks])
        return text.getvalue()

    def heads(self) -> list[str]:
        """Returns the column names of `rows`."""
        return ["learner", "lesson", "exercise", "last activity", "stuck", "solved", *self.lessons]

    def rows(self) -> list[list[str]]:
        """Returns the rows of the board: one for each learner, and one with totals. Empty if there are no learners."""
        stuck = self._stuck_at()
        total = len(self.exercises)
        rows = [
            [
                each.title,
                each.lesson,
                each.exercise,
                _ago(self._now - each.last_at) if each.last_at else "",
                f"⚑ {stuck[each.name]}" if each.name in stuck else "",
                f"{self.solved(each.name)} of {total}",
                *("".join(self._mark(each.name, name) for name in names) for names in self.lessons.values()),
            ]
            for each in self._people
        ]
        return [*rows, self._totals(len(stuck))] if rows else []

    def __repr__(self) -> str:
        total = len(self.exercises)
        return "\n".join(f"{each.title}: {self.solved(each.name)} of {total}" for each in self._people) or _NONE_YET

    def _repr_html_(self) -> str:
        return display.table(self.heads(), self.rows(), empty=_NONE_YET, upright=self.lessons)

    def page(self, note: str = "") -> str:
        """Returns the board as an HTML page that the browser reloads every five seconds.

        Args:
            note: Text to show below the table.
        """
        return _PAGE.format(table=self._repr_html_(), note=escape(note))

    def _stuck_at(self) -> dict[str, str]:
        """Returns, for each stuck learner, the exercise with the most attempts."""
        found: dict[str, str] = {}
        for name, exercise, tries in self.stuck():
            found.setdefault(name, f"{exercise}, {tries} tries")
        return found

    def _totals(self, stuck: int) -> list[str]:
        everyone = list(self.learners)
        solved = sum(map(self.solved, everyone))
        by_lesson = (
            sum(each.right for name in everyone for exercise, each in self.learners[name].items() if exercise in names)
            for names in self.lessons.values()
        )
        active = sum(self._now - each.last_at < RECENT_S for each in self._people)
        return [
            f"total: {len(everyone)}",
            "",
            "",
            f"{active} now",
            f"{stuck} stuck" if stuck else "",
            f"{solved} of {len(everyone) * len(self.exercises)}",
            *(str(number) if number else "" for number in by_lesson),
        ]

    def _mark(self, learner: str, exercise: str) -> str:
        each = self.learners[learner].get(exercise)
        return OPEN if each is None else SOLVED if each.right else TRIED


def _ago(seconds: float) -> str:
    if seconds < RECENT_S:
        return "now"
    minutes = int(seconds // 60)
    return f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"  # noqa: PLR2004 - two hours


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def _mark(done: dict[str, Any] | None) -> str:
    return "" if done is None else f"{'ok ' if done['right'] else ''}{done['tries']}"


def _plain(value: object) -> str:
    """Returns a cell value, escaped so that a spreadsheet does not treat it as a formula."""
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width">
<title>Workshop</title>
<style>
  :root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
  body {{ margin: 2rem }}
  main {{ overflow-x: auto }}
  td {{ white-space: nowrap }}
  tbody tr:last-child td {{ border-top: 1px solid; font-weight: bold }}
</style>
<h1>Workshop</h1>
<main>{table}</main>
<p>✓ solved, · tried, ⚑ stuck: three wrong answers or more. {note}</p>
</html>
"""
