"""Screenshots of the panels for the documentation, in the light and dark theme. pytest runs this file only by name.

``pytest -m browser -n 0 tests/panels/shots_panels.py`` writes ``docs/images/panels/*.png``. Check the images before you
commit them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from svcnb import LocalSigner
from tests.panels.wallet import SCRIPT, TestWallet

IMAGES = Path(__file__).parents[2] / "docs/images/panels"
SIZE = {"width": 1100, "height": 2200}
SIGNING = "import svcnb\nsvc = svcnb.Client()\npanel = svcnb.panels.SigningPanel(svc)\npanel"
CREATE = """
owner = await svcnb.BrowserSigner(panel).connect()
mine = await svc.to_async().chain_secured.create(owner, "ops")
"""

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(params=["light", "dark"])
def theme(request):
    return request.param


@pytest.fixture
def shoot(theme):
    IMAGES.mkdir(parents=True, exist_ok=True)

    def shot(panel, name):
        panel.page.mouse.move(0, 0)
        panel.page.wait_for_timeout(500)  # JupyterLab updates the layout after a panel has grown
        panel.screenshot(path=IMAGES / f"{name}-{theme}.png", animations="disabled")

    return shot


@pytest.fixture
def wallet(desk, emulator):
    signer = LocalSigner.from_key("0x" + "11" * 32)
    emulator.faucet(signer.address)
    desk.wallet = TestWallet(signer, emulator.chain_id, emulator.rpc_url)
    return desk.wallet


@pytest.mark.usefixtures("wallet")
def test_signing(notebook, theme, shoot):
    nb = notebook(SIGNING, script=SCRIPT, theme=theme, viewport=SIZE)
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect Test Wallet").click()
    panel.get_by_role("button", name="Sign", exact=True).click()
    panel.get_by_role("heading", name="Signed").wait_for()
    shoot(panel, "signing")


@pytest.mark.usefixtures("wallet")
def test_request(notebook, theme, shoot):
    nb = notebook(SIGNING, CREATE, script=SCRIPT, theme=theme, run=False, viewport=SIZE)
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect a wallet").click()
    panel.get_by_role("heading", name="Transaction to confirm").wait_for()
    shoot(panel.locator(".svcnb-request"), "request")
    panel.get_by_role("button", name="Decline").click()
    nb.rests()


ACCOUNT = "import svcnb\npanel = svcnb.panels.AccountPanel(svcnb.Client())\npanel"


def test_account(notebook, theme, shoot, emulator):
    panel = notebook(ACCOUNT, theme=theme, viewport=SIZE).panel("Account")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="Hide key").wait_for()
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    panel.get_by_text("Conversion to ChainSecured").click()
    panel.get_by_label("Wallet of the owner").select_option("a private key")
    panel.get_by_label("Private key of the owner").fill(owner.reveal())
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_text("$10.00 credit").wait_for()
    panel.get_by_role("button", name="Convert to ChainSecured …").click()
    panel.get_by_role("button", name="Cancel").wait_for()
    shoot(panel, "account")


def test_workbench(notebook, theme, shoot):
    cell = "import svcnb\npanel = svcnb.panels.Workbench(svcnb.Client())\npanel"
    panel = notebook(cell, theme=theme, viewport=SIZE).panel("Workbench")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="Hide key").click()
    panel.get_by_role("tab", name="Actions").click()
    panel.get_by_role("tabpanel", name="Actions").locator(".svcnb-panel").wait_for()
    panel.locator(".cm-editor").first.wait_for()
    shoot(panel, "workbench")


ON_CHAIN = """
import svcnb
svc = svcnb.Client()
owner = svcnb.LocalSigner.from_key("0x" + "{digits}" * 32)
svcnb.Emulator.connect(svc.base_url).faucet(owner.address)
mine = svc.chain_secured.create(owner, "office")
sign = svcnb.Action("const main = ({{ text }}) => ethers.utils.id(text)", name="sign")
mine.actions.register(sign)
mine.groups.create("signers", actions=[sign])
mine.groups.create("desk")
svcnb.panels.PermissionsPanel(svc, owner=owner)
"""


def test_permissions_on_chain(notebook, theme, shoot):
    cell = ON_CHAIN.format(digits="31" if theme == "light" else "32")
    panel = notebook(cell, theme=theme, viewport=SIZE).panel("Permissions")
    panel.get_by_role("checkbox", name="sign is permitted in group 2 desk").check()
    panel.get_by_text("Arguments of the contract call").click()
    shoot(panel, "permissions-on-chain")


EDITOR = """
import svcnb
svc = svcnb.Client()
svc = svc.with_key(svc.accounts.create("writer"))
source = '''async function main({ pkpId, n }) {
  const key = await Svc.Actions.getPrivateKey({ pkpId });
  const wallet = new ethers.Wallet(key);
  console.log(`signing ${n}`);
  return wallet.signMessage(String(n));
}
'''
sign = svcnb.Action(source, name="sign")
wallet = svc.wallets.create()
svc.groups.create("signers", actions=[sign], wallets=[wallet])
svcnb.panels.ActionEditor(svc, sign, {"pkpId": wallet.address, "n": 41})
"""


def test_action_editor(notebook, theme, shoot):
    nb = notebook(EDITOR, theme=theme, viewport=SIZE)
    panel = nb.panel("Action editor")
    nb.tab.locator(".svcnb-panel[data-ready]:visible").wait_for()
    panel.get_by_role("button", name="Register", exact=True).click()
    panel.get_by_text("✓ Registered as sign.").wait_for()
    source = panel.get_by_role("textbox", name="Source of the action")
    source.press("Control+a")
    nb.tab.keyboard.insert_text(nb.value("source").replace("String(n)", "String(n + 1)"))
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_role("heading", name="Timeline").wait_for()
    shoot(panel, "action-editor")


OFFICE = """
import svcnb
import svcnb.charts
svc = svcnb.Client()
svc = svc.with_key(svc.accounts.create("office"))
sign = svcnb.Action("const main = ({ text }) => ethers.utils.id(text)", name="sign")
svc.actions.register(sign)
ops = svc.wallets.create()
signers = svc.groups.create("signers", actions=[sign])
svc.groups.create("desk", wallets=[ops])
svc.usage_keys.create("night shift", execute_in_groups=[signers])
svcnb.panels.PermissionsPanel(svc, [sign])
"""


def test_permissions(notebook, theme, shoot):
    panel = notebook(OFFICE, theme=theme, viewport=SIZE).panel("Permissions")
    panel.get_by_role("button", name="Explain").click()
    panel.locator("svg.svcnb-drawing").wait_for()
    panel.get_by_role("checkbox", name="every action is permitted in group 1 signers").check()
    panel.locator(".svcnb-pending").wait_for()
    shoot(panel, "permissions")


WATCHED = """
import svcnb
svc = svcnb.Client()
svc = svc.with_key(svc.accounts.create("automatic"))
panel = svcnb.panels.TriggersPanel(svc)
panel
"""


def test_triggers(notebook, theme, shoot, emulator):
    nb = notebook(WATCHED, theme=theme, viewport=SIZE)
    panel = nb.panel("Triggers")
    panel.get_by_role("link", name="Open approval page").wait_for()
    emulator.approve_agent(nb.value("panel.triggers.challenge"), "panel")
    panel.get_by_role("button", name="Continue").click()
    panel.get_by_text("Create trigger").click()
    panel.get_by_label("Name", exact=True).fill("orders")
    panel.get_by_label("Action", exact=True).fill("async function main({ event }) { return event.n + 1; }")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("heading", name="Runs of orders").wait_for()
    panel.get_by_role("button", name="Send").click()
    panel.get_by_text("✓ success").wait_for()
    panel.get_by_role("row").filter(has_text="success").get_by_role("button").click()
    panel.get_by_role("group", name="One run").wait_for()
    panel.get_by_text("Create trigger").click()
    panel.get_by_label("Schedule: at fixed times").check()
    panel.get_by_label("Schedule", exact=True).fill("0 9 * * MON")
    panel.get_by_role("list", name="Next times").wait_for()
    shoot(panel, "triggers")


RUNS = """
import os, tempfile, svcnb
svc = svcnb.Client(history=os.path.join(tempfile.mkdtemp(), "history.sqlite"))
svc = svc.with_key(svc.accounts.create("runner"))
add = svcnb.Action("async function main({ n }) { console.log('got', n); return n.toFixed(); }", name="add")
sign = svcnb.Action("const main = ({ text }) => ethers.utils.id(text)", name="sign")
for n in range(12):
    svc.run(add, n=n)
    svc.run(sign, text=str(n))
for _ in range(2):
    try:
        svc.run(add, n=None)
    except svcnb.ActionError:
        pass
svcnb.panels.RunsPanel(svc)
"""


def test_runs(notebook, theme, shoot):
    panel = notebook(RUNS, theme=theme, viewport=SIZE).panel("Runs")
    panel.get_by_role("button", name="Open the run of sign").first.click()
    panel.get_by_role("heading", name="Timeline").wait_for()
    shoot(panel, "runs")
    panel.get_by_role("button", name="Close").click()
    panel.get_by_text("More charts").click()
    panel.locator("svg.svcnb-drawing").nth(3).wait_for()
    shoot(panel.locator("details").filter(has_text="More charts"), "runs-charts")
