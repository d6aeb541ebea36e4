"""The permissions panel in a real JupyterLab, with accounts of the real emulator."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.panels.axe import faults

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = """
import svcnb
import svcnb.charts  # what draws takes long to load on a busy machine, and a cell may take its time
svc = svcnb.Client()
svc = svc.with_key(svc.accounts.create("office"))
sign = svcnb.Action("const main = ({ text }) => ethers.utils.id(text)", name="sign")
svc.actions.register(sign)
ops = svc.wallets.create()
signers = svc.groups.create("signers", actions=[sign])
svc.groups.create("desk", wallets=[ops])
key = svc.usage_keys.create("night shift", execute_in_groups=[signers])
panel = svcnb.panels.PermissionsPanel(svc, [sign])
panel
"""


def box(panel: Any, label: str) -> Any:
    return panel.get_by_role("checkbox", name=label, exact=True)


def test_a_selected_cell_permits_a_wallet_after_the_cost_is_shown(notebook):
    nb = notebook(CELL, own=True)
    panel = nb.panel("Permissions")
    before = nb.value("svc.billing.balance().available_cents")
    address = nb.value("ops.address")
    # The account has three wallets: its master wallet, ops, and the wallet of the key.
    row = panel.get_by_role("row").filter(has=nb.tab.get_by_title(address))
    row.get_by_role("checkbox").nth(0).check()
    pending = panel.locator(".svcnb-pending")
    pending.get_by_role("heading", name="1 change by 1 call, cost: $0.01").wait_for()
    assert pending.locator("pre").inner_text() == f"svc.groups.add_wallet(1, {address!r})"
    assert nb.value("svc.billing.balance().available_cents") == before
    pending.get_by_role("button", name="Apply").click()
    pending.wait_for(state="detached")
    assert nb.value("[w.address for w in svc.groups.contents(1).wallets]") == [address]
    assert nb.value("svc.billing.balance().available_cents") == before - 1
    assert row.get_by_role("checkbox").nth(0).is_checked()
    code = nb.value("panel.as_code()")
    assert f"svc.groups.add_wallet(1, {address!r})" in code
    secret = nb.value("key.usage_api_key.reveal()")
    saved = nb.save()
    assert "night shift" in saved
    for each in (secret, nb.value("svc.config.api_key.reveal()")):
        assert each not in saved
        assert each not in code


def test_warnings_appear_before_and_after_a_change(notebook):
    panel = notebook(CELL).panel("Permissions")
    box(panel, "every wallet can be used in group 1 signers").check()
    panel.get_by_text("permits the account's master wallet").wait_for()
    panel.get_by_role("button", name="Apply anyway").click()
    panel.get_by_text("Warnings").wait_for()
    assert box(panel, "every wallet can be used in group 1 signers").is_checked()


def test_the_matrix_works_with_only_the_keyboard(notebook):
    nb = notebook(CELL)
    panel = nb.panel("Permissions")
    box(panel, "every action is permitted in group 1 signers").wait_for()
    panel.get_by_label("Filter").focus()
    press = nb.tab.keyboard.press
    press("Tab")  # to the button Refresh
    press("Tab")  # to the matrix
    press("ArrowDown")
    press("ArrowRight")
    focused = "() => document.activeElement.getAttribute('aria-label')"
    assert nb.tab.evaluate(focused) == "sign is permitted in group 2 desk"
    press("Space")
    apply = panel.get_by_role("button", name="Apply", exact=True)
    apply.wait_for()
    assert nb.tab.evaluate(focused) == "sign is permitted in group 2 desk"
    press("Tab")  # to the calls
    press("Tab")
    assert apply.evaluate("button => button === document.activeElement")
    press("Enter")
    panel.locator(".svcnb-pending").wait_for(state="detached")
    assert nb.value("len(svc.groups.contents(2).actions)") == 1


def test_the_graph_explains_a_rejected_key_and_the_fix(notebook):
    nb = notebook(CELL)
    panel = nb.panel("Permissions")
    panel.get_by_label("Wallet", exact=True).select_option(nb.value("ops.address"))
    panel.get_by_role("button", name="Explain").click()
    panel.get_by_role("img", name=re.compile("^Refused: ")).wait_for()
    assert panel.get_by_label("Fix 1 as Python code").inner_text().startswith("svc.groups.add_wallet(1, ")


def test_changes_from_other_clients_are_not_overwritten(notebook):
    nb = notebook(CELL)
    panel = nb.panel("Permissions")
    box(panel, "night shift can execute in group 2 desk").check()
    panel.get_by_role("button", name="Apply").wait_for()
    # This change needs a different client, because the panel follows the changes of its own client.
    nb.run("svcnb.Client(svc.base_url, api_key=svc.config.api_key).usage_keys.update(key, execute_in_groups=[])")
    panel.get_by_role("button", name="Apply").click()
    panel.get_by_role("alert").filter(has_text="the panel did not make any change").wait_for()
    assert nb.value("list(svc.usage_keys.list()[0].execute_in_groups)") == []
    assert not box(panel, "night shift can execute in group 1 signers").is_checked()


def test_a_usage_key_can_view_the_matrix_but_not_change_it(notebook):
    nb = notebook(CELL + "svcnb.panels.PermissionsPanel(svc.with_key(key), [sign])")
    panel = nb.panel("Permissions")
    box(panel, "sign is permitted in group 2 desk").check()
    panel.get_by_role("button", name="Apply").click()
    failure = panel.get_by_role("alert").filter(has_text="0 of 1 calls succeeded before this call")
    failure.wait_for()
    assert nb.value("len(svc.groups.contents(2).actions)") == 0
    panel.get_by_role("button", name="Discard").click()
    assert not box(panel, "sign is permitted in group 2 desk").is_checked()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_is_readable_in_both_themes(notebook, theme):
    panel = notebook(CELL, theme=theme).panel("Permissions")
    box(panel, "every action is permitted in group 1 signers").check()
    panel.get_by_role("button", name="Apply anyway").wait_for()
    panel.get_by_role("button", name="Explain").click()
    drawing = panel.locator("svg.svcnb-drawing")
    drawing.wait_for()
    colours = panel.evaluate("""panel => {
      const text = panel.querySelector("svg.svcnb-drawing text[fill=currentColor]");
      return [getComputedStyle(text).fill, getComputedStyle(panel).color];
    }""")
    assert colours[0] == colours[1]


ON_CHAIN = """
import svcnb
import svcnb.charts
svc = svcnb.Client()
owner = svcnb.LocalSigner.random()
svcnb.Emulator.connect(svc.base_url).faucet(owner.address)
mine = svc.chain_secured.create(owner, "office")
sign = svcnb.Action("const main = ({ text }) => ethers.utils.id(text)", name="sign")
mine.actions.register(sign)
mine.groups.create("signers", actions=[sign])
mine.groups.create("desk")
panel = svcnb.panels.PermissionsPanel(svc, owner=owner)
panel
"""


def test_an_owner_sees_and_sends_a_transaction_with_only_the_keyboard(notebook):
    nb = notebook(ON_CHAIN, own=True)
    panel = nb.panel("Permissions")
    press = nb.tab.keyboard.press
    name = "sign is permitted in group 2 desk"
    box(panel, name).wait_for()
    panel.get_by_label("Filter").focus()
    for key in ("Tab", "Tab", "ArrowDown", "ArrowRight", "Space"):
        press(key)
    pending = panel.locator(".svcnb-pending")
    cost = re.compile(r"^1 change by 1 call, cost: at most 0\.\d+ ETH of gas$")
    pending.get_by_role("heading", name=cost).wait_for()
    assert pending.get_by_role("listitem").filter(has_text="permit action 'sign' in group 2 'desk'").is_visible()
    press("Tab")  # to the arguments of the contract
    press("Enter")
    pending.get_by_role("cell", name="addActionToGroup").wait_for()
    assert faults(nb.tab) == []
    assert nb.value("len(mine.groups.contents(2).actions)") == 0
    press("Tab")  # to the calls
    press("Tab")
    press("Enter")  # on the button Apply
    pending.wait_for(state="detached")
    assert nb.value("[each.hashed_cid for each in mine.groups.contents(2).actions] == [sign.hashed_cid]")
    assert box(panel, name).is_checked()
    assert nb.value("owner.reveal()")[2:] not in nb.save() + nb.value("panel.as_code()")


def test_a_former_owner_gets_an_error_before_any_transaction(notebook):
    nb = notebook(ON_CHAIN)
    panel = nb.panel("Permissions")
    box(panel, "sign is permitted in group 2 desk").wait_for()
    nb.run("mine.transfer_ownership(svcnb.LocalSigner.random(), confirm=True)")
    box(panel, "sign is permitted in group 2 desk").check()
    panel.get_by_role("alert").locator(".svcnb-failure").wait_for()
    assert panel.locator(".svcnb-pending").count() == 0
