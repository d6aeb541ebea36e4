"""The signing panel in a real JupyterLab, with a key, a browser wallet and a contract wallet."""

from __future__ import annotations

import os
from typing import Any

import pytest

from svcnb.protocol.eip712 import digest_parts
from svcnb.protocol.typed_data import envelope
from tests.panels.wallet import SCRIPT

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = "import svcnb\nsvc = svcnb.Client()\npanel = svcnb.panels.SigningPanel(svc)\npanel"
KEY = "0x" + "11" * 32
WAIT = """from svcnb.panels.loop import BACKGROUND
async def wait():
    with open({gate!r}) as gate:
        gate.read()
waiting = BACKGROUND.submit(wait())
"""


@pytest.fixture
def opened(notebook, wallet):  # noqa: ARG001 - it stands in the page
    """Panel in a browser with a wallet."""
    nb = notebook(CELL, script=SCRIPT)
    nb.signing = nb.panel("Signing")
    nb.signing.get_by_role("button", name="Use current time").wait_for()
    return nb


def verdicts(panel: Any) -> list[str]:
    panel.get_by_role("heading", name="Signed").wait_for()
    said: list[str] = panel.locator(".svcnb-rules tbody td:nth-child(2)").all_inner_texts()
    return said


def value_of(panel: Any, field: str) -> Any:
    return panel.locator(".svcnb-envelope tr", has=panel.page.get_by_role("rowheader", name=field)).locator("td").first


def test_the_envelope_is_explained_and_has_the_same_hash_as_in_python(opened, emulator):
    panel = opened.signing
    panel.get_by_label("Purpose").select_option("AddUsageApiKey")
    panel.get_by_label("a private key").check()
    panel.get_by_label("Address").fill("0x" + "ab" * 20)
    panel.get_by_label("Issued at").fill("1767225600")
    assert value_of(panel, "primaryType").inner_text() == "AddUsageApiKey"
    assert "2026-01-01 00:00:00 UTC" in value_of(panel, "message.issuedAt").inner_text()
    wanted = digest_parts(envelope("AddUsageApiKey", "0x" + "ab" * 20, emulator.chain_id, 1767225600)).digest.hex()
    assert panel.locator(".svcnb-digest").inner_text() == "0x" + wanted
    assert "expired" in panel.locator(".svcnb-countdown").inner_text()


def test_a_typed_key_signs_a_valid_envelope_that_creates_a_wallet(opened):
    panel = opened.signing
    panel.get_by_label("a private key").check()
    panel.get_by_label("Private key", exact=True).fill(KEY)
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert verdicts(panel) == ["✓ passed"] * 8
    # Address of this key, computed by eth-account.
    panel.get_by_role("row", name="Recovered address 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A").wait_for()
    assert panel.get_by_label("Private key", exact=True).input_value() == ""
    panel.get_by_role("button", name="Send to the service").click()
    panel.get_by_text("The wallet is not part of an account until").wait_for()
    panel.get_by_text("Show Python code").click()
    panel.locator(".svcnb-code code", has_text="svc.chain_secured.send(signed)").wait_for()
    assert KEY[2:] not in panel.inner_html()


def test_a_browser_wallet_is_found_and_signs_and_sends(opened, wallet):
    panel = opened.signing
    panel.get_by_role("button", name="Connect Test Wallet").click()
    panel.get_by_text("Test Wallet is connected").wait_for()
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert "✗ failed" not in verdicts(panel)
    panel.get_by_role("row", name=f"Recovered address {wallet.signer.address}").wait_for()
    panel.get_by_role("button", name="Send to the service").click()
    panel.get_by_text("The wallet is not part of an account until").wait_for()


def test_a_wallet_is_shown_as_connected_when_the_kernel_knows_its_address(notebook, wallet, tmp_path):
    """The next cell of a lesson asks the kernel for the address."""
    nb = notebook(CELL, script=SCRIPT, own=True)
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Use current time").wait_for()
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    nb.tab.evaluate(
        """code => {
          const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
          kernel.requestExecute({code, store_history: false});
        }""",
        WAIT.format(gate=str(gate)),
    )
    with gate.open("w"):  # the thread that performs the commands of panels waits until it closes
        panel.get_by_role("button", name="Connect Test Wallet").click()
        panel.get_by_text("Connecting …").wait_for()
        assert panel.get_by_text("Test Wallet is connected").count() == 0
    panel.get_by_text("Test Wallet is connected").wait_for()
    assert nb.value("panel.wallet['address']") == wallet.signer.address.lower()


def test_the_owner_signs_for_a_contract_wallet(opened, wallet, emulator):
    contract = emulator.contract_wallet(wallet.signer.address)
    panel = opened.signing
    panel.get_by_label("Sign for a contract wallet").check()
    panel.get_by_label("Contract wallet", exact=True).fill(contract)
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert verdicts(panel) == ["✓ passed"] * 8
    panel.get_by_role("button", name="Send to the service").click()
    panel.get_by_text("The wallet is not part of an account until").wait_for()


