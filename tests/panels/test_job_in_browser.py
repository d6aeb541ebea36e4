"""All steps from an empty workbench to a verified signature in a real JupyterLab, without writing Python."""

from __future__ import annotations

import pytest

from tests.panels.bench import CELL, Bench

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
def bench(notebook):
    return Bench(notebook(CELL))


def test_all_steps_to_a_verified_signature_by_mouse(bench):
    root = bench.root
    bench.create_account()
    root.get_by_role("group", name="Open account").get_by_text("$10.00 credit").wait_for()
    place = bench.tab("Actions")
    place.get_by_label("Example").select_option("Sign a message with a wallet")
    place.get_by_role("button", name="Use this example").click()
    place.get_by_role("button", name="Create wallet").click()
    place.get_by_role("region", name="Create wallet").get_by_role("button", name="Create", exact=True).click()
    place.get_by_role("region", name="Create wallet").wait_for(state="detached")
    place.get_by_label("Name of the action").fill("sign")
    place.get_by_role("button", name="Register", exact=True).click()
    place.get_by_text("✓ Registered as sign.").wait_for()
    place.get_by_role("button", name="Create group").click()
    place.get_by_role("region", name="Create group").get_by_label("Name").fill("signers")
    place.get_by_role("region", name="Create group").get_by_role("button", name="Create", exact=True).click()
    place.get_by_role("region", name="Create group").wait_for(state="detached")
    place.get_by_role("button", name="Permit in group").click()
    place.get_by_text("✓ This CID is permitted in 1 of 1 group:").wait_for()
    place.get_by_role("button", name="Create usage key").click()
    form = place.get_by_role("region", name="Create usage key")
    form.get_by_label("Name").fill("runner")
    form.get_by_role("button", name="Create", exact=True).click()
    secret = place.locator(".svcnb-key").inner_text()
    place.get_by_role("button", name="Hide key").click()
    place.get_by_label("Run with").locator("option:checked", has_text="usage key runner").wait_for(state="attached")
    place.get_by_role("button", name="Run", exact=True).click()
    place.get_by_role("heading", name="✓ Response").wait_for()
    place.get_by_role("button", name="Check the signature").click()
    place.get_by_text("✓ Signed by wallet 1 of this account").wait_for()
    # The credit decreases with four management calls, the wallet in the group, and the run.
    root.get_by_role("group", name="Open account").get_by_text("$9.93 credit").wait_for()
    # The client of the notebook uses the same account.
    assert bench.nb.value("[group.name for group in svc.groups.list()]") == ["signers"]
    assert bench.nb.value("bench.client is svc") is True
    code = bench.nb.value("bench.as_code()")
    assert secret not in code
    names = bench.nb.value(
        "(lambda names: (exec(bench.as_code(), names), names['run'].response['address'].lower() == "
        "names['wallet'].address, names['svc'].close())[1])({})"
    )
    assert names is True  # the recorded Python repeats the actions


def test_all_steps_to_a_verified_signature_by_keyboard(bench):
    root, keys = bench.root, bench.keys
    root.get_by_role("tab", name="Account").focus()
    bench.walk("Name")
    keys.type("treasury")
    bench.press("Create")
    root.get_by_role("button", name="Hide key").wait_for()
    keys.press("Enter")
    root.get_by_role("group", name="Open account").get_by_text("$10.00 credit").wait_for()
    bench.walk("Account", "Shift+")
    keys.press("ArrowRight")
    place = root.get_by_role("tabpanel", name="Actions")
    place.locator(".svcnb-panel[data-ready]").wait_for()
    bench.walk("Example")
    keys.type("Sign a message with a w")
    bench.press("Use this example")
    bench.walk("Name of the action")
    keys.type("sign")
    bench.press("Register")
    place.get_by_text("✓ Registered as sign.").wait_for()
    bench.press("Create group")
    keys.type("signers")
    keys.press("Enter")
    place.get_by_role("region", name="Create group").wait_for(state="detached")
    bench.press("Create wallet")
    keys.press("Enter")
    place.get_by_role("region", name="Create wallet").wait_for(state="detached")
    place.get_by_label("Wallet", exact=True).locator("option:checked", has_text="wallet 1").wait_for(state="attached")
    bench.press("Create usage key")
    keys.type("runner")
    keys.press("Enter")
    place.get_by_role("button", name="Hide key").wait_for()
    keys.press("Enter")
    place.locator(".svcnb-key").wait_for(state="detached")
    bench.press("Permit in group", "Shift+")
    place.get_by_text("✓ This CID is permitted in 1 of 1 group:").wait_for()
    bench.press("Run")
    place.get_by_role("heading", name="✓ Response").wait_for()
    bench.press("Check the signature")
    place.get_by_text("✓ Signed by wallet 1 of this account").wait_for()


