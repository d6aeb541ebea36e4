"""Tests that receipts do not need a trusted store, because the actions detect changed, hidden and repeated receipts."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from store import Shop, Store  # type: ignore[import-not-found]
from verify import canonical, head_of, problems  # type: ignore[import-not-found]

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="signed records")
ADA, GRACE = "0x00000000000000000000000000000000000A11cE", "0x1111111111111111111111111111111111111111"
START = "0x" + "00" * 32


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[Shop, Store]]:
    with Shop() as shop, Store() as store:
        yield shop, store


@pytest.fixture(scope="session")
def svc_emulator_settings(servers: tuple[Shop, Store]) -> dict[str, Any]:
    return {"allow_address": [each.host for each in servers]}


class World:
    """Store with two receipts of Ada, and a contract that has accepted their total of 2,000."""

    def __init__(self, svc: svcnb.Client, w3: Any, servers: tuple[Shop, Store]) -> None:
        self.svc, self.w3 = svc, w3
        self.shop, self.store = servers
        self.shop.answers.clear()
        self.store.records.clear()
        self.contract = self.deploy()
        self.addresses = {"shop": self.shop.url, "store": self.store.url}
        self.issuer = TEMPLATE.derive(self.addresses, name="RECORDS")
        self.settings: dict[str, Any] = {
            "issuer": self.issuer.cid,
            "store": self.store.url,
            "validSeconds": 600,
            "chainId": w3.eth.chain_id,
            "contract": self.contract.address,
        }
        self.consumer = self.derive()
        self.records = self.store.of(ADA)
        self.sell("order-1", 1250)
        self.issuer_address = self.sell("order-2", 750)["signer"]
        first = self.total()
        send(self.contract.functions.trust(first["signer"]))
        self.update(first)

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "Points.json")

    def derive(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        return template.derive(self.settings | changed, name="RECORDS")

    def sell(self, order: str, cents: Any, customer: str = ADA, issuer: svcnb.Action | None = None) -> dict[str, Any]:
        """Adds an order to the shop. The issuer signs a receipt for the order."""
        self.store.of(customer)
        self.shop.sell(order, customer, cents)
        return self.issue(order=order, issuer=issuer)

    def issue(self, issuer: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        issued: dict[str, Any] = self.svc.run(issuer or self.issuer, params).response
        return issued

    def head(self, contract: Any = None, customer: str = ADA) -> str:
        return "0x" + bytes((contract or self.contract).functions.headOf(customer).call()).hex()

    def total(self, consumer: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        given = {"customer": ADA, "previous": self.head()} | params
        signed: dict[str, Any] = self.svc.run(consumer or self.consumer, given).response
        return signed

    def update(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        given = signed | changed
        call = (contract or self.contract).functions.update
        head = bytes.fromhex(given["head"][2:])
        return send(call(given["customer"], given["points"], head, given["deadline"], *vrs(given["signature"])))

    def points(self, customer: str = ADA) -> int:
        return int(self.contract.functions.pointsOf(customer).call())


@pytest.fixture
def world(svc: svcnb.Client, w3: Any, servers: tuple[Shop, Store]) -> World:
    return World(svc, w3, servers)


def test_a_refund_reaches_the_contract(world: World) -> None:
    assert world.points() == 2000
    world.sell("refund-1", -1250)
    world.update(world.total())
    assert world.points() == 750


def test_receipts_are_verified_offline(world: World, tmp_path: Path) -> None:
    file = tmp_path / "receipts.json"
    for value, answer in ((1250, "All receipts are valid.\n"), (1251, None)):
        world.records[0]["receipt"]["cents"] = value
        file.write_text(json.dumps(world.records))
        command = [sys.executable, str(HERE / "verify.py"), str(file), world.issuer_address]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, answer) if answer else done.returncode == 1


def test_another_implementation_of_canonical_json_finds_the_same_signer(world: World) -> None:
    for name in ("a", "a-z-0", "0" * 32):
        record = world.sell(name, len(name))
        message = encode_defunct(text=canonical(record["receipt"]))
        assert Account.recover_message(message, signature=record["signature"]) == world.issuer_address
    assert problems(world.records, world.issuer_address) == []


def test_the_plan_contains_the_cid_of_its_issuer() -> None:
    actions = tomllib.loads((HERE / "account.toml").read_text("utf-8"))["actions"]
    issuer = TEMPLATE.derive(actions["issuer"]["constant"], name="RECORDS")
    assert actions["consumer"]["constant"]["issuer"] == issuer.cid, "run: svcnb cid account.toml"


# --- false records of a store ---------------------------------------------------------------------------------------


def test_a_rollback_is_detected_by_the_consumer(world: World) -> None:
    world.sell("refund-1", -1250)
    world.update(world.total())
    hidden = world.records.pop()
    with pytest.raises(svcnb.ActionError, match="did not return the last receipt"):
        world.total()
    world.sell("order-3", 500)  # the issuer continues from the old receipt
    with pytest.raises(svcnb.ActionError, match="did not return the last receipt"):
        world.total()
    world.records[-1] = hidden
    assert world.sell("order-4", 500)["receipt"]["number"] == 4


def test_a_rollback_is_detected_by_the_contract(world: World) -> None:
    """The store hides the last receipt. The caller passes the hash of an older receipt as the last accepted receipt."""
    world.sell("refund-1", -1250)
    world.update(world.total())
    world.records.pop()
    for previous in (START, head_of(world.records[0]["receipt"])):
        signed = world.total(previous=previous)
        with reverts("NotTheSigner(address)"):
            world.update(signed)
    assert world.points() == 750


def test_a_changed_receipt_is_refused(world: World) -> None:
    original = world.records[0]
    values: list[Any] = [{"cents": 125000}, {"customer": GRACE}, {"number": 2}, {"number": "1"}, {"previous": "0x1"},
     {"order": "order-9"}, {"time": 0}, {"cents": 1250.5}, {"cents": 1e308}, {"cents": None}, {"more": "x"},
     {"cents": [1250]}, {"order": "\uff4frder-1"}, {"__proto__": "x"}]  # fmt: skip
    for changed in values:
        world.records[0] = original | {"receipt": original["receipt"] | changed}
        with pytest.raises(svcnb.ActionError, match="The issuer did not sign receipt 1 of the store"):
            world.total()
        with pytest.raises(svcnb.ActionError, match="The issuer did not sign receipt 1 of the store"):
            world.sell("order-3", 1)


def test_an_omitted_moved_or_repeated_receipt_is_refused(world: World) -> None:
    world.sell("order-3", 500)
    one, two, three = world.records
    for shown in ([two, three], [one, three], [two, one, three], [one, one, two, three], [one, two, three, three]):
        world.records[:] = shown
        with pytest.raises(svcnb.ActionError, match="does not match the previous receipt"):
            world.total()


def test_a_receipt_of_another_customer_is_refused(world: World) -> None:
    world.sell("order-3", 99_000, customer=GRACE)
    world.records[:] = world.store.of(GRACE)
    with pytest.raises(svcnb.ActionError, match="The customer of receipt"):
        world.total()


def test_a_forged_receipt_is_refused(world: World) -> None:
    """The store returns a receipt that a stranger signed. Then, another action tries to continue the receipts."""
    stranger = Account.create()
    forged = world.records[-1]["receipt"] | {"number": 3, "previous": head_of(world.records[-1]["receipt"])}
    signature = "0x" + stranger.sign_message(encode_defunct(text=canonical(forged))).signature.hex()
    world.records.append({"receipt": forged, "signature": signature, "issuer": stranger.address})
    with pytest.raises(svcnb.ActionError, match="The issuer did not sign receipt 3 of the store"):
        world.total()
    world.records.pop()
    other = TEMPLATE.derive(world.addresses | {"shop": world.shop.url + "/"}, name="RECORDS")
    with pytest.raises(svcnb.ActionError, match="The issuer did not sign"):
        world.issue(issuer=other, order="order-1")


def test_a_malformed_signature_is_refused(world: World) -> None:
    values: list[Any] = [None, "", "0x", "0x" + "00" * 65, "0x" + "ff" * 65, {"r": "0x"}, 1]
    for signature in values:
        world.records[0]["signature"] = signature
        with pytest.raises(svcnb.ActionError, match="The issuer did not sign"):
            world.total()


def test_a_malformed_list_is_refused(world: World) -> None:
    values: list[Any] = ["{}", '"x"', "[null]", '[{"receipt": null}]', "[[]]", "not JSON", "[" + " " * 200_000 + "]"]
    for shown in values:
        world.store.answers[f"/receipts/{ADA}"] = shown
        with pytest.raises(svcnb.ActionError):
            world.total()


def test_reordered_members_and_white_space_have_no_effect(world: World) -> None:
    """The issuer signs canonical JSON, so the signature does not depend on the format of the store's response."""
    world.sell("order-3", 1)
    reordered = [
        {"signature": each["signature"], "receipt": dict(sorted(each["receipt"].items(), reverse=True))}
        for each in world.records
    ]
    world.store.answers[f"/receipts/{ADA}"] = json.dumps(reordered, indent=3)
    assert world.total()["points"] == 2001


