"""Tests that an agent spends only what the policy allows, and cannot reuse old records, approvals or payments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="agent wallet")
SHOP, OTHER = "0x00000000000000000000000000000000000A11cE", "0x1111111111111111111111111111111111111111"


class World:
    """Wallet with one ether. The agent can pay 100 wei, or 500 wei with approval, and at most 700 wei in a day."""

    def __init__(self, svc: svcnb.Client, w3: Any) -> None:
        self.svc, self.w3, self.owner = svc, w3, Account.create()
        self.contract = self.deploy()
        self.config: dict[str, Any] = {
            "owner": self.owner.address,
            "recipients": [SHOP],
            "alone": "100",
            "most": "500",
            "mostPerDay": "700",
            "validSeconds": 300,
            "chainId": w3.eth.chain_id,
            "contract": self.contract.address,
        }
        self.action = self.derive()
        send(self.contract.functions.trust(self.sign()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "AgentWallet.json", value=10**18)

    def derive(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        return template.derive(self.config | changed, name="POLICY")

    def sign(self, action: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        signed: dict[str, Any] = self.svc.run(action or self.action, {"to": SHOP, "value": "50"} | params).response
        return signed

    def approve(self, value: str, record: Any = None, by: Any = None, **changed: Any) -> str:
        message = {"to": SHOP, "value": int(value), "previous": record["head"] if record else "0x" + "00" * 32}
        domain = {"name": "AgentWallet", "version": "1"}
        domain |= {"chainId": self.config["chainId"], "verifyingContract": self.config["contract"]}
        kinds = {"to": "address", "value": "uint256", "previous": "bytes32"}
        types = {"Approval": [{"name": name, "type": kind} for name, kind in kinds.items()]}
        key = (by or self.owner).key
        signature: str = Account.sign_typed_data(key, domain, types, message | changed).signature.hex()
        return "0x" + signature

    def pay(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        payment = signed["payment"] | changed
        call = (contract or self.contract).functions.pay
        parts = vrs(changed.get("signature", signed["signature"]))
        return send(call(payment["to"], int(payment["value"]), payment["deadline"], *parts))


@pytest.fixture
def world(svc: svcnb.Client, w3: Any) -> World:
    return World(svc, w3)


def test_the_agent_pays_within_the_policy(world: World) -> None:
    first = world.sign()
    world.pay(first)
    second = world.sign(record=first["record"], value="100")
    world.pay(second)
    assert world.w3.eth.get_balance(SHOP) == 150
    assert second["record"]["spent"] == "150"


def test_the_owner_approves_a_large_payment(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="needs the owner's approval"):
        world.sign(value="400")
    world.pay(world.sign(value="400", approval=world.approve("400")))
    assert world.w3.eth.get_balance(SHOP) == 400


# --- the policy -----------------------------------------------------------------------------------------------------


def test_another_recipient_and_a_larger_payment_are_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="does not allow this recipient"):
        world.sign(to=OTHER)
    with pytest.raises(svcnb.ActionError, match="at most 500 wei"):
        world.sign(value="501", approval=world.approve("501"))


def test_the_daily_limit_is_enforced(world: World) -> None:
    first = world.sign(value="500", approval=world.approve("500"))
    for value in ("201", "400"):
        with pytest.raises(svcnb.ActionError, match="at most 700 wei per day"):
            world.sign(record=first["record"], value=value, approval=world.approve(value, first["record"]))
    assert world.sign(record=first["record"])["record"]["spent"] == "550"


def test_parameters_cannot_change_the_policy(world: World) -> None:
    evil: dict[str, Any] = {"POLICY": {"alone": "1000"}, "alone": "1000", "recipients": [OTHER]}
    with pytest.raises(svcnb.ActionError, match="does not allow this recipient"):
        world.sign(to=OTHER, **evil)
    with pytest.raises(svcnb.ActionError, match="needs the owner's approval"):
        world.sign(value="400", **evil)


@pytest.mark.parametrize(
    "value", [50, -50, 1e30, "0", "-1", "1e3", "0x10", "", " 1", "1\n", "01", "\uff11", "9" * 40, None, ["1"], True]
)
def test_an_invalid_amount_is_refused(world: World, value: Any) -> None:
    with pytest.raises(svcnb.ActionError, match="expected a whole number of wei"):
        world.sign(value=value)


@pytest.mark.parametrize("to", [None, "", "alice.eth", SHOP + "0", SHOP.replace("A11cE", "\u041011cE"), [SHOP]])
def test_an_invalid_address_is_refused(world: World, to: Any) -> None:
    with pytest.raises(svcnb.ActionError, match="expected an address"):
        world.sign(to=to)


# --- records --------------------------------------------------------------------------------------------------------


def test_a_changed_record_is_refused(world: World) -> None:
    record = world.sign()["record"]
    for changed in ({"spent": "0"}, {"day": record["day"] - 1}, {"head": "0x" + "00" * 32}, {"signature": "0x"}):
        with pytest.raises(svcnb.ActionError, match="did not sign the record"):
            world.sign(record=record | changed)


def test_an_old_or_missing_record_does_not_result_in_a_payment(world: World) -> None:
    first = world.sign()
    world.pay(first)
    second = world.sign(record=first["record"])
    world.pay(second)
    for record in (None, first["record"]):
        with reverts("NotTheSigner(address)"):
            world.pay(world.sign(record=record))


def test_a_record_of_a_payment_that_was_not_made_is_refused(world: World) -> None:
    """The agent makes the large payment, and continues with the record of the small payment."""
    large = world.sign(value="100")
    small = world.sign(value="1")
    world.pay(large)
    with reverts("NotTheSigner(address)"):
        world.pay(world.sign(record=small["record"]))


def test_only_one_of_several_payments_signed_at_the_same_time_is_made(world: World) -> None:
    runs = world.svc.map(world.action, [{"to": SHOP, "value": str(value)} for value in (1, 2, 3)], progress=False)
    first, *others = [run.response for run in runs]
    world.pay(first)
    for each in others:
        with reverts("NotTheSigner(address)"):
            world.pay(each)


# --- approvals ------------------------------------------------------------------------------------------------------


def test_an_approval_by_another_person_or_for_another_payment_is_refused(world: World) -> None:
    for approval in (
        world.approve("400", by=Account.create()),
        world.approve("399"),
        world.approve("400", to=OTHER),
        world.approve("400", previous="0x" + "11" * 32),
        "0x" + "00" * 65,
        None,
    ):
        with pytest.raises(svcnb.ActionError, match="needs the owner's approval"):
            world.sign(value="400", approval=approval)


def test_an_approval_is_valid_only_once(world: World) -> None:
    approval = world.approve("300")
    first = world.sign(value="300", approval=approval)
    world.pay(first)
    with pytest.raises(svcnb.ActionError, match="needs the owner's approval"):
        world.sign(value="300", approval=approval, record=first["record"])


# --- payments -------------------------------------------------------------------------------------------------------


def test_a_changed_payment_is_refused(world: World) -> None:
    signed = world.sign()
    for changed in ({"value": "51"}, {"to": OTHER}, {"deadline": signed["payment"]["deadline"] + 1}):
        with reverts("NotTheSigner(address)"):
            world.pay(signed, **changed)
    world.pay(signed)
    with reverts("NotTheSigner(address)"):
        world.pay(signed)


def test_a_payment_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.contract.functions.signer().call()))
    with reverts("NotTheSigner(address)"):
        world.pay(world.sign(), contract=other)
    elsewhere = world.sign(world.derive(chainId=1))
    send(world.contract.functions.trust(elsewhere["signer"]))
    with reverts("NotTheSigner(address)"):
        world.pay(elsewhere)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    signed = world.sign()
    with reverts("MalleableSignature()"):
        world.pay(signed, signature=second_form(signed["signature"]))


def test_a_payment_expires(world: World, svc_emulator: Any) -> None:
    signed = world.sign()
    svc_emulator.clock.advance(seconds=600)
    with reverts("Expired(uint256)"):
        world.pay(signed)


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (!POLICY.recipients", "if (0 && !POLICY.recipients"))
    with reverts("NotTheSigner(address)"):
        world.pay(world.sign(world.derive(vulnerable), to=OTHER))


def test_only_the_owner_can_withdraw(world: World) -> None:
    stranger: Any = {"from": Account.create().address}
    for call in (world.contract.functions.withdraw(), world.contract.functions.trust(SHOP)):
        with reverts("NotTheOwner()"):
            call.call(stranger)
    send(world.contract.functions.withdraw())
    assert world.w3.eth.get_balance(world.contract.address) == 0
