"""The account panel in a real JupyterLab."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = "import svcnb\npanel = svcnb.panels.AccountPanel(svcnb.Client())\npanel"


def test_an_account_is_created_and_its_key_is_shown_once(notebook):
    nb = notebook(CELL, own=True)
    panel = nb.panel("Account")
    panel.get_by_label("Name").fill("treasury")
    panel.get_by_role("button", name="Create").click()
    key = panel.locator(".svcnb-key").inner_text()
    assert len(key) == 44
    assert key not in nb.save()
    panel.get_by_role("button", name="I stored it").click()
    assert panel.locator(".svcnb-key").count() == 0
    saved = nb.save()
    assert "$10.00 credit" in saved  # the state is there ...
    assert key not in saved  # ... and what is secret is not
    assert nb.value("panel.client.config.api_key.reveal()") == key


def test_a_key_that_opens_nothing_is_told_with_what_to_do(notebook):
    panel = notebook(CELL).panel("Account")
    panel.get_by_label("Account key or usage key").fill("bm90aGluZw==")
    panel.get_by_role("button", name="Open").click()
    failure = panel.get_by_role("alert").filter(has_text="does not resolve")
    failure.wait_for()
    failure.get_by_role("button", name="Close this message").click()
    assert panel.locator(".svcnb-failure").count() == 0


def test_a_kernel_that_was_stopped_is_noticed(notebook):
    nb = notebook(CELL, own=True)
    panel = nb.panel("Account")
    nb.shut_down()
    panel.get_by_label("Name").fill("treasury")
    panel.get_by_role("button", name="Create").click()
    panel.get_by_role("alert").filter(has_text="The kernel does not answer.").wait_for()


def test_a_cell_that_awaits_does_not_stop_the_panel(notebook):
    nb = notebook(CELL, "import asyncio\nwhile not panel.state['address']:\n    await asyncio.sleep(0.05)", run=False)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Account")
    panel.get_by_label("Name").fill("treasury")
    panel.get_by_role("button", name="Create").click()
    panel.get_by_role("button", name="I stored it").click()
    nb.rests()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_follows_the_theme(notebook, theme):
    panel = notebook(CELL, theme=theme).panel("Account")
    colour = panel.evaluate("panel => getComputedStyle(panel).colorScheme")
    assert colour == theme
