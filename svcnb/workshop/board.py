"""Who has solved what."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from svcnb.client import display

if TYPE_CHECKING:
    from svcnb.workshop.roster import Learner

SOLVED, TRIED, OPEN = "✓", "·", ""


class Board:
    """Learners down, lessons across: a tick for each exercise solved, a dot for each tried.

    Args:
        learners: Who, in order.
        exercises: Names of all exercises, ``<lesson>.<exercise>``, in the order of the lessons.
    """

    def __init__(self, learners: Sequence[Learner], exercises: Sequence[str]) -> None:
        self.learners = {each.name: dict(each.progress) for each in learners}
        self.lessons: dict[str, list[str]] = {}
        for name in exercises:
            self.lessons.setdefault(name.partition(".")[0], []).append(name)

    def solved(self, learner: str) -> int:
        """How many exercises a learner has solved."""
        return sum(each.right for each in self.learners[learner].values())

    def stuck(self, tries: int = 3) -> list[tuple[str, str, int]]:
        """Who has tried an exercise so often without solving it, most tries first: learner, exercise, tries."""
        found = [
            (name, exercise, each.tries)
            for name, progress in self.learners.items()
            for exercise, each in progress.items()
            if not each.right and each.tries >= tries
        ]
        return sorted(found, key=lambda row: (-row[2], row[0], row[1]))

    def as_dict(self) -> dict[str, dict[str, dict[str, int | bool]]]:
        """All of it, for JSON: learner, exercise, ``right`` and ``tries``."""
        return {
            name: {exercise: each.model_dump() for exercise, each in progress.items()}
            for name, progress in self.learners.items()
        }

    def rows(self) -> list[list[str]]:
        """One row a learner: name, how many solved, marks for each lesson."""
        return [
            [
                name,
                str(self.solved(name)),
                *("".join(self._mark(name, each) for each in names) for names in self.lessons.values()),
            ]
            for name in self.learners
        ]

    def __repr__(self) -> str:
        total = sum(len(names) for names in self.lessons.values())
        return "\n".join(f"{name}: {self.solved(name)} of {total}" for name in self.learners) or "nobody is here yet"

    def _repr_html_(self) -> str:
        return display.table(
            ["learner", "solved", *self.lessons], self.rows(), empty="nobody is here yet", upright=self.lessons
        )

    def page(self, note: str = "") -> str:
        """The board as a page of its own, which renews itself."""
        return _PAGE.format(table=self._repr_html_(), note=escape(note))

    def _mark(self, learner: str, exercise: str) -> str:
        each = self.learners[learner].get(exercise)
        return OPEN if each is None else SOLVED if each.right else TRIED


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
</style>
<h1>Workshop</h1>
<main>{table}</main>
<p>✓ solved, · tried. {note}</p>
</html>
"""