def test_the_error_for_a_rejecting_wallet_contains_the_next_step(opened, wallet):
    wallet.rejects.add("eth_signTypedData_v4")
    panel = opened.signing
    panel.get_by_role("button", name="Sign", exact=True).click()
    failure = panel.get_by_role("alert").filter(has_text="rejected the request in Test Wallet")
    failure.wait_for()
    assert "try again and confirm the request" in failure.inner_text()
    wallet.rejects.clear()
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert "✗ failed" not in verdicts(panel)


def test_a_wallet_on_another_chain_adds_and_selects_the_correct_chain(opened, wallet, emulator):
    wallet.chain_id, wallet.known = 1, {1}
    panel = opened.signing
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert "✗ failed" not in verdicts(panel)
    assert wallet.chain_id == emulator.chain_id
    assert wallet.asked.index("wallet_switchEthereumChain") < wallet.asked.index("wallet_addEthereumChain")


def test_the_error_for_a_wallet_on_a_wrong_chain_contains_the_next_step(opened, wallet, emulator):
    wallet.chain_id, wallet.known = 1, {1}
    wallet.rejects.add("wallet_addEthereumChain")
    panel = opened.signing
    panel.get_by_role("button", name="Sign", exact=True).click()
    failure = panel.get_by_role("alert").filter(has_text="is not on chain")
    failure.wait_for()
    assert f"Switch the wallet to chain {emulator.chain_id}" in failure.inner_text()
    assert "eth_signTypedData_v4" not in wallet.asked


def test_the_service_rejects_an_expired_signature(opened):
    panel = opened.signing
    issued = panel.get_by_label("Issued at")
    issued.fill(str(int(issued.input_value()) - 400))
    assert "The envelope has expired" in panel.locator(".svcnb-countdown").inner_text()
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert verdicts(panel)[6] == "✗ failed"
    panel.get_by_role("button", name="Send to the service").click()
    panel.get_by_role("alert").filter(has_text="issuedAt").wait_for()
    panel.get_by_role("button", name="Use current time").click()
    panel.locator(".svcnb-countdown.svcnb-good").wait_for()


def test_a_usage_key_is_shown_once_and_a_rejected_billing_request_is_shown(opened):
    panel = opened.signing
    panel.get_by_label("Purpose").select_option("AddUsageApiKey")
    panel.get_by_role("button", name="Sign", exact=True).click()
    assert "✗ failed" not in verdicts(panel)
    panel.get_by_role("button", name="Send to the service").click()
    assert len(panel.locator(".svcnb-key").inner_text()) == 44
    panel.get_by_role("button", name="Hide key").click()
    assert panel.locator(".svcnb-key").count() == 0


FOCUSED = """() => {
  const at = document.activeElement, {outlineStyle, outlineWidth} = getComputedStyle(at);
  const seen = at.matches(":focus-visible") && outlineStyle === "solid" && parseFloat(outlineWidth) >= 2;
  const named = at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.innerText;
  return [named.trim().split("\\n")[0], seen && at.checkVisibility() && at.closest(".svcnb-panel") !== null];
}"""


