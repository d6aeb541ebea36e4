"""Pictures of the panels inside their lessons, in both themes: ``pytest tests/panels/shots_lessons.py -m browser -n0``.

``SVC_SHOTS`` names the folder; the temporary folder of the run without it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.panels.test_lessons_in_browser import TASKS, open_lesson

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lesson", TASKS)
def test_a_panel_in_its_lesson(notebook, tmp_path, lesson, theme):
    folder = Path(os.environ.get("SVC_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    nb = open_lesson(notebook, lesson, theme=theme, viewport={"width": 1200, "height": 1600})
    panel = TASKS[lesson](nb)
    panel.scroll_into_view_if_needed()
    path = folder / f"{lesson}-{theme}.png"
    nb.tab.screenshot(path=path, animations="disabled")
    assert path.stat().st_size > 20_000
