"""Invalid input in every field: the message is next to the field, and the input stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from svcnb import LocalSigner
from tests.panels.bench import CELL, Bench

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

LONG = "n" * 30_000


@dataclass(frozen=True)
class Case:
    """An invalid value of a field.

    Attributes:
        tab: Tab of the workbench.
        field: Label of the field.
        value: Input of the user.
        button: Name of the button that submits the value.
        words: Part of the message.
        form: Button or summary of the form that the test must open first.
    """

    tab: str
    field: str
    value: str
    button: str
    words: str
    form: str = ""


NO_ACCOUNT = [
    Case("Account", "Name", "", "Create", "Enter a name"),
    Case("Account", "Name", LONG, "Create", "name"),
    Case("Account", "Account key or usage key", "", "Open", "Enter an account key or a usage key"),
    Case("Account", "Account key or usage key", "not a key", "Open", "without spaces"),
    Case("Account", "Account key or usage key", "bm90aGluZw==", "Open", "does not resolve"),
    Case("Account", "Private key of the owner", "", "Use this wallet", "Enter a private key"),
    Case("Account", "Private key of the owner", "0x12", "Use this wallet", "private key"),
    Case("Account", "Private key of the owner", "0x12", "Create on the chain", "private key"),
    Case("Account", "Name on the chain", "", "Create on the chain", "Enter a name"),
    Case("Account", "Address of the contract wallet", "", "Use the contract wallet", "Enter the address"),
    Case("Account", "Address of the contract wallet", "0x12", "Use the contract wallet", "address"),
]
WITH_ACCOUNT = [
    Case("Actions", "Parameters", '{"n": ', "Run", "JSON"),
    Case("Actions", "Name of the action", "", "Register", "Enter a name"),
    Case("Actions", "Name of the action", LONG, "Register", "name"),
    Case("Actions", "Group", "", "Permit in group", "Create a group first"),
    Case("Actions", "Name", "", "Create", "Enter a name", "Create group"),
    Case("Actions", "Name", LONG, "Create", "name", "Create group"),
    Case("Actions", "Name of the constant", "not a name", "Derive", "name", "Derive with a constant"),
    Case("Actions", "Constant", "", "Derive", "JSON", "Derive with a constant"),
    Case("Actions", "Constant", "{'n': 1}", "Derive", "JSON", "Derive with a constant"),
    Case("Actions", "Signature", "", "Check the signature", "Paste a signature", "Check a signature"),
    Case("Actions", "Signature", "0x1234", "Check the signature", "signature", "Check a signature"),
    Case("Permissions", "Name", "", "Create", "Enter a name", "Create group"),
    Case("Triggers", "Name", "", "Create", "Enter a name", "Create trigger"),
    Case("Triggers", "Default parameters", "[1]", "Create", "JSON object", "Create trigger"),
    Case("Triggers", "Schedule", "61 * * * *", "Create", "61", "Create trigger"),
    Case("Triggers", "Contract", "0x12", "Create", "address", "Create trigger"),
    Case("Triggers", "Event", "Transfer(", "Create", "Transfer", "Create trigger"),
    Case("Triggers", "From block", "yesterday", "Create", "block", "Create trigger"),
    Case("Triggers", "Usage key", "not a key", "Create", "without spaces", "Create trigger"),
    Case("Triggers", "Usage key", "bm90aGluZw==", "Create", "does not resolve", "Create trigger"),
    Case("Signing", "Private key", "", "Sign", "Enter a private key"),
    Case("Signing", "Private key", "0x12", "Sign", "private key"),
    Case("Signing", "Issued at", "now", "Sign", "Unix seconds"),
    Case("Signing", "Contract wallet", "0x12", "Sign", "40 hex digits"),
]
VALID = {
    "Name": "orders", "Constant": '{"cents": 5}', "Contract": "0x" + "11" * 20, "Event": "Ping()",
    "Schedule": "0 9 * * *", "Name of the constant": "CONST",
}  # fmt: skip
ANY_TEXT = {
    "Filter": "any text is looked for",
    "Message": "any text can be signed",
    "Test request": "text that is not JSON is sent as text",
    "Source of the action": "an action that does not parse is run, and the result names the line",
    "Action": "the same, for triggers",
    "Address": "filled by the wallet",
    "Version": "the control takes whole numbers only",
    "Password of the key file": "a wrong one is tested together with the file",
    "Key file": "the same",
    "New owner": "needs an account on the chain",
}
INPUTS = """panel => [...panel.querySelectorAll("input, textarea, .cm-content")]
  .filter((it) => !["radio", "checkbox"].includes(it.type))
  .map((it) => it.labels?.[0]?.textContent ?? it.getAttribute("aria-label"))"""
VALUES = """panel => [...panel.querySelectorAll("input, textarea, select")].map((it) =>
  [it.labels?.[0]?.textContent ?? it.getAttribute("aria-label"), it.type === "checkbox" ? it.checked : it.value])"""


def bench_of(notebook: Callable[..., Any]) -> Bench:
    return Bench(notebook(CELL, own=True))


def attempt(bench: Bench, case: Case) -> str:
    """Enters an invalid value. Returns the problem with the reaction of the panel, or an empty string."""
    place = bench.tab(case.tab)
    panel = place.locator(".svcnb-panel")
    panel.wait_for()
    if case.form:
        opener = place.get_by_text(case.form, exact=True).first
        is_open = "it => it.closest('details')?.open ?? it.getAttribute('aria-expanded') === 'true'"
        if not opener.evaluate(is_open):
            opener.click()
    prepare(place, case)
    field = place.get_by_label(case.field, exact=True).locator("visible=true").first
    field.wait_for()
    editor = "cm-content" in (field.get_attribute("class") or "")
    if editor:
        field.press("Control+a")
        bench.keys.insert_text(case.value)
    elif field.evaluate("it => it.tagName") != "SELECT":
        field.fill(case.value)
    before = panel.evaluate(VALUES)
    where = (
        place.get_by_role("region", name=case.form)
        if case.button == "Create" and case.form == "Create group"
        else place
    )
    where.get_by_role("button", name=case.button, exact=True).locator("visible=true").first.click()
    if editor:
        note = place.locator(".svcnb-bad[role=alert]:visible").first
        note.wait_for()
        return "" if case.words in note.inner_text() else note.inner_text()
    error = field.locator("xpath=following-sibling::*[1][contains(@class, 'svcnb-field-error')]")
    try:
        error.wait_for(timeout=15_000)
    except Exception:  # noqa: BLE001 - told with the other cases
        return f"no message beside the field: {place.locator('.svcnb-failure').all_inner_texts()}"
    said = error.inner_text()
    if case.words.lower() not in said.lower() or len(said) > 400:
        return f"unclear: {said[:200]!r}"
    if field.get_attribute("aria-invalid") != "true":
        return "the field is not marked"
    after = panel.evaluate(VALUES)
    return (
        "" if after == before else f"lost: {[pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]}"
    )


def prepare(place: Any, case: Case) -> None:
    """Chooses the preconditions of the case, and valid values for the other fields of its form."""
    if case.field == "Private key of the owner":
        place.get_by_label("Wallet of the owner").select_option("a private key")
        if case.button == "Create on the chain":
            place.get_by_label("Name on the chain").fill("treasury")
    if case.tab == "Triggers":
        kinds = {
            "Schedule": "Schedule: at",
            "Contract": "Chain event",
            "Event": "Chain event",
            "From block": "Chain event",
        }
        place.get_by_label(kinds.get(case.field, "Webhook")).check()
    if case.tab == "Signing":
        place.get_by_label("a private key").check()
        place.get_by_label("Sign for a contract wallet").set_checked(case.field == "Contract wallet")
        place.get_by_role("button", name="Use current time").click()
    for name, value in VALID.items():
        field = place.get_by_label(name, exact=True).locator("visible=true")
        if name != case.field and case.form and field.count() == 1:
            field.fill(value)
    if case.tab == "Triggers":
        for name in {"Default parameters", "Usage key", "From block"} - {case.field}:
            field = place.get_by_label(name, exact=True)
            if field.is_visible():
                field.fill("")


def test_each_field_shows_its_error_before_an_account_is_open(notebook, emulator):
    bench = bench_of(notebook)
    found = {}
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    for case in NO_ACCOUNT:
        place = bench.place("Account")
        if case.field == "Address of the contract wallet" and not place.get_by_text("Owner: 0x").is_visible():
            place.get_by_label("Private key of the owner").fill(owner.reveal())
            place.get_by_role("button", name="Use this wallet").click()
            place.get_by_text("Owner: 0x").wait_for()
            place.get_by_text("Sign for a contract wallet").click()
        if wrong := attempt(bench, case):
            found[case] = wrong
    assert {f"{case.field} {case.value[:12]!r}": wrong for case, wrong in found.items()} == {}


def test_each_field_of_an_open_account_shows_its_error(notebook, emulator):
    bench = bench_of(notebook)
    bench.create_account()
    bench.tab("Actions").locator(".svcnb-panel[data-ready]").wait_for()
    triggers = bench.tab("Triggers")
    triggers.get_by_role("link", name="Open approval page").wait_for()
    emulator.approve_agent(bench.nb.value("bench.panels['Triggers'].triggers.challenge"), "panel")
    triggers.get_by_role("button", name="Continue").click()
    triggers.get_by_text("Create trigger").wait_for()
    bench.tab("Signing").get_by_label("Purpose").wait_for()
    found = {case: wrong for case in WITH_ACCOUNT if (wrong := attempt(bench, case))}
    assert {f"{case.tab}: {case.field} {case.value[:12]!r}": wrong for case, wrong in found.items()} == {}
    known = {case.field for case in [*NO_ACCOUNT, *WITH_ACCOUNT]} | set(ANY_TEXT)
    seen = {name for panel in bench.root.locator(".svcnb-panel").all() for name in panel.evaluate(INPUTS)}
    assert seen - known == set(), "add a case for each new field"


def test_an_invalid_key_file_and_an_invalid_owner_are_errors(notebook, emulator, tmp_path):
    bench = bench_of(notebook)
    place = bench.place("Account")
    (tmp_path / "wrong.json").write_text(json.dumps({"version": 3}), encoding="utf-8")
    place.get_by_label("Wallet of the owner").select_option("a key file")
    place.get_by_role("button", name="Use this key file").click()
    place.locator(".svcnb-field-error").filter(has_text="Choose a key file").wait_for()
    place.get_by_label("Key file", exact=True).set_input_files(tmp_path / "wrong.json")
    place.get_by_label("Password of the key file").fill("x")
    place.get_by_role("button", name="Use this key file").click()
    place.locator(".svcnb-field-error").filter(has_text="wrong.json").wait_for()
    assert place.get_by_label("Password of the key file").input_value() == "x"
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    place.get_by_label("Wallet of the owner").select_option("a private key")
    place.get_by_label("Private key of the owner").fill(owner.reveal())
    place.get_by_label("Name on the chain").fill("treasury")
    place.get_by_role("button", name="Create on the chain").click()
    bench.settle(place.get_by_role("row", name=f"Owner {owner.address}"))
    place.get_by_text("Transfer the account to another wallet").click()
    for wrong in ("", "0x12"):
        place.get_by_label("New owner").fill(wrong)
        place.get_by_role("button", name="Transfer the account …").click()
        place.locator(".svcnb-field-error").filter(has_text="address").wait_for()
        assert place.get_by_label("New owner").input_value() == wrong


NO_CREDIT = """
import svcnb
emu = svcnb.Emulator(starter_credits=0, action_spares=1)
svc = emu.client()
bench = svcnb.panels.Workbench(svc)
bench
"""


def test_a_run_without_credit_shows_a_button_for_the_credit(notebook):
    bench = Bench(notebook(NO_CREDIT, own=True))
    bench.create_account()
    try:
        leads(bench, "Open Account", "Account", "Add credit")
        bench.nb.run("svc.billing.top_up(500)")
        bench.place("Account").get_by_role("row", name="Credit $5.00 credit").wait_for()
        bench.tab("Actions").get_by_role("button", name="Open Account").wait_for(state="detached")
    finally:
        bench.nb.run("emu.close()")


def test_a_forbidden_run_shows_a_button_for_permissions(notebook):
    bench = Bench(notebook(CELL, own=True))
    bench.create_account()
    bench.nb.run("group = svc.groups.create('empty'); key = svc.usage_keys.create('k', execute_in_groups=[group])")
    bench.nb.run("bench.session.add_key(key)")
    leads(bench, "Open Permissions", "Permissions", "Create group")


def leads(bench: Bench, button: str, place: str, repair: str) -> None:
    """Runs an action, and presses the button in its error message."""
    actions = bench.tab("Actions")
    actions.locator(".svcnb-panel[data-ready]").wait_for()
    actions.get_by_role("button", name="Run", exact=True).click()
    actions.get_by_role("button", name=button).click()
    assert bench.root.get_by_role("tab", name=place).get_attribute("aria-selected") == "true"
    bench.place(place).get_by_role("button", name=repair).wait_for()
