"""Screenshots of the panels in the lessons, in both themes: ``pytest tests/panels/shots_lessons.py -m browser -n0``.

``SVC_SHOTS`` sets the folder. The default is the temporary folder of the run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.panels.test_lessons_in_browser import TASKS, WALLET_LESSON, ask_a_wallet, open_lesson, press
from tests.panels.wallet import SCRIPT

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

VIEW = {"width": 1200, "height": 1600}


def take(nb: Any, panel: Any, folder: Path, name: str) -> None:
    """Saves a screenshot of the page with the panel."""
    folder = Path(os.environ.get("SVC_SHOTS", folder))
    folder.mkdir(parents=True, exist_ok=True)
    panel.scroll_into_view_if_needed()
    path = folder / f"{name}.png"
    nb.tab.screenshot(path=path, animations="disabled")
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lesson", TASKS)
def test_a_panel_in_its_lesson(notebook, tmp_path, lesson, theme):
    nb = open_lesson(notebook, lesson, theme=theme, viewport=VIEW)
    take(nb, TASKS[lesson](nb), tmp_path, f"{lesson}-{theme}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_wallet_of_the_browser_in_its_lesson(notebook, desk, tmp_path, theme):
    nb = open_lesson(notebook, WALLET_LESSON, theme=theme, viewport=VIEW, script=SCRIPT)
    panel, _, _ = ask_a_wallet(nb, desk)
    take(nb, panel, tmp_path, f"{WALLET_LESSON}-asked-{theme}")
    press(panel, "Send from the wallet")
    nb.rests()
    take(nb, panel, tmp_path, f"{WALLET_LESSON}-{theme}")
    desk.wallet = None
