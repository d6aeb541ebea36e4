"""The panels in Notebook 7, with the same bundles as in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from svcnb.panels.workbench import TABS
from tests.panels.axe import faults
from tests.panels.conftest import Lab, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = "import svcnb\nsvc = svcnb.Client()\nbench = svcnb.panels.Workbench(svc)\nbench"


@pytest.fixture(scope="module")
def lab(chromium: str, session_emulator: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001 - no Notebook without it
    pytest.importorskip("notebook", reason="Notebook 7 is not installed (extra 'browser')")
    with running_lab(tmp_path_factory, session_emulator, app="notebook") as running:
        yield running


def test_an_action_is_written_and_run_in_notebook_7(notebook):
    nb = notebook(CELL, own=True)
    bench = nb.panel("Workbench")
    bench.get_by_label("Name", exact=True).fill("treasury")
    bench.get_by_role("button", name="Create", exact=True).click()
    bench.get_by_role("button", name="Hide key").click()
    place = bench.get_by_role("tabpanel", name="Actions")
    bench.get_by_role("tab", name="Actions").click()
    place.locator(".svcnb-panel[data-ready]").wait_for()
    place.get_by_role("button", name="Run", exact=True).click()
    place.get_by_role("heading", name="✓ Response").wait_for()
    bench.get_by_role("group", name="Open account").get_by_text("$9.99 credit").wait_for()
    found = {}
    for name in TABS:
        bench.get_by_role("tab", name=name).click()
        bench.get_by_role("tabpanel", name=name).locator(".svcnb-panel").wait_for()
        nb.tab.wait_for_function("() => !document.querySelector('.svcnb-panel[aria-busy]')")
        if serious := faults(nb.tab):
            found[name] = serious
    assert found == {}
