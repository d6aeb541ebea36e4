"""Every published solution solves its exercise in the lesson's notebook."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("*.ipynb"))
EXERCISE = re.compile(r"""exercises\.check\(["']([\w.-]+)["'], answer\)""")


def answers(path: Path) -> dict[str, list[str]]:
    """Returns the cells of each solution by the name of its exercise. The last cell submits the answer.

    Other cells define actions.
    """
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    found: dict[str, list[str]] = {}
    cells: list[str] = []
    for cell in notebook.cells:
        cells = [*cells, cell.source] if cell.cell_type == "code" else []
        found |= dict.fromkeys(EXERCISE.findall(cell.source), cells)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_solution_is_right_when_it_is_put_into_the_lesson(lesson: Path) -> None:
    solutions = answers(NOTEBOOKS / "solutions" / lesson.name)
    notebook = nbformat.read(lesson, 4)  # type: ignore[no-untyped-call]
    solved, placed = [], []
    for cell in notebook.cells:
        if cell.cell_type == "code" and (names := EXERCISE.findall(cell.source)):
            assert cell.source.startswith("answer = "), cell.source
            *before, cell.source = solutions[names[0]]
            placed += [nbformat.v4.new_code_cell(source) for source in before]  # type: ignore[no-untyped-call]
            solved.append(cell)
        placed.append(cell)
    notebook.cells = placed
    assert solved
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(lesson.parent)}}).execute()
    verdicts = [output.data["text/plain"] for cell in solved for output in cell.outputs[-1:]]
    assert [verdict for verdict in verdicts if not verdict.startswith("Right: ")] == []
    assert len(verdicts) == len(solved)
