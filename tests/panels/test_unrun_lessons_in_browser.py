"""Lessons in JupyterLab before they run: images instead of drawings, and no formulas."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository.unrun import IMAGES, LESSONS

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

# JupyterLab renders cells when they become visible, and several cells are visible at the same time.
RENDER = """async () => {
  const {content} = window.jupyterapp.shell.currentWidget;
  for (let index = 0; index < content.widgets.length; index += 3) await content.scrollToItem(index);
  await content.scrollToItem(content.widgets.length - 1);
}"""
SEEN = """() => {
  const {content} = window.jupyterapp.shell.currentWidget;
  const outputs = [...content.node.querySelectorAll(".jp-OutputArea-output img")];
  return {
    trusted: content.widgets.some(({model}) => model.type === "code" && model.trusted),
    images: outputs.filter((image) => image.alt.length > 10 && image.naturalWidth > 100).length,
    others: outputs.filter((image) => image.alt.length <= 10 || image.naturalWidth <= 100).length,
    drawings: content.node.querySelectorAll(".jp-OutputArea-output svg").length,
    formulas: [...content.node.querySelectorAll("mjx-container, .MathJax")].map((each) => each.textContent),
    words: content.node.querySelectorAll(".jp-OutputArea-output").length,
  };
}"""


def test_every_lesson_shows_its_charts_before_it_is_run(notebook):
    found = {}
    for path in LESSONS:
        nb = notebook(path, run=False)
        nb.tab.evaluate(RENDER)
        nb.tab.wait_for_timeout(300)  # JupyterLab loads MathJax with the first formula, and there should be none
        seen = nb.tab.evaluate(SEEN)
        assert seen.pop("words") > 0
        if seen != {"trusted": False, "images": images(path), "others": 0, "drawings": 0, "formulas": []}:
            found[path.stem] = seen
    assert found == {}


def images(path: Path) -> int:
    return IMAGES.get(path.stem, 0)
