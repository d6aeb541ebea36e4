"""Tests that the action signs only calls that enough approvers signed, and that the contract executes no call twice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from web3.exceptions import ContractCustomError

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action((HERE / "action.js").read_text("utf-8"), name="approvals")
FIELDS = [
    {"name": name, "type": kind}
    for name, kind in {
        "to": "address",
        "value": "uint256",
        "data": "bytes",
        "nonce": "uint256",
        "deadline": "uint256",
    }.items()
]
RECIPIENT = "0x00000000000000000000000000000000000A11cE"


class World:
    """Three approvers, their action, and a contract with one ether. Two approvers must agree."""

    def __init__(self, svc: svcnb.Client, w3: Any) -> None:
        self.svc, self.w3 = svc, w3
        self.approvers = [Account.create() for _ in range(3)]
        self.contract = self.deploy()
        self.config = {
            "approvers": [each.address for each in self.approvers],
            "needed": 2,
            "maxDeadlineSeconds": 3600,
            "chainId": self.w3.eth.chain_id,
            "contract": self.contract.address,
        }
        self.action = TEMPLATE.derive(self.config, name="APPROVALS")
        send(self.contract.functions.trust(self.signed(self.call())["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "ApprovedCalls.json", value=10**18)

    def call(self, **changed: str) -> dict[str, str]:
        call = {"to": RECIPIENT, "value": "1000", "data": "0x", "nonce": "0", "deadline": str(int(time.time()) + 600)}
        return call | changed

    def approve(self, call: dict[str, str], *approvers: Any, **domain: Any) -> list[str]:
        """Signs the call with the first two approvers, unless the test specifies others."""
        config = self.config
        place = {
            "name": "ApprovedCalls",
            "version": "1",
            "chainId": config["chainId"],
            "verifyingContract": config["contract"],
        }
        numbers = {name: int(call[name]) for name in ("value", "nonce", "deadline")}
        message = call | numbers | {"data": bytes.fromhex(call["data"][2:])}
        return [
            "0x" + Account.sign_typed_data(each.key, place | domain, {"Approval": FIELDS}, message).signature.hex()
            for each in approvers or self.approvers[:2]
        ]

    def run(self, call: Any, signatures: Any, action: svcnb.Action | None = None, **more: Any) -> dict[str, Any]:
        params = {"call": call, "signatures": signatures} | more
        answer: dict[str, Any] = self.svc.run(action or self.action, params).response
        return answer

    def signed(self, call: dict[str, str], action: svcnb.Action | None = None) -> dict[str, Any]:
        return self.run(call, self.approve(call), action)

    def execute(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        call, parts = signed["call"] | changed, vrs(changed.get("signature", signed["signature"]))
        function = (contract or self.contract).functions.execute
        return send(function(call["to"], int(call["value"]), call["data"], int(call["deadline"]), *parts))

    def refused(self, error: str, signed: dict[str, Any], contract: Any = None, **changed: Any) -> None:
        """Checks that the contract rejects the call with this error."""
        with reverts(error):
            self.execute(signed, contract, **changed)


@pytest.fixture
def world(svc: svcnb.Client, w3: Any) -> World:
    return World(svc, w3)


def test_an_approved_call_is_made(world: World) -> None:
    call = world.call()
    signed = world.run(call, world.approve(call, world.approvers[2], world.approvers[0]))
    assert signed["approvedBy"] == [world.approvers[2].address, world.approvers[0].address]
    world.execute(signed)
    assert world.w3.eth.get_balance(RECIPIENT) == 1000
    assert world.contract.functions.nonce().call() == 1


def test_only_an_approved_call_can_change_the_signer(world: World) -> None:
    next_signer = Account.create().address
    with pytest.raises(ContractCustomError):
        send(world.contract.functions.trust(next_signer))
    data = world.contract.encode_abi("trust", [next_signer])
    world.execute(world.signed(world.call(to=world.contract.address, value="0", data=data)))
    assert world.contract.functions.signer().call() == next_signer


# --- too few approvers ----------------------------------------------------------------------------------------------


def test_too_few_approvals_are_refused(world: World) -> None:
    call = world.call()
    with pytest.raises(svcnb.ActionError, match="has 0 of the 2 required approvals"):
        world.run(call, [])
    with pytest.raises(svcnb.ActionError, match="has 1 of the 2 required approvals"):
        world.run(call, world.approve(call, world.approvers[0]))


def test_one_approver_counts_only_once(world: World) -> None:
    """An action must count signers, not signatures, because one signature has several valid forms."""
    call = world.call()
    (one,) = world.approve(call, world.approvers[0])
    low_v = one[:-2] + f"{int(one[-2:], 16) - 27:02x}"
    for other in (one, "0x" + one[2:].upper(), low_v, second_form(one)):
        with pytest.raises(svcnb.ActionError, match=r"has 1 of the 2 required approvals|not an approver's signature"):
            world.run(call, [one, other])


def test_a_stranger_does_not_count(world: World) -> None:
    call = world.call()
    with pytest.raises(svcnb.ActionError, match=r"signatures\[1\] is not an approver's signature"):
        world.run(call, world.approve(call, world.approvers[0], Account.create()))


@pytest.mark.parametrize(
    "changed", [{"value": "1001"}, {"to": "0x" + "11" * 20}, {"data": "0x00"}, {"nonce": "1"}, {"deadline": "+1"}]
)
def test_approvals_of_different_calls_do_not_add_up(world: World, changed: dict[str, str]) -> None:
    call = world.call()
    if "deadline" in changed:
        changed = {"deadline": str(int(call["deadline"]) + 1)}
    one, two = world.approve(call)[0], world.approve(call | changed)[1]
    with pytest.raises(svcnb.ActionError, match=r"signatures\[1\] is not an approver's signature"):
        world.run(call, [one, two])


@pytest.mark.parametrize("domain", [{"chainId": 1}, {"verifyingContract": "0x" + "11" * 20}, {"name": "Other"}])
def test_approvals_for_another_chain_or_contract_are_refused(world: World, domain: dict[str, Any]) -> None:
    call = world.call()
    with pytest.raises(svcnb.ActionError, match="not an approver's signature"):
        world.run(call, world.approve(call, **domain))


# --- parameters of an attacker --------------------------------------------------------------------------------------


def test_parameters_cannot_change_the_settings(world: World) -> None:
    call = world.call()
    evil = Account.create()
    settings: dict[str, Any] = {"approvers": [evil.address], "needed": 1}
    with pytest.raises(svcnb.ActionError, match="not an approver's signature"):
        world.run(call, world.approve(call, evil), APPROVALS=settings, **settings)


@pytest.mark.parametrize(
    "value", ["-1", "1.5", "1e3", "0x10", "", " 1", "01", "1\n", "\uff11", "9" * 400, 1000, 1e308, None, ["1"], True]
)
def test_malformed_numbers_are_refused(world: World, value: object) -> None:
    signatures = world.approve(world.call())
    for name in ("value", "nonce", "deadline"):
        with pytest.raises(svcnb.ActionError, match=rf"call\.{name}: expected a whole number"):
            world.run(world.call() | {name: value}, signatures)


def test_a_number_beyond_256_bits_is_refused(world: World) -> None:
    signatures = world.approve(world.call())
    with pytest.raises(svcnb.ActionError, match=r"call\.value: expected a whole number below"):
        world.run(world.call(value=str(2**256)), signatures)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (None, "call.to"), ("call", "call.to"), ([], "call.to"),
        ({"to": "alice.eth"}, "call.to"), ({"to": RECIPIENT.replace("A11cE", "\u041011cE")}, "call.to"),
        ({"to": RECIPIENT.replace("A11cE", "a11CE")}, "call.to"),
        ({"to": RECIPIENT, "data": "0x0"}, "call.data"), ({"to": RECIPIENT, "data": "0x" + "00" * 10_000}, "call.data"),
        ({"to": RECIPIENT, "data": "0xAA"}, "call.data"), ({"to": RECIPIENT, "data": {"length": 1}}, "call.data"),
    ],
)  # fmt: skip
def test_a_malformed_call_is_refused(world: World, call: object, message: str) -> None:
    with pytest.raises(svcnb.ActionError, match=message):
        world.run(call, [])


@pytest.mark.parametrize(
    "signatures", [None, "0x", {"length": 2}, [None, None], ["0x" + "00" * 65] * 2, ["0x" + "ff" * 65] * 2]
)
def test_malformed_signatures_are_refused(world: World, signatures: object) -> None:
    with pytest.raises(svcnb.ActionError, match="signatures"):
        world.run(world.call(), signatures)


def test_more_signatures_than_approvers_are_refused(world: World) -> None:
    call = world.call()
    with pytest.raises(svcnb.ActionError, match="signatures: expected a list of at most 3 signatures"):
        world.run(call, world.approve(call) * 2)


def test_a_past_or_distant_deadline_is_refused(world: World) -> None:
    for call, message in (
        (world.call(deadline=str(int(time.time()) - 60)), "has passed"),
        (world.call(deadline=str(int(time.time()) + 7200)), "more than 3600 seconds in the future"),
    ):
        with pytest.raises(svcnb.ActionError, match=message):
            world.run(call, world.approve(call))


def test_reordered_and_extra_members_sign_the_same_call(world: World) -> None:
    call = world.call()
    reordered = dict(reversed(call.items())) | {"gas": "1", "from": RECIPIENT}
    assert world.run(reordered, world.approve(call)) == world.signed(call)


# --- settings that look correct -------------------------------------------------------------------------------------


def test_settings_that_weaken_the_count_are_refused(world: World) -> None:
    one, two, _ = world.config["approvers"]
    call = world.call()
    for changed, message in (
        ({"approvers": [one, one, two]}, "occurs twice"),
        ({"approvers": [one, one.lower(), two]}, "EIP-55 checksum"),
        ({"needed": 0}, "needed is 0"),
        ({"needed": 4}, "needed is 4"),
        ({"needed": 1.5}, "needed is 1.5"),
    ):
        action = TEMPLATE.derive(world.config | changed, name="APPROVALS")
        with pytest.raises(svcnb.ActionError, match=message):
            world.run(call, world.approve(call), action)


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("[...new Set(signers)]", "signers"))
    action = vulnerable.derive(world.config, name="APPROVALS")
    call = world.call()
    (one,) = world.approve(call, world.approvers[0])
    signed = world.run(call, [one, one], action)
    world.refused("NotTheSigner(address)", signed)


# --- who submits the call -------------------------------------------------------------------------------------------


def test_a_changed_call_is_refused(world: World) -> None:
    signed = world.signed(world.call())
    later = str(int(signed["call"]["deadline"]) + 1)
    for changed in ({"value": "1001"}, {"to": world.approvers[0].address}, {"data": "0x00"}, {"deadline": later}):
        world.refused("NotTheSigner(address)", signed, **changed)


def test_a_call_is_made_only_once(world: World) -> None:
    signed = world.signed(world.call())
    world.execute(signed)
    world.refused("NotTheSigner(address)", signed)


def test_a_call_for_another_contract_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.contract.functions.signer().call()))
    world.refused("NotTheSigner(address)", world.signed(world.call()), contract=other)


def test_a_call_for_another_chain_is_refused(world: World) -> None:
    contract = world.deploy()
    world.config |= {"chainId": 1, "contract": contract.address}
    elsewhere = world.signed(world.call(), TEMPLATE.derive(world.config, name="APPROVALS"))
    send(contract.functions.trust(elsewhere["signer"]))
    world.refused("NotTheSigner(address)", elsewhere, contract=contract)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    signed = world.signed(world.call())
    world.refused("MalleableSignature()", signed, signature=second_form(signed["signature"]))


def test_a_call_expires_in_the_contract(world: World, svc_emulator: Any) -> None:
    signed = world.signed(world.call())
    svc_emulator.clock.advance(seconds=1200)
    world.refused("Expired(uint256)", signed)


def test_a_malformed_signature_does_not_match_an_unset_signer(world: World) -> None:
    """ecrecover returns address 0 for a malformed signature, and a new contract has address 0 as its signer."""
    signed = world.signed(world.call())
    world.refused("NotTheSigner(address)", signed, contract=world.deploy(), signature="0x" + "00" * 65)


def test_a_stranger_cannot_set_the_first_signer(world: World) -> None:
    stranger = Account.create().address
    with pytest.raises(ContractCustomError):
        world.deploy().functions.trust(stranger).call({"from": stranger})


def test_a_call_that_fails_does_not_use_the_number(world: World) -> None:
    world.refused("CallFailed(bytes)", world.signed(world.call(value=str(10**30))))
    assert world.contract.functions.nonce().call() == 0


def test_only_one_of_several_calls_with_the_same_number_is_made(world: World) -> None:
    calls = [world.call(value=str(value)) for value in (1, 2, 3)]
    runs = world.svc.map(
        world.action, [{"call": each, "signatures": world.approve(each)} for each in calls], progress=False
    )
    first, *others = [run.response for run in runs]
    world.execute(first)
    for each in others:
        world.refused("NotTheSigner(address)", each)
