"""All steps with a ChainSecured account in a real JupyterLab, with a wallet in the page and without writing Python."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svcnb import LocalSigner
from tests.panels.axe import faults
from tests.panels.bench import CELL, Bench
from tests.panels.wallet import SCRIPT

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

PASSWORD = "a password of the test"
TRANSACTION = "Transaction to confirm"
PAY = re.compile(r"Pay \$5\.00")


@pytest.fixture
def open_bench(notebook, wallet):  # noqa: ARG001 - the page asks it
    return lambda **options: Bench(notebook(CELL, script=SCRIPT, **options))


def form(place: Any, label: str) -> Any:
    return place.get_by_role("region", name=label)


def connect(bench: Bench) -> Any:
    place = bench.place("Account")
    place.get_by_role("button", name="Connect a wallet").click()
    bench.root.get_by_role("button", name="Connect Test Wallet").click()
    place.get_by_text("Owner: 0x").wait_for()
    return place


def create_on_chain(bench: Bench, place: Any, owner: str) -> None:
    place.get_by_label("Name on the chain").fill("treasury")
    place.get_by_role("button", name="Create on the chain").click()
    bench.settle(place.get_by_role("row", name=f"Owner {owner}"))


def create(bench: Bench, place: Any, what: str, name: str, done: Any) -> None:
    """Creates a resource with a form, and confirms the requests to the wallet."""
    place.get_by_role("button", name=what).click()
    form(place, what).get_by_label("Name").fill(name)
    form(place, what).get_by_role("button", name="Create").click()
    bench.settle(done)


def test_all_steps_by_mouse(open_bench, wallet):
    bench = open_bench(own=True)
    place = connect(bench)
    create_on_chain(bench, place, wallet.signer.address)
    place.get_by_role("button", name="Add credit").click()
    link = place.get_by_role("link", name="Open the processor's page")
    bench.settle(link)
    with bench.nb.tab.context.expect_page() as opening:
        link.click()
    opening.value.get_by_role("button", name=PAY).click()
    place.get_by_role("row", name="Credit $5.00 credit").wait_for()
    opening.value.close()
    place = bench.tab("Actions")
    place.get_by_label("Example").select_option("Sign a message with a wallet")
    place.get_by_role("button", name="Use this example").click()
    create(bench, place, "Create wallet", "signer", place.locator(".cm-content", has_text="0x"))
    place.get_by_label("Name of the action").fill("sign")
    place.get_by_role("button", name="Register", exact=True).click()
    bench.settle(place.get_by_text("✓ Registered as sign."))
    create(bench, place, "Create group", "signers", place.get_by_role("button", name="Create group", expanded=False))
    place.get_by_role("button", name="Permit in group").click()
    bench.settle(place.get_by_text("✓ This CID is permitted in 1 of 1 group:"))
    create(bench, place, "Create usage key", "runner", place.locator(".svcnb-key"))
    secret = place.locator(".svcnb-key").inner_text()
    place.get_by_role("button", name="Hide key").click()
    place.get_by_role("button", name="Run", exact=True).click()
    place.get_by_role("heading", name="✓ Response").wait_for()
    place.get_by_role("button", name="Check the signature").click()
    place.get_by_text("✓ Signed by signer of this account").wait_for()
    # The panel reads the credit with the usage key, so the wallet does not sign a request.
    bench.root.get_by_role("group", name="Open account").get_by_text(re.compile(r"\$4\.9\d credit")).wait_for()
    # The panel showed each signature and each transaction first. The wallet received no other request.
    assert len(bench.agreed) == sum(
        method in {"eth_signTypedData_v4", "eth_sendTransaction"} for method in wallet.asked
    )
    assert {"Signature needed: Create a wallet", "Signature needed: Use billing", TRANSACTION} <= set(bench.agreed)
    assert secret not in bench.nb.value("bench.as_code()")
    assert secret not in bench.nb.save()


def test_a_wallet_without_gas_is_funded_by_a_button(open_bench, wallet):
    wallet.signer = LocalSigner.random()
    bench = open_bench()
    place = connect(bench)
    place.get_by_label("Name on the chain").fill("treasury")
    place.get_by_role("button", name="Create on the chain").click()
    failure = place.locator(".svcnb-failure")
    failure.get_by_text(f"the wallet {wallet.signer.address} has 0 ETH").wait_for()
    assert "emu." not in failure.inner_text()
    assert faults(bench.nb.tab) == []
    failure.get_by_role("button", name="Add test ETH").click()
    place.get_by_text("✓ 10 ETH added to the wallet. Try again.").wait_for()
    create_on_chain(bench, place, wallet.signer.address)
    assert ".faucet(" in bench.nb.value("bench.as_code()")


def pay_by_keyboard(bench: Bench, account: Any) -> None:
    bench.press("Add credit")
    bench.settle(account.get_by_role("link", name="Open the processor's page"), by=bench.enter)
    assert bench.at() == "Open the processor's page"
    with bench.nb.tab.context.expect_page() as opening:
        bench.keys.press("Enter")
    page = opening.value
    page.get_by_role("button", name=PAY).wait_for()
    Bench.tab_to(page, PAY)
    page.keyboard.press("Enter")
    account.get_by_role("row", name="Credit $5.00 credit").wait_for()
    page.close()


def test_all_steps_by_keyboard(open_bench, wallet):
    bench = open_bench()
    root, keys, account, place = bench.root, bench.keys, bench.place("Account"), bench.place("Actions")
    root.get_by_role("tab", name="Account").focus()
    bench.press("Connect a wallet")
    root.get_by_role("heading", name="Choose a wallet").wait_for()
    bench.press("Connect Test Wallet")
    account.get_by_text(f"Owner: {wallet.signer.address}").wait_for()
    bench.walk("Name on the chain")
    keys.type("treasury")
    bench.press("Create on the chain")
    bench.settle(account.get_by_role("row", name=f"Owner {wallet.signer.address}"), by=bench.enter)
    pay_by_keyboard(bench, account)
    bench.walk("Account", "Shift+")
    keys.press("ArrowRight")
    place.locator(".svcnb-panel[data-ready]").wait_for()
    bench.walk("Example")
    keys.type("Sign a message with a w")
    bench.press("Use this example")
    bench.walk("Name of the action")
    keys.type("sign")
    bench.press("Register")
    bench.settle(place.get_by_text("✓ Registered as sign."), by=bench.enter)
    bench.press("Create group")
    keys.type("signers")
    keys.press("Enter")
    bench.settle(form(place, "Create group"), by=bench.enter, gone=True)
    bench.press("Create wallet")
    keys.type("signer")
    keys.press("Enter")
    bench.settle(place.locator(".cm-content", has_text="0x"), by=bench.enter)
    bench.press("Create usage key")
    keys.type("runner")
    keys.press("Enter")
    bench.settle(place.get_by_role("button", name="Hide key"), by=bench.enter)
    keys.press("Enter")
    place.locator(".svcnb-key").wait_for(state="detached")
    bench.press("Permit in group", "Shift+")
    bench.settle(place.get_by_text("✓ This CID is permitted in 1 of 1 group:"), by=bench.enter)
    bench.press("Run")
    place.get_by_role("heading", name="✓ Response").wait_for()
    bench.press("Check the signature")
    place.get_by_text("✓ Signed by signer of this account").wait_for()


def test_a_key_file_opens_an_account_and_a_contract_wallet_owns_one(open_bench, owner, emulator, tmp_path):
    bench = open_bench()
    place = bench.place("Account")
    file = owner.save(tmp_path / "owner.json", PASSWORD)
    place.get_by_label("Wallet of the owner").select_option("a key file")
    place.get_by_label("Key file", exact=True).set_input_files(file)
    place.get_by_label("Password of the key file").fill("not this one")
    place.get_by_role("button", name="Use this key file").click()
    place.locator(".svcnb-field-error").filter(has_text="password").wait_for()
    place.get_by_label("Password of the key file").fill(PASSWORD)
    place.get_by_role("button", name="Use this key file").click()
    place.get_by_text(f"Owner: {owner.address}").wait_for()
    create_on_chain(bench, place, owner.address)
    assert bench.agreed == [TRANSACTION]
    # The owner of the next account is a contract for which this key signs.
    contract = emulator.contract_wallet(owner.address)
    place.get_by_role("button", name="Use another account").click()
    place.get_by_text("Sign for a contract wallet").click()
    place.get_by_label("Address of the contract wallet").fill(contract)
    place.get_by_role("button", name="Use the contract wallet").click()
    place.get_by_text(f"Owner: {contract}").wait_for()
    create_on_chain(bench, place, contract)
    # Then the user transfers the account, after they first saw the consequences and cancelled.
    heir = LocalSigner.random()
    place.get_by_text("Transfer the account to another wallet").click()
    place.get_by_label("New owner").fill(heir.address)
    place.get_by_role("button", name="Transfer the account …").click()
    question = place.locator(".svcnb-failure")
    question.get_by_text(f"will belong to {heir.address}").wait_for()
    question.get_by_role("button", name="Cancel").click()
    place.get_by_role("button", name="Transfer the account …").click()
    assert len(bench.agreed) == 2
    question.get_by_role("button", name="Transfer permanently").click()
    bench.settle(bench.root.get_by_text("No account is open."))
    with emulator.client() as svc:
        assert svc.chain_secured.open(owner).describe().admin == owner.address
        assert svc.chain_secured.open(heir).describe().admin == heir.address


def test_unfinished_operations_are_resumed_or_deleted(open_bench, wallet):
    bench = open_bench()
    create_on_chain(bench, connect(bench), wallet.signer.address)
    place = bench.tab("Permissions")
    for name in ("first", "second"):
        wallet.rejects.add("eth_sendTransaction")
        create(bench, place, "Create wallet", name, place.get_by_role("alert").filter(has_text="Test Wallet"))
        form(place, "Create wallet").get_by_role("button", name="Cancel").click()
        wallet.rejects.clear()
    unfinished = form(bench.tab("Account"), "Unfinished operations")
    row = unfinished.locator(".svcnb-row").filter(has_text="first")
    row.get_by_role("button", name="Resume").click()
    bench.settle(unfinished.get_by_text("✓ The wallet first is complete."))
    row.wait_for(state="detached")
    rest = unfinished.locator(".svcnb-row").filter(has_text="second")
    rest.get_by_role("button", name="Delete the record …").click()
    unfinished.get_by_role("button", name="Delete permanently").click()
    rest.wait_for(state="detached")
    assert bench.nb.value("len(svc.chain_secured.pending())") == 0
    assert "delete_pending" in bench.nb.value("bench.as_code()")
    assert "chain_secured.resume" in bench.nb.value("bench.as_code()")
    bench.tab("Permissions").get_by_role("rowheader", name=re.compile("^first")).wait_for()
