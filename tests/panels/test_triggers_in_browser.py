"""The triggers panel in a real JupyterLab, with the real triggers service of the emulator."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = """
import svcnb
svc = svcnb.Client()
svc = svc.with_key(svc.accounts.create("automatic"))
panel = svcnb.panels.TriggersPanel(svc)
panel
"""
ACTION = "async function main({ event }) { if (event.n > 9) throw new Error('too much'); return event.n + 1; }"


@pytest.fixture
def opened(notebook, session_emulator):
    """Notebook with an authorised panel, and the panel."""

    def make(**options: Any) -> tuple[Any, Any]:
        nb = notebook(CELL, **options)
        panel = nb.panel("Triggers")
        panel.get_by_role("link", name="Open approval page").wait_for()
        session_emulator.approve_agent(nb.value("panel.triggers.challenge"), "panel")
        panel.get_by_role("button", name="Continue").click()
        panel.get_by_text("Authorised by").wait_for()
        return nb, panel

    return make


def make_webhook(panel: Any, name: str = "orders") -> None:
    panel.get_by_text("Create trigger").click()
    panel.get_by_label("Name", exact=True).fill(name)
    panel.get_by_label("Action", exact=True).fill(ACTION)
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("heading", name=f"Runs of {name}").wait_for()


def test_the_approval_page_authorises_the_panel(notebook):
    nb = notebook(CELL)
    panel = nb.panel("Triggers")
    with nb.tab.context.expect_page() as opening:
        panel.get_by_role("link", name="Open approval page").click()
    page = opening.value
    page.get_by_role("button", name="Approve").click()
    page.wait_for_load_state()
    page.close()
    panel.get_by_role("button", name="Continue").click()
    panel.get_by_text("Authorised by owner@localhost").wait_for()


def test_a_webhook_is_created_and_its_runs_appear_automatically(opened):
    nb, panel = opened(own=True)
    before = nb.value("svc.billing.balance().available_cents")
    make_webhook(panel)
    assert before - nb.value("svc.billing.balance().available_cents") == 2
    address = panel.locator("section[aria-label=Runs] code").first.inner_text()
    nb.run(f"import httpx; httpx.post({address!r}, json={{'n': 41}}); httpx.post({address!r}, json={{'n': 1}})")
    runs = panel.get_by_role("region", name="Runs")
    runs.get_by_text("✓ success").wait_for()
    runs.get_by_text("✕ failed").wait_for()
    runs.get_by_role("row").filter(has_text="success").get_by_role("button").click()
    one = panel.get_by_role("group", name="One run")
    one.wait_for()
    assert one.get_by_label("Result").inner_text() == "2"
    runs.get_by_role("row").filter(has_text="failed").get_by_role("button").click()
    one.get_by_label("Error").filter(has_text="too much").wait_for()
    # The saved notebook contains no token, no address and no received data.
    saved = nb.save()
    assert "TriggersPanel" in saved
    trigger = address.rpartition("/")[2]
    for secret in (nb.value("panel.triggers.token.reveal()"), nb.value("svc.config.api_key.reveal()"), trigger):
        assert secret not in saved


def test_a_disabled_trigger_accepts_no_posts(opened):
    nb, panel = opened()
    make_webhook(panel, "switched")
    switched = "switched fires"
    switch = panel.get_by_role("switch", name=switched)
    switch.uncheck()
    panel.get_by_role("row").filter(has=nb.tab.get_by_role("switch", name=switched)).get_by_text("off").wait_for()
    assert nb.value("[t.enabled for t in panel.triggers.list() if t.name == 'switched']") == [False]
    panel.get_by_role("button", name="Send").click()
    panel.get_by_role("alert").filter(has_text="disabled").wait_for()
    switch.check()
    panel.get_by_role("row").filter(has=nb.tab.get_by_role("switch", name=switched)).get_by_text(
        "on", exact=True
    ).wait_for()
    panel.get_by_role("button", name="Send").click()
    panel.get_by_role("region", name="Runs").get_by_text("✓ success").wait_for()


def test_the_form_appears_together_with_the_list_that_would_move_it(opened):
    _, panel = opened()
    panel.get_by_text("Create trigger").wait_for()
    assert panel.get_by_text("No triggers yet.").or_(panel.get_by_role("table")).first.is_visible()


def test_a_schedule_shows_its_next_times_and_is_created(opened):
    nb, panel = opened()
    panel.get_by_text("Create trigger").click()
    panel.get_by_label("Name", exact=True).fill("at three")
    panel.get_by_label("Schedule: at fixed times").check()
    cron = panel.get_by_label("Schedule", exact=True)
    cron.fill("* * * *")
    panel.locator(".svcnb-meaning .svcnb-bad").first.wait_for()
    cron.fill("0 3 * * *")
    times = panel.get_by_label("Next times").get_by_role("listitem")
    times.first.wait_for()
    assert [text.endswith(" 03:00:00 UTC") for text in times.all_inner_texts()] == [True] * 5
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("heading", name="Runs of at three").wait_for()
    assert nb.value("[t.config for t in panel.triggers.list() if t.name == 'at three']") == [{"cron": "0 3 * * *"}]
    assert "kind='schedule', config={'cron': '0 3 * * *'}" in nb.value("panel.as_code()")


def test_a_chain_event_trigger_explains_its_signature_and_is_created(opened):
    nb, panel = opened()
    panel.get_by_text("Create trigger").click()
    panel.get_by_label("Name", exact=True).fill("transfers")
    panel.get_by_label("Chain event: when a contract emits an event").check()
    panel.get_by_label("Contract", exact=True).fill("0x" + "11" * 20)
    panel.get_by_label("Event", exact=True).fill("Transfer(address,address,uint256)")
    # keccak256 of the signature, which is the same in every ERC-20 contract.
    panel.get_by_text("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef").wait_for()
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("heading", name="Runs of transfers").wait_for()
    kept = nb.value("[dict(t.config) for t in panel.triggers.list() if t.name == 'transfers'][0]")
    assert kept["contract_address"].lower() == "0x" + "11" * 20


def test_a_rejected_trigger_shows_the_reason_and_creates_nothing(opened):
    nb, panel = opened()
    panel.get_by_text("Create trigger").click()
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_text("Enter a name for the trigger.").wait_for()
    panel.get_by_label("Name", exact=True).fill("x")
    panel.get_by_label("Default parameters").fill("[1]")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_text("expected a JSON object").wait_for()
    assert nb.value("len(svc.groups.list())") == 0


def test_the_panel_works_with_only_the_keyboard(opened):
    nb, panel = opened()
    make_webhook(panel, "typed")
    press = nb.tab.keyboard.press
    switched = "typed fires"
    switch = panel.get_by_role("switch", name=switched)
    switch.focus()
    press("Space")
    panel.get_by_role("row").filter(has=nb.tab.get_by_role("switch", name=switched)).get_by_text("off").wait_for()
    press("Tab")  # to the button Runs
    press("Tab")  # to the button Delete
    press("Enter")
    assert panel.get_by_role("button", name="Keep the trigger").evaluate("it => it === document.activeElement")
    press("Shift+Tab")
    press("Enter")
    panel.get_by_role("rowheader", name="typed").wait_for(state="detached")
    assert panel.get_by_role("button", name="Refresh").evaluate("it => it === document.activeElement")
    assert nb.value("[t.name for t in panel.triggers.list() if t.name == 'typed']") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_is_readable_in_both_themes(opened, theme):
    _, panel = opened(theme=theme)
    make_webhook(panel, "seen")
    panel.get_by_role("button", name="Send").click()
    status = panel.get_by_role("region", name="Runs").get_by_text("✓ success")
    status.wait_for()
    # Green of the shared style, which depends on the theme.
    assert (
        status.evaluate("cell => getComputedStyle(cell).color")
        == {
            "light": "rgb(20, 105, 47)",
            "dark": "rgb(121, 213, 148)",
        }[theme]
    )
