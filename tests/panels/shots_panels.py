"""Screenshots of the panels for the documentation, in light and dark; run by name.

``pytest tests/panels/shots_panels.py`` writes ``docs/images/panels/*.png``. Look at them before you commit them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from svcnb import LocalSigner
from tests.panels.wallet import SCRIPT, TestWallet

IMAGES = Path(__file__).parents[2] / "docs/images/panels"
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
    nb = notebook(SIGNING, script=SCRIPT, theme=theme, viewport={"width": 1100, "height": 1900})
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect Test Wallet").click()
    panel.get_by_role("button", name="Sign", exact=True).click()
    panel.get_by_role("heading", name="Signed").wait_for()
    shoot(panel, "signing")


@pytest.mark.usefixtures("wallet")
def test_request(notebook, theme, shoot):
    nb = notebook(SIGNING, CREATE, script=SCRIPT, theme=theme, run=False, viewport={"width": 1100, "height": 1900})
    nb.begin("notebook:run-all-cells")
    panel = nb.panel("Signing")
    panel.get_by_role("button", name="Connect a wallet").click()
    panel.get_by_role("heading", name="Transaction to confirm").wait_for()
    shoot(panel.locator(".svcnb-request"), "request")
    panel.get_by_role("button", name="Decline").click()
    nb.rests()


ACCOUNT = "import svcnb\npanel = svcnb.panels.AccountPanel(svcnb.Client())\npanel"


def test_account(notebook, theme, shoot, emulator):
    panel = notebook(ACCOUNT, theme=theme, viewport={"width": 1100, "height": 1900}).panel("Account")
    shoot(panel, "account-begin")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="I stored it").wait_for()
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    panel.get_by_text("Hand the account to a wallet").click()
    panel.get_by_label("Private key of the owner").fill(owner.reveal())
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_text("$10.00 credit").wait_for()
    panel.get_by_role("button", name="Convert to ChainSecured …").click()
    panel.get_by_role("button", name="Leave it as it is").wait_for()
    shoot(panel, "account")


def test_workbench(notebook, theme, shoot):
    cell = "import svcnb\npanel = svcnb.panels.Workbench(svcnb.Client())\npanel"
    panel = notebook(cell, theme=theme, viewport={"width": 1100, "height": 1900}).panel("Workbench")
    panel.get_by_label("Name", exact=True).fill("treasury")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="I stored it").click()
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
    panel = notebook(cell, theme=theme, viewport={"width": 1100, "height": 1200}).panel("Permissions")
    panel.get_by_role("checkbox", name="sign is permitted in group 2 desk").check()
    panel.get_by_text("What the contract is told").click()
    shoot(panel, "permissions-on-chain")


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


def test_charts_of_runs(notebook, theme, shoot):
    panel = notebook(RUNS, theme=theme, viewport={"width": 1100, "height": 1900}).panel("Runs")
    panel.get_by_text("More charts").click()
    panel.locator("svg.svcnb-drawing").nth(3).wait_for()
    shoot(panel.locator("details").filter(has_text="More charts"), "runs-charts")
