"""Every lesson has the same outputs in a workshop as without one: after a kernel restart, twice, and after a reset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from svcnb.workshop import Workshop

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("*.ipynb"))


def shown(notebook: Any) -> list[tuple[str, str]]:
    """Returns each code cell with the text of its outputs. The division of a stream into messages is random."""
    return [(cell.source, "".join(map(text_of, cell.outputs))) for cell in notebook.cells if cell.cell_type == "code"]


def text_of(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain") or output.ename)


def run(lesson: Path, place: dict[str, str], *, cells: int | None = None) -> Any:
    """Runs a notebook, or its first cells, in a kernel of a learner's notebook server, and then stops the kernel."""
    notebook = nbformat.read(lesson, 4)  # type: ignore[no-untyped-call]
    notebook.cells = notebook.cells[:cells]
    for cell in notebook.cells:
        cell.outputs = []
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS)}})
    client.execute(env=os.environ | place | {"JPY_SESSION_NAME": str(lesson)})
    return notebook


@pytest.fixture(scope="module")
def place(room: Workshop) -> dict[str, str]:
    return room.environment(room.add("katherine").name)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_the_usual_outputs(room: Workshop, place: dict[str, str], lesson: Path) -> None:
    at_home = nbformat.read(lesson, 4)  # type: ignore[no-untyped-call]
    run(lesson, place, cells=len(at_home.cells) // 2)
    assert shown(run(lesson, place)) == shown(at_home)
    room.reset("katherine")
    assert shown(run(lesson, place)) == shown(at_home)