def test_the_other_valid_form_of_a_signature_does_not_create_a_second_receipt(world: World) -> None:
    record = world.records[-1]
    world.records.append(record | {"signature": second_form(record["signature"])})
    with pytest.raises(svcnb.ActionError, match=r"does not match|did not sign"):
        world.total()


# --- callers --------------------------------------------------------------------------------------------------------


def test_parameters_cannot_change_the_settings(world: World) -> None:
    evil: dict[str, Any] = {"RECORDS": {"issuer": "x"}, "issuer": GRACE, "store": "http://evil.example", "points": 9}
    world.sell("order-3", 1)
    assert world.total(**evil)["points"] == 2001
    world.shop.sell("order-4", ADA, 1)
    assert world.issue(order="order-4", cents=9999, customer=GRACE, shop="http://evil.example")["receipt"]["cents"] == 1


def test_an_order_has_only_one_receipt(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="This order already has a receipt"):
        world.issue(order="order-1")


def test_an_invalid_order_is_refused(world: World) -> None:
    values: list[Any] = [
        None,
        1,
        "",
        "Order-1",
        "a" * 33,
        "../receipts",
        "order-1?x",
        "order-1\n",
        "\u043erder-1",
        ["order-1"],
    ]
    for order in values:
        with pytest.raises(svcnb.ActionError, match="order: expected"):
            world.issue(order=order)
        assert len(world.records) == 2


