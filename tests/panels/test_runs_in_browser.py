"""The runs panel in a real JupyterLab: live runs, filters, and details of a run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.panels.axe import faults

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = """
import os, tempfile, svcnb
svc = svcnb.Client(history=os.path.join(tempfile.mkdtemp(), "history.sqlite"))
svc = svc.with_key(svc.accounts.create("runner"))
add = svcnb.Action("async function main({ n }) { console.log('got', n); return n + 1; }", name="add")
svc.run(add, n=41)
try:
    svc.run("const main = () => { throw new Error('five'); }")
except svcnb.ActionError:
    pass
panel = svcnb.panels.RunsPanel(svc)
panel
"""


def runs_of(nb: Any) -> Any:
    panel = nb.panel("Runs")
    panel.locator("tr[data-run]").first.wait_for()
    return panel


def test_a_run_appears_automatically(notebook):
    nb = notebook(CELL)
    panel = runs_of(nb)
    assert panel.locator("tr[data-run]").count() == 2
    nb.run("svc.run(add, n=1)")
    panel.locator("tr[data-run]").nth(2).wait_for()
    assert panel.get_by_role("img").get_attribute("aria-label").startswith("3 runs, 2 succeeded")


def test_a_paused_panel_does_not_change_until_it_continues(notebook):
    nb = notebook(CELL)
    panel = runs_of(nb)
    panel.get_by_role("button", name="Pause updates").click()
    panel.get_by_role("button", name="Resume updates").wait_for()
    nb.run("svc.run(add, n=1)")
    assert panel.locator("tr[data-run]").count() == 2
    panel.get_by_role("button", name="Refresh").click()
    panel.locator("tr[data-run]").nth(2).wait_for()


def test_the_user_filters_and_opens_runs_with_only_the_keyboard(notebook):
    nb = notebook(CELL)
    panel = runs_of(nb)
    keys = nb.tab.keyboard
    panel.get_by_label("Status").focus()
    keys.type("success")
    panel.locator("tr[data-run]").nth(1).wait_for(state="detached")
    assert nb.value("panel.filters['status']") == "success"
    panel.get_by_role("button", name="Open the run of add").focus()
    keys.press("Enter")
    run = panel.locator(".svcnb-run")
    run.get_by_text("got 41").wait_for()
    assert run.get_by_role("group", name="Timeline").get_by_role("row").count() == 4
    keys.press("Escape")
    run.wait_for(state="detached")
    # The focus has returned to the previous element.
    assert nb.tab.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("Open the run of add")


def test_more_charts_are_drawn_by_keyboard_in_the_colours_of_the_page(notebook):
    nb = notebook(CELL, theme="dark")
    panel = runs_of(nb)
    panel.get_by_text("More charts").focus()
    nb.tab.keyboard.press("Enter")
    panel.locator("svg.svcnb-drawing").nth(3).wait_for()
    named = panel.locator("svg.svcnb-drawing").evaluate_all("all => all.map((each) => each.getAttribute('aria-label'))")
    assert named[0].startswith("Runs per ")
    assert faults(nb.tab) == []
    colours = panel.evaluate("""panel => {
      const text = panel.querySelector("svg.svcnb-drawing text[fill=currentColor]");
      return [getComputedStyle(text).fill, getComputedStyle(panel).color];
    }""")
    assert colours[0] == colours[1]


def test_the_focus_stays_while_runs_arrive(notebook):
    nb = notebook(CELL)
    panel = runs_of(nb)
    panel.get_by_role("button", name="Open the run of add").focus()
    number = panel.locator("tr[data-run]:focus-within").get_attribute("data-run")
    nb.run("svc.run(add, n=1)")
    panel.locator("tr[data-run]").nth(2).wait_for()
    assert panel.locator("tr[data-run]:focus-within").get_attribute("data-run") == number


def test_the_saved_notebook_contains_no_data_of_a_run(notebook):
    nb = notebook(CELL.replace("n=41", "n=414243"), own=True, theme="dark")
    runs_of(nb).get_by_role("button", name="Open the run of add").click()
    nb.tab.locator(".svcnb-run").get_by_text("got 414243").wait_for()
    assert "got 414243" not in nb.save()
    assert nb.tab.locator(".svcnb-panel:visible").evaluate("panel => getComputedStyle(panel).colorScheme") == "dark"
