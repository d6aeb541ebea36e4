"""Walk through lessons 0 to 8 in JupyterLab: ``pytest tests/panels/walk_lessons.py -m browser -n0 -s``.

The test runs every cell and puts the solutions into the exercises. The test prints the duration of the cells of each
lesson, and saves a screenshot of the whole lesson. ``SVC_SHOTS`` sets the folder of the screenshots. ``SVC_WALK_PLACE``
sets a learner's file of a workshop (``workshop/places/ada.env``). Without this setting, each lesson has its own
emulator, as in `svcnb lab`.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lessons.test_solutions_in_place import EXERCISE, answers

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("0[0-8]-*.ipynb"))
TALL = 20_000
"""Height of the page in pixels. JupyterLab does not draw elements outside of it."""

CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
  ({model}) => [model.type, model.sharedModel.source])"""
OUTPUTS = """number => window.jupyterapp.shell.currentWidget.content.widgets[number].model.sharedModel.outputs"""
SELECT = """number => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = number; }"""
TYPE = """([number, sources]) => {
  const shared = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
  shared.getCell(number).setSource(sources.at(-1));
  sources.slice(0, -1).forEach((source, index) => shared.insertCell(number + index, {cell_type: "code", source}));
}"""


def place() -> dict[str, str]:
    """Returns the environment of the learner's notebooks."""
    if (file := os.environ.get("SVC_WALK_PLACE")) is None:
        return {"SVC_LESSONS": "own"}
    exports = [shlex.split(line)[1] for line in Path(file).read_text(encoding="utf-8").splitlines()]
    return dict(export.split("=", 1) for export in exports)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_walk(notebook, tmp_path, lesson):
    solutions = answers(NOTEBOOKS / "solutions" / lesson.name)
    nb = notebook(lesson, own=True, run=False, viewport={"width": 1100, "height": TALL})
    nb.run(f"import os; os.environ.update({place()!r})")
    took: list[tuple[float, str]] = []
    verdicts: list[str] = []
    number = 0
    while number < len(cells := nb.tab.evaluate(CELLS)):
        kind, source = cells[number]
        if kind == "code":
            if (names := EXERCISE.findall(source)) and source.startswith("answer = ") and names[0] in solutions:
                typed = solutions.pop(names[0])
                nb.tab.evaluate(TYPE, [number, typed])
                source = typed[0]
            nb.tab.evaluate(SELECT, number)
            began = time.monotonic()
            nb.do("notebook:run-cell")
            took.append((time.monotonic() - began, source.partition("\n")[0]))
            outputs = nb.tab.evaluate(OUTPUTS, number)
            assert [each for each in outputs if each["output_type"] == "error"] == [], source
            verdicts += [text for each in outputs if (text := plain(each)).startswith(("Right", "Not yet"))]
        number += 1
    slowest = max(took)
    total_s = sum(seconds for seconds, _ in took)
    sys.stdout.write(f"\n{lesson.stem}: {len(took)} cells, {total_s:.1f} s; slowest {slowest[0]:.1f} s: {slowest[1]}\n")
    folder = Path(os.environ.get("SVC_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    nb.tab.screenshot(path=folder / f"{lesson.stem}-whole.png", animations="disabled")
    assert verdicts
    assert [verdict for verdict in verdicts if not verdict.startswith("Right")] == []


def plain(output: dict[str, Any]) -> str:
    """Returns the text of an output."""
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(text)
