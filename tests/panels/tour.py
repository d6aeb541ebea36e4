"""Tour through all tabs of the workbench, which stops at every state that a user can see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from svcnb import LocalSigner
from tests.panels.bench import Bench

THROWS = "async function main() { console.log('before'); throw new Error('out of stock'); }"
WEBHOOK = "async function main({ event }) { return event.n + 1; }"


def tour(bench: Bench, emulator: Any) -> Iterator[str]:
    """Shows the states in order, and yields the name of each state.

    Args:
        bench: Workbench without an account.
        emulator: Emulator that approves triggers and adds gas to wallets.
    """
    yield from _account(bench)
    yield from _actions(bench)
    yield from _permissions(bench)
    yield from _runs(bench)
    yield from _triggers(bench, emulator)
    yield from _signing(bench)
    yield from _on_chain(bench, emulator)


def _press(place: Any, name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def _account(bench: Bench) -> Iterator[str]:
    place = bench.place("Account")
    yield "account, nothing open"
    _press(place, "Create")
    place.locator(".svcnb-field-error").wait_for()
    place.get_by_label("Wallet of the owner").select_option("a key file")
    yield "account, field with an error, key file"
    place.get_by_label("Wallet of the owner").select_option("a private key")
    place.get_by_label("Name", exact=True).fill("treasury")
    _press(place, "Create")
    place.locator(".svcnb-key").wait_for()
    yield "account, key shown"
    _press(place, "Hide key")
    place.get_by_text("Conversion to ChainSecured").click()
    yield "account, open"
    _press(place, "Add credit")
    place.get_by_role("link", name="Open the processor's page").wait_for()
    yield "account, payment begun"
    _press(place, "Cancel")
    place.get_by_role("alert").filter(has_text="the operation was stopped").wait_for()
    yield "account, failure"


def _actions(bench: Bench) -> Iterator[str]:
    place = bench.tab("Actions")
    place.locator(".svcnb-panel[data-ready]").wait_for()
    place.get_by_label("Group").wait_for()
    yield "actions, first"
    place.get_by_label("Example").select_option("Sign a message with a wallet")
    _press(place, "Use this example")
    for label in ("Create wallet", "Create group", "Create usage key"):
        _press(place, label)
        form = place.get_by_role("region", name=label)
        form.wait_for()
        if label != "Create wallet":
            form.get_by_label("Name").wait_for()
            _press(form, "Create")
            form.locator(".svcnb-field-error").wait_for()
            yield f"actions, {label}"
            form.get_by_label("Name").fill("signers, who may sign every message of this example")
        _press(form, "Create")
        form.wait_for(state="detached")
    yield "actions, usage key shown"
    _press(place, "Hide key")
    place.get_by_label("Name of the action").fill("sign")
    _press(place, "Register")
    place.get_by_text("✓ Registered as sign.").wait_for()
    _press(place, "Run")
    place.get_by_role("button", name="Explain the error").wait_for()
    yield "actions, refused"
    _press(place, "Explain the error")
    place.get_by_role("heading", name="✗ Not permitted").wait_for()
    yield "actions, explained"
    _press(place, "Permit in group")
    place.get_by_text("✓ This CID is permitted in 1 of 1 group:").wait_for()
    _press(place, "Run")
    place.get_by_role("heading", name="✓ Response").wait_for()
    _press(place, "Check the signature")
    place.get_by_text("✓ Signed by wallet 1 of this account").wait_for()
    place.get_by_text("Derive with a constant").click()
    place.get_by_label("Constant", exact=True).fill('{"cents": 500}')
    _press(place, "Derive")
    place.locator(".svcnb-derived").wait_for()
    yield "actions, signed, checked and derived"
    source = place.get_by_role("textbox", name="Source of the action")
    source.press("Control+a")
    bench.keys.insert_text(THROWS)
    place.get_by_label("Run with").select_option("the account's key")
    _press(place, "Run")
    place.get_by_role("heading", name="✗ Uncaught error").wait_for()
    yield "actions, failed"


def _permissions(bench: Bench) -> Iterator[str]:
    place = bench.tab("Permissions")
    place.get_by_role("checkbox").first.wait_for()
    yield "permissions, matrix"
    place.get_by_role("checkbox").first.click()
    place.locator(".svcnb-pending").wait_for()
    _press(place, "Explain")
    place.locator("svg.svcnb-drawing").wait_for()
    yield "permissions, change and explanation"
    _press(place, "Discard")
    _press(place, "Create usage key")
    yield "permissions, Create usage key"
    _press(place, "Cancel")


def _runs(bench: Bench) -> Iterator[str]:
    place = bench.tab("Runs")
    place.locator("tr[data-run]").first.wait_for()
    yield "runs, list"
    place.get_by_role("button", name="Open the run of").first.click()
    place.locator(".svcnb-run").wait_for()
    place.get_by_text("More charts").click()
    place.locator("svg.svcnb-drawing").nth(3).wait_for()
    yield "runs, one opened, charts"


def _triggers(bench: Bench, emulator: Any) -> Iterator[str]:
    place = bench.tab("Triggers")
    place.get_by_role("link", name="Open approval page").or_(place.locator(".svcnb-failure")).first.wait_for()
    assert place.locator(".svcnb-failure").count() == 0, place.inner_text()
    yield "triggers, not authorised"
    emulator.approve_agent(bench.nb.value("bench.panels['Triggers'].triggers.challenge"), "panel")
    _press(place, "Continue")
    place.get_by_text("Authorised by").wait_for()
    place.get_by_text("Create trigger").click()
    place.get_by_label("Schedule: at fixed times").check()
    place.get_by_label("Schedule", exact=True).fill("0 9 * * MON")
    place.get_by_role("list", name="Next times").wait_for()
    yield "triggers, new schedule"
    place.get_by_label("Chain event: when a contract emits an event").check()
    place.get_by_label("Event", exact=True).fill("Transfer(address indexed from, address indexed to, uint256 value)")
    place.get_by_role("list", name="Arguments").wait_for()
    _press(place, "Create")
    place.locator(".svcnb-field-error").first.wait_for()
    yield "triggers, new chain event with an error"
    place.get_by_label("Webhook: on each POST request").check()
    place.get_by_label("Name", exact=True).fill("orders of the shop in the market hall")
    place.get_by_label("Action", exact=True).fill(WEBHOOK)
    _press(place, "Create")
    place.get_by_role("heading", name="Runs of orders").wait_for()
    _press(place, "Send")
    place.get_by_text("✓ success").first.wait_for()
    place.get_by_role("row").filter(has_text="success").first.get_by_role("button").click()
    place.get_by_role("group", name="One run").wait_for()
    place.get_by_role("button", name="Delete orders").click()
    yield "triggers, a webhook with a run, delete asked"
    _press(place, "Keep the trigger")


def _signing(bench: Bench) -> Iterator[str]:
    place = bench.tab("Signing")
    place.get_by_label("Purpose").wait_for()
    yield "signing, an envelope"
    place.get_by_label("a private key").check()
    place.get_by_label("Private key", exact=True).fill("0x12")
    _press(place, "Sign")
    place.locator(".svcnb-field-error").wait_for()
    yield "signing, field with an error"
    place.get_by_label("Private key", exact=True).fill(LocalSigner.random().reveal())
    _press(place, "Sign")
    place.get_by_role("heading", name="Signed").wait_for()
    place.get_by_role("button", name="Send to the service").click()
    place.get_by_role("heading", name="The service responded").wait_for()
    yield "signing, signed and sent"


def _on_chain(bench: Bench, emulator: Any) -> Iterator[str]:
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    place = bench.tab("Account")
    _press(place, "Use another account")
    place.get_by_label("Private key of the owner").fill(owner.reveal())
    _press(place, "Use this wallet")
    place.get_by_text(f"Owner: {owner.address}").wait_for()
    place.get_by_label("Name on the chain").fill("treasury")
    _press(place, "Create on the chain")
    bench.root.locator(".svcnb-request").wait_for()
    yield "account, transaction to confirm"
    bench.settle(place.get_by_role("row", name=f"Owner {owner.address}"))
    place.get_by_text("Transfer the account to another wallet").click()
    place.get_by_label("New owner").fill(LocalSigner.random().address)
    _press(place, "Transfer the account …")
    place.get_by_role("button", name="Transfer permanently").wait_for()
    yield "account, on chain, transfer asked"
    _press(place, "Cancel")
    permissions = bench.tab("Permissions")
    _press(permissions, "Create group")
    permissions.get_by_role("region", name="Create group").get_by_label("Name").fill("signers")
    permissions.get_by_role("region", name="Create group").get_by_role("button", name="Create", exact=True).click()
    bench.settle(permissions.get_by_role("columnheader", name="1 signers"))
    yield "permissions, on chain"