def test_an_invalid_amount_is_refused(world: World) -> None:
    values: list[Any] = [0, 1.5, 1e13, -1e13, 1e308, "1250", None, [1250], True]
    for cents in values:
        with pytest.raises(svcnb.ActionError, match="did not return a whole number of cents"):
            world.sell("order-3", cents)


def test_an_invalid_customer_is_refused(world: World) -> None:
    values: list[Any] = [None, "", "ada.eth", ADA + "0", ADA.replace("A11cE", "\u041011cE"), [ADA]]
    for customer in values:
        with pytest.raises(svcnb.ActionError, match="customer"):
            world.total(customer=customer)


def test_an_unknown_order_is_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="did not return the address of a customer"):
        world.issue(order="order-7")


def test_only_one_of_two_receipts_issued_at_the_same_time_counts(world: World) -> None:
    for order in ("order-3", "order-4", "order-5"):
        world.shop.sell(order, ADA, 100)
    world.svc.map(world.issuer, [{"order": f"order-{number}"} for number in (3, 4, 5)], progress=False)
    kept = world.records[:3]
    if world.records[3]["receipt"]["number"] == 3:  # issued before the store contained the first receipt
        with pytest.raises(svcnb.ActionError, match="does not match"):
            world.total()
    world.records[:] = kept
    world.update(world.total())
    assert world.points() == 2100


# --- totals ---------------------------------------------------------------------------------------------------------


def test_a_total_is_accepted_only_once(world: World) -> None:
    world.sell("order-3", 500)
    signed = world.total()
    world.update(signed)
    with reverts("NotTheSigner(address)"):
        world.update(signed)
    with pytest.raises(svcnb.ActionError, match="no new receipt"):
        world.total()


def test_a_changed_total_is_refused(world: World) -> None:
    world.sell("order-3", 500)
    signed = world.total()
    for changed in ({"points": 9999}, {"customer": GRACE}, {"head": "0x" + "11" * 32}, {"deadline": 2**40}):
        with reverts("NotTheSigner(address)"):
            world.update(signed, **changed)


def test_a_total_for_another_contract_or_chain_is_refused(world: World) -> None:
    world.sell("order-3", 500)
    other = world.deploy()
    send(other.functions.trust(world.contract.functions.signer().call()))
    with reverts("NotTheSigner(address)"):
        world.update(world.total(previous=START), contract=other)
    elsewhere = world.total(world.derive(chainId=1))
    send(world.contract.functions.trust(elsewhere["signer"]))
    with reverts("NotTheSigner(address)"):
        world.update(elsewhere)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    world.sell("order-3", 500)
    signed = world.total()
    with reverts("MalleableSignature()"):
        world.update(signed, signature=second_form(signed["signature"]))


def test_a_total_expires(world: World, svc_emulator: Any) -> None:
    world.sell("order-3", 500)
    signed = world.total()
    svc_emulator.clock.advance(seconds=1200)
    with reverts("Expired(uint256)"):
        world.update(signed)


def test_refunds_beyond_the_sales_are_refused(world: World) -> None:
    world.sell("refund-1", -5000)
    with pytest.raises(svcnb.ActionError, match="refunds is larger than the total of the sales"):
        world.total()


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (!heads.includes(previous))", "if (false)"))
    world.sell("order-3", 500)
    with reverts("NotTheSigner(address)"):
        world.update(world.total(world.derive(vulnerable)))
    issuer = vulnerable.derive(world.addresses, name="RECORDS")
    with pytest.raises(svcnb.ActionError, match="The issuer did not sign"):
        world.total(world.derive(issuer=issuer.cid))


def test_only_the_owner_can_choose_the_action(world: World) -> None:
    with reverts("NotTheOwner()"):
        world.contract.functions.trust(ADA).call({"from": Account.create().address})
