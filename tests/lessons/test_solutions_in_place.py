"""Every published solution solves its exercise inside the lesson itself, where a learner types it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("*.ipynb"))
EXERCISE = re.compile(r"""exercises\.check\(["']([\w.-]+)["'], answer\)""")


def answers(path: Path) -> dict[str, str]:
    """The code of each solution, by the name of its exercise."""
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return {name: source for source in cells for name in EXERCISE.findall(source)}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_solution_is_right_when_it_is_put_into_the_lesson(lesson: Path) -> None:
    solutions = answers(NOTEBOOKS / "solutions" / lesson.name)
    notebook = nbformat.read(lesson, 4)  # type: ignore[no-untyped-call]
    solved = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and (names := EXERCISE.findall(cell.source)):
            assert cell.source.startswith("answer = "), cell.source
            cell.source = solutions[names[0]]
            solved.append(cell)
    assert solved
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(lesson.parent)}}).execute()
    verdicts = [output.data["text/plain"] for cell in solved for output in cell.outputs[-1:]]
    assert [verdict for verdict in verdicts if not verdict.startswith("Right: ")] == []
    assert len(verdicts) == len(solved)
