"""Use of each panel in the page. The panels share the page's account."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

BEGIN = """
import svcnb
emu = svcnb.Emulator(seed="panels", starter_credits=1000)
svc = emu.client()
{more}
panel = svcnb.panels.{panel}
panel
"""
ACCOUNT = """
me = svc.with_key(svc.accounts.create("Ada"))
wallet = me.wallets.create()
hello = svcnb.Action("const main = ({ n }) => ({ n: n + 1 });", name="hello")
group = me.groups.create("desk", actions=[hello])
key = me.usage_keys.create("runner", execute_in_groups=[group])
"""


def begin(lab: Any, panel: str, heading: str, more: str = ACCOUNT) -> Any:
    page = lab()
    page.show(BEGIN.format(panel=panel, more=more))
    return page, page.panel(heading)


def press(panel: Any, name: str) -> None:
    panel.get_by_role("button", name=name, exact=True).click()


def test_an_account_is_created_in_a_panel(lab: Any):
    page, panel = begin(lab, "AccountPanel(svc)", "Account", more="")
    panel.get_by_label("Name", exact=True).fill("treasury")
    press(panel, "Create")
    key = panel.locator(".svcnb-key").inner_text()
    press(panel, "Hide key")
    panel.get_by_text("$10.00 credit").wait_for()
    assert page.run("print(panel.client.config.api_key.reveal())").strip() == key


def test_an_action_is_checked_and_run_in_a_panel(lab: Any):
    page, panel = begin(lab, 'ActionEditor(me, hello, {"n": 41})', "Action editor")
    page.tab.locator(".svcnb-panel[data-ready]:visible").first.wait_for()
    press(panel, "Run")
    panel.locator(".svcnb-response").filter(has_text="42").wait_for()
    assert page.run("print(panel.result.response)").strip() == "{'n': 42}"


def test_a_wallet_is_permitted_in_a_panel(lab: Any):
    page, panel = begin(lab, "PermissionsPanel(me, [hello])", "Permissions")
    address = page.run("print(wallet.address)").strip()
    row = panel.get_by_role("row").filter(has=page.tab.get_by_title(address))
    row.get_by_role("checkbox").first.check()
    press(panel, "Apply")
    panel.locator(".svcnb-pending").wait_for(state="detached")
    assert page.run("print(*[each.address for each in me.groups.contents(group).wallets])").strip() == address


def test_runs_are_listed_in_a_panel(lab: Any):
    _, panel = begin(lab, "RunsPanel(me)", "Runs", more=ACCOUNT + "me.run(hello, n=1)")
    panel.get_by_role("button", name="Open the run of hello").first.click()
    panel.locator(".svcnb-run").get_by_role("group", name="Timeline").get_by_role("row").nth(1).wait_for()


def test_an_envelope_is_signed_in_a_panel(lab: Any):
    owner = "owner = svcnb.LocalSigner.from_key(svcnb.practice_key(1))"
    page, panel = begin(lab, "SigningPanel(svc, signer=owner)", "Signing", more=owner)
    press(panel, "Sign")
    panel.get_by_role("row", name=f"Recovered address {page.run('print(owner.address)').strip()}").wait_for()


def test_a_button_sends_to_a_webhook_that_the_internet_cannot_reach(lab: Any):
    more = ACCOUNT + (
        'triggers = emu.triggers("page")\norders = triggers.create_for(me, "const main = () => 1;", name="orders")'
    )
    page, panel = begin(lab, "TriggersPanel(me, triggers)", "Triggers", more=more)
    switch = page.tab.get_by_role("switch", name="orders fires", exact=True)
    panel.get_by_role("row").filter(has=switch).get_by_role("button", name="Runs").click()
    press(panel, "Send")
    panel.get_by_role("region", name="Runs").get_by_text("✓ success").first.wait_for()


def test_the_workbench_shows_all_panels(lab: Any):
    page, panel = begin(lab, "Workbench(svc)", "Workbench", more="")
    panel.get_by_label("Name", exact=True).first.fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).first.click()
    panel.get_by_role("button", name="Hide key").click()
    panel.get_by_role("tab", name="Runs").click()
    assert page.run("print(panel.client.config.api_key is not None)").strip() == "True"
