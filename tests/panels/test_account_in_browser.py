"""The account panel in a real JupyterLab."""

from __future__ import annotations

from typing import Any

import pytest

from svcnb import LocalSigner

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

# Every account on the emulator starts with ten dollars of credit.
CELL = "import svcnb\npanel = svcnb.panels.AccountPanel(svcnb.Client())\npanel"


def test_an_account_is_created_and_its_key_is_shown_once(notebook):
    nb = notebook(CELL, own=True)
    panel = nb.panel("Account")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    key = panel.locator(".svcnb-key").inner_text()
    assert len(key) == 44
    assert key not in nb.save()
    panel.get_by_role("button", name="Hide key").click()
    assert panel.locator(".svcnb-key").count() == 0
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_text("$10.00 credit").wait_for()
    saved = nb.save()
    assert "$10.00 credit" in saved  # the notebook contains the state ...
    assert key not in saved  # ... but no secret
    assert nb.value("panel.client.config.api_key.reveal()") == key


def test_the_error_for_a_key_without_an_account_contains_the_fix(notebook):
    panel = notebook(CELL).panel("Account")
    panel.get_by_label("Account key or usage key").fill("bm90aGluZw==")
    panel.get_by_role("button", name="Open", exact=True).click()
    panel.get_by_role("alert").filter(has_text="does not resolve").wait_for()
    field = panel.get_by_label("Account key or usage key")
    assert field.get_attribute("aria-invalid") == "true"
    assert field.input_value() == "bm90aGluZw=="


def test_a_waiting_cell_does_not_stop_the_panel(notebook):
    nb = notebook(CELL, "import asyncio\nwhile not panel.state['address']:\n    await asyncio.sleep(0.05)", run=False)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Account")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="Hide key").click()
    nb.rests()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_follows_the_theme(notebook, theme):
    panel = notebook(CELL, theme=theme).panel("Account")
    colour = panel.evaluate("panel => getComputedStyle(panel).colorScheme")
    assert colour == theme


def own(panel: Any, signer: LocalSigner) -> None:
    """Enters the private key of the owner's wallet."""
    panel.get_by_label("Wallet of the owner").select_option("a private key")
    panel.get_by_label("Private key of the owner").fill(signer.reveal())
    panel.get_by_role("button", name="Use this wallet").click()
    panel.get_by_text(f"Owner: {signer.address}").wait_for()


@pytest.fixture
def owner(emulator):
    signer = LocalSigner.random()
    emulator.faucet(signer.address)
    return signer


@pytest.fixture
def created(notebook):
    """Panel with a new account in API mode."""
    nb = notebook(CELL)
    panel = nb.panel("Account")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="Hide key").click()
    nb.account = panel
    return nb


def test_credit_is_added_on_the_processors_page(created):
    panel = created.account
    panel.get_by_label("Amount").select_option("$25.00")
    panel.get_by_role("button", name="Add credit").click()
    with created.tab.context.expect_page() as opening:
        panel.get_by_role("link", name="Open the processor's page").click()
    page = opening.value
    page.get_by_role("button", name="Pay $25.00").click()
    panel.get_by_text("$35.00 credit").wait_for()
    panel.get_by_role("link", name="Open the processor's page").wait_for(state="detached")
    page.close()
    assert "svc.billing.top_up(2500, method='card')" in created.value("panel.as_code()")


def test_waiting_for_a_payment_can_be_cancelled(created):
    panel = created.account
    panel.get_by_role("button", name="Add credit").click()
    panel.get_by_role("link", name="Open the processor's page").wait_for()
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_role("alert").filter(has_text="the operation was stopped").wait_for()
    assert panel.get_by_role("button", name="Add credit").get_attribute("aria-busy") is None


def test_an_account_is_converted_in_two_steps(created, owner, emulator):
    panel = created.account
    panel.get_by_text("Conversion to ChainSecured").click()
    own(panel, owner)
    panel.get_by_role("button", name="Convert to ChainSecured …").click()
    panel.get_by_text("The account cannot return to API mode.").wait_for()
    assert panel.get_by_role("button", name="Cancel").evaluate("node => node === document.activeElement")
    panel.get_by_role("button", name="Cancel").click()
    assert created.value("svcnb.Client().with_key(panel.client.config.api_key).accounts.exists()") is True
    panel.get_by_role("button", name="Convert to ChainSecured …").click()
    panel.get_by_role("button", name="Convert permanently").click()
    panel.get_by_role("row", name="Mode ChainSecured: a wallet owns the account").wait_for()
    assert panel.get_by_role("row", name=f"Owner {owner.address}").count() == 1
    panel.get_by_role("button", name="Refresh").click()  # opened with the owner's signature
    panel.get_by_role("row", name="Credit $10.00 credit").wait_for()
    with emulator.client() as svc:
        assert svc.chain_secured.open(owner).describe().admin == owner.address


def test_an_account_is_created_on_the_chain_and_opened_again(notebook, owner):
    nb = notebook(CELL)
    panel = nb.panel("Account")
    own(panel, owner)
    panel.get_by_label("Name on the chain").fill("treasury")
    panel.get_by_role("button", name="Create on the chain").click()
    panel.get_by_role("region", name="Transaction to confirm").get_by_role("button", name="Sign and send").click()
    panel.get_by_role("row", name=f"Owner {owner.address}").wait_for()
    again = notebook(CELL).panel("Account")
    own(again, owner)
    again.get_by_role("button", name="Open the wallet's account").click()
    again.get_by_role("row", name=f"Owner {owner.address}").wait_for()


def test_the_error_for_a_wallet_without_gas_explains_how_to_get_gas(notebook):
    panel = notebook(CELL).panel("Account")
    own(panel, LocalSigner.random())
    panel.get_by_label("Name on the chain").fill("treasury")
    panel.get_by_role("button", name="Create on the chain").click()
    failure = panel.get_by_role("alert").filter(has_text="to pay for gas")
    failure.wait_for()
    assert "emu." not in failure.inner_text()
    failure.get_by_role("button", name="Add test ETH").wait_for()


def test_the_panel_works_with_only_the_keyboard(notebook):
    nb = notebook(CELL)
    panel = nb.panel("Account")
    panel.get_by_label("Name", exact=True).focus()
    keys = nb.tab.keyboard
    keys.type("dd")  # in the command mode of a notebook, these keys delete the cell
    keys.press("Tab")
    assert nb.tab.evaluate("document.activeElement.textContent") == "Create"
    outline = nb.tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    keys.press("Enter")
    panel.locator(".svcnb-key").wait_for()
    assert nb.tab.evaluate("document.activeElement.textContent") == "Hide key"
    keys.press("Enter")
    panel.locator(".svcnb-key").wait_for(state="detached")
    assert nb.tab.locator(".jp-CodeCell:visible").count() == 1
