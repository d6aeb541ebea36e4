"""The panel tasks of the lessons. The tests follow the instructions of the lessons in a real JupyterLab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svcnb import LocalSigner
from tests.panels.wallet import SCRIPT, TestWallet

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PANEL = "svcnb.panels."


def open_lesson(notebook: Callable[..., Any], lesson: str, **options: Any) -> Any:
    """Opens a lesson, and runs its cells up to the panel."""
    nb = notebook(NOTEBOOKS / f"{lesson}.ipynb", own=True, run=False, **options)
    nb.run("import os; os.environ['SVC_LESSONS'] = 'own'")
    nb.go_to(PANEL)
    nb.do("notebook:run-all-above")
    nb.do("notebook:run-cell")
    return nb


def run_again(nb: Any, words: str) -> str:
    """Runs the lesson's cell that contains a text, and returns its output."""
    number = nb.go_to(words)
    nb.do("notebook:run-cell")
    return str(nb.output(number))


def press(panel: Any, name: str) -> None:
    panel.get_by_role("button", name=name, exact=True).click()


def editor_of(nb: Any) -> tuple[Any, Any]:
    panel = nb.panel("Action editor")
    nb.tab.locator(".svcnb-panel[data-ready]:visible").first.wait_for()
    return panel, panel.get_by_role("textbox", name="Source of the action")


def write(nb: Any, before: str, after: str) -> None:
    """Replaces a text of the action in the editor, like a user."""
    source = nb.value("editor.source")
    assert before in source
    _, field = editor_of(nb)
    field.press("Control+a")
    nb.tab.keyboard.insert_text(source.replace(before, after))
    for _ in range(200):  # the page sends the source after a pause between key presses
        if nb.value("editor.source") == source.replace(before, after):
            return
        nb.tab.wait_for_timeout(50)
    raise AssertionError("the source did not reach the kernel")


def change_the_action(nb: Any) -> Any:
    panel, _ = editor_of(nb)
    press(panel, "Run")
    panel.locator(".svcnb-response").filter(has_text="Hello, Ada!").wait_for()
    before = panel.locator(".svcnb-cid").inner_text()
    assert before == nb.value("hello.cid")
    write(nb, "Hello", "Good morning")
    assert panel.locator(".svcnb-cid").inner_text() != before
    press(panel, "Run")
    panel.locator(".svcnb-failure").filter(has_text="is not authorized to execute").wait_for()
    press(panel, "Check permission")
    panel.get_by_text("no group permits the action").first.wait_for()
    # This is the first exercise, in the editor.
    write(nb, "return { message,", "return { message, length: message.length,")
    nb.run("me.groups.add_action(group, editor.action)")
    press(panel, "Run")
    panel.locator(".svcnb-response").filter(has_text='"length"').wait_for()
    assert nb.value("svcnb.exercises.check('quickstart.length', editor.result).right")
    return panel


def derive_an_action(nb: Any) -> Any:
    panel, _ = editor_of(nb)
    press(panel, "Run")
    panel.locator(".svcnb-failure").wait_for()
    panel.get_by_text("Derive with a constant").click()
    derive = panel.locator("details", has_text="Derive with a constant")
    derive.get_by_label("Name of the constant", exact=True).fill("LIMIT")
    derive.get_by_label("Constant", exact=True).fill('{"cents": 500}')
    press(panel, "Derive")
    assert panel.locator(".svcnb-derived").inner_text() == nb.value("small.cid")
    press(panel, "Edit the derived action")
    press(panel, "Run")
    panel.locator(".svcnb-response").filter(has_text="paid 300").wait_for()
    write(nb, "500", "501")
    assert panel.locator(".svcnb-cid").inner_text() == nb.value("payer.derive({'cents': 501}, name='LIMIT').cid")
    assert nb.value("svcnb.exercises.check('cids.derive', editor.action).right")
    return panel


def permit_a_wallet(nb: Any) -> Any:
    panel = nb.panel("Permissions")
    row = panel.get_by_role("row").filter(has=nb.tab.get_by_title(nb.value("second.address")))
    row.get_by_role("checkbox").nth(1).check()
    panel.get_by_role("heading", name="1 change by 1 call, cost: $0.01").wait_for()
    assert run_again(nb, "me.explain(key, sign, second).allowed").endswith("False")
    nb.go_to(PANEL)
    press(panel, "Apply")
    panel.locator(".svcnb-pending").wait_for(state="detached")
    assert run_again(nb, "me.explain(key, sign, second).allowed").endswith("True")
    nb.go_to(PANEL)
    return panel


