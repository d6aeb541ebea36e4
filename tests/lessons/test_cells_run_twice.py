"""Every cell of every lesson can run twice in a row, unless the text above the cell states the opposite."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.mark.parametrize("lesson", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_each_cell_runs_twice_unless_the_text_before_it_says_once(lesson: Path) -> None:
    notebook = nbformat.read(lesson, 4)  # type: ignore[no-untyped-call]
    deliberate, executed = [], []
    for before, cell in pairwise(notebook.cells):
        if cell.cell_type == "code":
            once = before.cell_type == "markdown" and "works only once" in " ".join(before.source.split())
            errors = {each.ename for each in cell.outputs if each.output_type == "error"}
            for _ in range(1 if once else 2):
                deliberate.append(errors)
                executed.append(nbformat.from_dict(cell | {"outputs": []}))  # type: ignore[no-untyped-call]
    notebook.cells = executed
    client = NotebookClient(notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(NOTEBOOKS)}})
    client.execute(env=dict(os.environ))
    for cell, expected in zip(notebook.cells, deliberate, strict=True):
        assert {each.ename for each in cell.outputs if each.output_type == "error"} == expected, cell.source
