"""The workbench in a real JupyterLab, operated only by keyboard and without serious accessibility faults."""

from __future__ import annotations

from typing import Any

import pytest

from svcnb import LocalSigner
from svcnb.panels.workbench import TABS
from tests.panels.axe import faults

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = "import svcnb\npanel = svcnb.panels.Workbench(svcnb.Client())\npanel"


@pytest.fixture
def opened(notebook):
    nb = notebook(CELL)
    nb.bench = nb.panel("Workbench")
    nb.bench.get_by_label("Name", exact=True).wait_for()
    return nb


def create(bench: Any) -> None:
    bench.get_by_label("Name", exact=True).fill("treasury")
    bench.get_by_role("button", name="Create", exact=True).click()
    bench.get_by_role("button", name="Hide key").click()


def test_all_tabs_use_the_account_of_the_first_tab(opened):
    bench = opened.bench
    bench.get_by_role("tab", name="Permissions").click()
    bench.get_by_role("tabpanel", name="Permissions").get_by_role("alert").filter(has_text="key").first.wait_for()
    bench.get_by_role("tab", name="Account").click()
    create(bench)
    bench.get_by_role("tab", name="Permissions").click()
    bench.get_by_role("tabpanel", name="Permissions").get_by_text("treasury").or_(
        bench.get_by_role("tabpanel", name="Permissions").get_by_role("heading", name="Permissions")
    ).first.wait_for()
    assert opened.value("panel.panels['Permissions'].client is panel.panels['Account'].client") is True
    code = opened.value("panel.as_code()")
    assert code.count("import svcnb") == 1
    assert "svc.accounts.create('treasury')" in code


def test_every_tab_opens_with_only_the_keyboard(opened):
    bench, keys = opened.bench, opened.tab.keyboard
    create(bench)
    bench.get_by_role("tab", name="Account").focus()
    for name in [*list(TABS)[1:], "Account"]:
        keys.press("ArrowRight")
        tab = bench.get_by_role("tab", name=name)
        assert tab.get_attribute("aria-selected") == "true"
        assert tab.evaluate("tab => tab === document.activeElement")
        bench.get_by_role("tabpanel", name=name).locator(".svcnb-panel").wait_for()
    keys.press("End")
    assert bench.get_by_role("tab", name=list(TABS)[-1]).get_attribute("aria-selected") == "true"
    last = bench.get_by_role("tabpanel", name=list(TABS)[-1])
    last.get_by_label("Purpose").wait_for()  # the panel first requests the choices from the service
    keys.press("Tab")  # move from the tabs into the panel
    assert last.evaluate("panel => panel.contains(document.activeElement)")


def test_all_tabs_work_without_a_mouse(opened, emulator):
    """Creates an account in API mode and then one on the chain, with only the keyboard."""
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    bench, keys = opened.bench, opened.tab.keyboard
    bench.get_by_label("Name", exact=True).focus()
    keys.type("treasury")
    keys.press("Tab")
    keys.press("Enter")
    bench.locator(".svcnb-key").wait_for()
    keys.press("Enter")
    bench.locator(".svcnb-key").wait_for(state="detached")
    bench.get_by_text("Conversion to ChainSecured").focus()
    keys.press("Enter")
    keys.press("Tab")
    keys.type("a private key")
    keys.press("Tab")
    keys.type(owner.reveal())
    keys.press("Tab")
    keys.press("Enter")
    bench.get_by_text(f"Owner: {owner.address}").wait_for()
    bench.get_by_role("button", name="Convert to ChainSecured …").focus()
    keys.press("Enter")
    bench.get_by_text("The account cannot return to API mode.").wait_for()
    keys.press("Shift+Tab")  # the safe choice has the focus
    keys.press("Enter")
    bench.get_by_role("row", name="Mode ChainSecured").wait_for()


def test_the_accessibility_checker_finds_a_fault(opened):
    opened.bench.evaluate("bench => bench.append(document.createElement('input'))")
    assert any(fault.startswith("label:") for fault in faults(opened.tab))