def sign_an_envelope(nb: Any) -> Any:
    panel = nb.panel("Signing")
    panel.get_by_label("Purpose").select_option("AddUsageApiKey")
    press(panel, "Sign")
    panel.get_by_role("row", name=f"Recovered address {nb.value('wallet.address')}").wait_for()
    assert "✗ failed" not in panel.locator(".svcnb-rules tbody td:nth-child(2)").all_inner_texts()
    panel.get_by_role("button", name="Send to the service").click()
    assert len(panel.locator(".svcnb-key").inner_text()) == 44
    return panel


def send_to_a_webhook(nb: Any) -> Any:
    panel = nb.panel("Triggers")
    switch = nb.tab.get_by_role("switch", name="orders fires", exact=True)
    row = panel.get_by_role("row").filter(has=switch)
    row.get_by_role("button", name="Runs").click()
    panel.get_by_role("heading", name="Runs of orders").wait_for()
    runs = panel.get_by_role("region", name="Runs")
    runs.get_by_role("textbox").first.fill('{"customer": "Grace", "items": [1], "price": 5}')
    press(panel, "Send")
    runs.get_by_text("✓ success").nth(1).wait_for()
    runs.get_by_role("row").filter(has_text="success").first.get_by_role("button").click()
    panel.get_by_role("group", name="One run").get_by_text("Grace").first.wait_for()
    switch.uncheck()
    row.get_by_text("off").wait_for()
    press(panel, "Send")
    panel.get_by_role("alert").filter(has_text="disabled").wait_for()
    assert "('orders', False)" in run_again(nb, "for trigger in triggers.list()")
    nb.go_to(PANEL)
    switch.check()
    row.get_by_text("on", exact=True).wait_for()
    assert "('orders', True)" in run_again(nb, "for trigger in triggers.list()")
    nb.go_to(PANEL)
    return panel


def filter_runs(nb: Any) -> Any:
    panel = nb.panel("Runs")
    panel.locator("tr[data-run]").first.wait_for()
    panel.get_by_label("Status").select_option("failed")
    panel.locator("tr[data-run]").nth(1).wait_for(state="detached")
    assert run_again(nb, "for run in panel.runs") == "[('fail', 'failed')]"
    nb.go_to(PANEL)
    panel.get_by_label("Status").select_option("")
    panel.get_by_role("button", name="Open the run of greet").first.click()
    run = panel.locator(".svcnb-run")
    run.get_by_text("Edsger").first.wait_for()
    run.get_by_role("group", name="Timeline").get_by_role("row").nth(2).wait_for()
    return panel


TASKS: dict[str, Callable[[Any], Any]] = {
    "01-quickstart": change_the_action,
    "02-actions-and-cids": derive_an_action,
    "04-groups-and-least-privilege": permit_a_wallet,
    "05-typed-data": sign_an_envelope,
    "11-webhooks": send_to_a_webhook,
    "14-history-and-charts": filter_runs,
}


@pytest.mark.parametrize("lesson", TASKS)
def test_a_learner_can_complete_the_panel_task_of_a_lesson(notebook, lesson):
    TASKS[lesson](open_lesson(notebook, lesson))


WALLET_LESSON = "06-chain-secured"


def ask_a_wallet(nb: Any, desk: Any) -> tuple[Any, int, str]:
    """Requests a new account with a browser wallet, as in the lesson.

    Returns:
        The panel, which now shows the request, the number of the cell that waits, and the wallet's address.
    """
    nb.go_to(PANEL)
    owner = LocalSigner.random()
    desk.wallet = TestWallet(owner, nb.value("emu.chain_id"), nb.value("emu.rpc_url"))
    panel = nb.panel("Signing")
    press(panel, "Connect Test Wallet")
    panel.get_by_text("Test Wallet is connected").wait_for()
    number = nb.go_to("browser_wallet = await")
    nb.begin("notebook:run-cell")
    panel.get_by_text("This transaction will create the account 'my own wallet', owned by this wallet.").wait_for()
    return panel, number, owner.address


def test_a_browser_wallet_opens_an_account_in_its_lesson(notebook, desk):
    nb = open_lesson(notebook, WALLET_LESSON, script=SCRIPT)
    assert run_again(nb, "browser_wallet = await") == "No wallet is connected in the panel.\n"
    panel, number, address = ask_a_wallet(nb, desk)
    press(panel, "Send from the wallet")
    nb.rests()
    assert f"admin='{address}'" in nb.output(number)
    desk.wallet = None