class Hands:
    """Keyboard user of a page, who checks the focus after each key."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.press = tab.keyboard.press

    def at(self) -> str:
        """Returns the name of the focused element. Its focus must be visible."""
        name, is_seen = self.tab.evaluate(FOCUSED)
        assert is_seen, f"the focus on {name!r} cannot be seen"
        return str(name)

    def walk(self, name: str, key: str = "Tab") -> None:
        """Moves the focus until the name of the focused element has this beginning."""
        passed = []
        while not self.at().startswith(name):
            passed.append(self.at())
            assert len(passed) < 12, f"{name!r} is not reached by {key}: {passed}"
            self.press(key)


def test_the_user_creates_signs_and_sends_an_envelope_with_only_the_keyboard(opened, wallet):
    panel, hands = opened.signing, Hands(opened.tab)
    panel.get_by_label("Purpose").focus()
    hands.press("Space")  # this key opens the list
    hands.press("ArrowDown")
    hands.press("ArrowDown")
    hands.press("Enter")
    value_of(panel, "primaryType").filter(has_text="AddUsageApiKey").wait_for()
    hands.press("Tab")
    assert hands.at() == "a wallet in this browser"
    hands.press("ArrowDown")
    assert hands.at() == "a private key"
    assert panel.get_by_label("Private key", exact=True).is_visible()
    hands.press("ArrowUp")
    hands.press("d")
    hands.press("d")  # in the command mode of a notebook, these keys delete the cell
    hands.press("Tab")
    assert hands.at() == "Connect Test Wallet"
    hands.press("Enter")
    panel.get_by_text("Test Wallet is connected").wait_for()
    assert hands.at() == "Connect Test Wallet"
    hands.press("Tab")
    contract = panel.get_by_label("Contract wallet", exact=True)
    assert hands.at() == "Sign for a contract wallet"
    hands.press("Space")
    contract.wait_for()
    hands.press("Space")
    contract.wait_for(state="hidden")
    hands.walk("Use current time")
    hands.walk("Sign", "Shift+Tab")
    hands.press("Enter")
    assert "✗ failed" not in verdicts(panel)
    panel.get_by_role("row", name=f"Recovered address {wallet.signer.address}").wait_for()
    hands.walk("Results of the rules")
    hands.walk("Send to the service")
    hands.press("Space")
    assert len(panel.locator(".svcnb-key").inner_text()) == 44
    hands.walk("Hide key")
    hands.press("Enter")
    panel.locator(".svcnb-key").wait_for(state="detached")
    # The focused element no longer exists, but another element has the focus.
    assert hands.at() == "The service responded"
    hands.walk("Show Python code")


WHOLE_LIFE = """
owner = await svcnb.BrowserSigner(panel).connect()
mine = await svc.to_async().chain_secured.create(owner, "treasury")
made = await mine.wallets.create("ops")
"""


def test_the_browser_wallet_signs_requests_of_python(notebook, wallet):
    nb = notebook(CELL, WHOLE_LIFE, script=SCRIPT, run=False)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect a wallet").click()
    panel.get_by_text("This transaction will create the account 'treasury', owned by this wallet.").wait_for()
    panel.get_by_role("button", name="Send from the wallet").click()
    panel.get_by_role("heading", name="Signature needed: Create a wallet").wait_for()
    panel.get_by_role("button", name="Sign in the wallet").click()
    panel.get_by_text("This transaction will register wallet 'ops'").wait_for()
    assert panel.get_by_role("row", name="function registerWalletDerivation").count() == 1
    panel.get_by_role("button", name="Send from the wallet").click()
    nb.rests()
    assert nb.value("owner.address") == wallet.signer.address
    assert nb.value("[wallet.name for wallet in svc.chain_secured.look(mine.api_key_hash).wallets.list()]") == ["ops"]
    assert nb.value("len(svc.chain_secured.pending())") == 0


ONE_SIGNATURE = """
owner = await svcnb.BrowserSigner(panel).connect()
try:
    signed = await svc.to_async().chain_secured.sign(owner, "BillingAuth")
except svcnb.SigningError as error:
    told = str(error)
"""


@pytest.mark.parametrize(
    ("rejects", "button", "told"),
    [
        ([], "Decline", "the user declined the request in the panel"),
        (["eth_signTypedData_v4"], "Sign in the wallet", "rejected the request in Test Wallet"),
    ],
)
def test_a_rejection_reaches_python_with_its_next_step(notebook, wallet, rejects, button, told):
    wallet.rejects.update(rejects)
    nb = notebook(CELL, ONE_SIGNATURE, script=SCRIPT, run=False)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect a wallet").click()
    panel.get_by_role("heading", name="Signature needed: Use billing").wait_for()
    panel.get_by_role("button", name=button).click()
    nb.rests()
    answer = nb.value("told")
    assert told in answer
    assert "No data was signed or sent" in answer


def test_a_request_on_the_wrong_chain_can_be_tried_again(notebook, wallet):
    nb = notebook(CELL, ONE_SIGNATURE, script=SCRIPT, run=False)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect a wallet").click()
    panel.get_by_role("heading", name="Signature needed").wait_for()
    wallet.chain_id, wallet.known = 1, {1}
    wallet.rejects.add("wallet_addEthereumChain")
    panel.get_by_role("button", name="Sign in the wallet").click()
    panel.get_by_role("alert").filter(has_text="is not on chain").wait_for()
    wallet.rejects.clear()
    panel.get_by_role("button", name="Sign in the wallet").click()
    nb.rests()
    assert nb.value("signed.address") == wallet.signer.address


@pytest.mark.usefixtures("wallet")
def test_the_saved_notebook_contains_no_secret(notebook):
    nb = notebook(CELL, script=SCRIPT, own=True)
    panel = nb.panel("Signing")
    panel.get_by_label("Purpose").select_option("AddUsageApiKey")
    panel.get_by_label("a private key").check()
    panel.get_by_label("Private key", exact=True).fill(KEY)
    panel.get_by_role("button", name="Sign", exact=True).click()
    verdicts(panel)
    panel.get_by_role("button", name="Send to the service").click()
    key = panel.locator(".svcnb-key").inner_text()
    saved = nb.save()
    assert "AddUsageApiKey" in saved
    assert key not in saved
    assert KEY[2:] not in saved