def test_a_change_on_one_tab_appears_on_the_others(bench):
    bench.create_account()
    actions = bench.tab("Actions")
    actions.get_by_label("Group").wait_for()
    permissions = bench.tab("Permissions")
    permissions.get_by_role("button", name="Create group").click()
    permissions.get_by_role("region", name="Create group").get_by_label("Name").fill("signers")
    permissions.get_by_role("button", name="Create", exact=True).click()
    permissions.get_by_role("columnheader", name="1 signers").wait_for()
    bench.tab("Actions").get_by_label("Group").locator("option", has_text="signers (1)").wait_for(state="attached")
    bench.nb.run("svc.wallets.create(); svc.groups.create('from a cell')")
    bench.tab("Permissions").get_by_role("columnheader", name="2 from a cell").wait_for()
    bench.nb.run("svc.run('const main = () => 7')")
    bench.tab("Runs").get_by_role("cell", name="✓ success").wait_for()
    bench.root.get_by_role("group", name="Open account").get_by_text("$9.96 credit").wait_for()


def test_an_outdated_result_is_marked_immediately(bench):
    bench.create_account()
    place = bench.tab("Actions")
    place.locator(".svcnb-panel[data-ready]").wait_for()
    for change in ("source", "parameters", "invalid"):
        place.get_by_role("button", name="Run", exact=True).click()
        place.get_by_role("heading", name="✓ Response").wait_for()
        place.get_by_text("Out of date").wait_for(state="hidden")
        editor = place.get_by_label("Source of the action" if change == "source" else "Parameters", exact=True)
        editor.press("Control+Home" if change != "invalid" else "Control+End")
        bench.keys.type("// \n" if change == "source" else " " if change == "parameters" else "{")
        place.get_by_text("Out of date").wait_for()


def test_an_error_of_the_service_shows_a_button_for_its_fix(bench):
    place = bench.tab("Permissions")
    failure = place.get_by_role("alert").filter(has_text="Create an account, or open an account with its key.")
    failure.get_by_role("button", name="Open Account").click()
    assert bench.root.get_by_role("tab", name="Account").get_attribute("aria-selected") == "true"
    assert "POST" not in bench.root.inner_text()


def test_an_invalid_input_stays_and_its_field_shows_the_error(bench):
    place = bench.root.get_by_role("tabpanel", name="Account")
    place.get_by_role("button", name="Create", exact=True).click()
    place.get_by_text("Enter a name for the account.").wait_for()
    assert place.get_by_label("Name", exact=True).get_attribute("aria-invalid") == "true"
    place.get_by_label("Account key or usage key").fill("not a key")
    place.get_by_role("button", name="Open", exact=True).click()
    place.get_by_role("alert").filter(has_text="Invalid API key").wait_for()
    assert place.get_by_label("Account key or usage key").input_value() == "not a key"
    place.get_by_label("Wallet of the owner").select_option("a private key")
    place.get_by_label("Private key of the owner").fill("0x12")
    place.get_by_role("button", name="Use this wallet").click()
    field = place.get_by_label("Private key of the owner")
    place.locator(".svcnb-field-error").last.wait_for()
    assert field.input_value() == "0x12"
    bench.create_account()
