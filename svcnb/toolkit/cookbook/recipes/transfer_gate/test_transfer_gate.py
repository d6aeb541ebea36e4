"""Tests that a list on one chain controls transfers on another chain, and that each signature is valid only once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from eth_account import Account
from web3.exceptions import ContractCustomError

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action((HERE / "action.js").read_text("utf-8"), name="transfer gate")
VALID_S = 300


@pytest.fixture(scope="session")
def list_chain() -> Iterator[svcnb.Emulator]:
    """Starts a second emulator, whose chain contains the list."""
    with svcnb.Emulator(chain_id=10) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def svc_emulator_settings(list_chain: svcnb.Emulator) -> dict[str, Any]:
    return {"allow_address": [urlsplit(list_chain.rpc_url).netloc]}


class World:
    """List on one chain and token on another chain. Ada has tokens and wants to send some to Grace."""

    def __init__(self, svc: svcnb.Client, emulator: Any, list_chain: Any) -> None:
        self.svc, self.emulator = svc, emulator
        self.ada, self.grace = svcnb.LocalSigner.random(), svcnb.LocalSigner.random()
        for chain in (emulator, list_chain):
            chain.faucet(self.ada.address)
        self.w3 = emulator.web3(self.ada)
        self.list = deploy(list_chain.web3(self.ada), HERE / "AccessList.json")
        self.token = self.deploy_token()
        self.config: dict[str, Any] = {
            "validSeconds": VALID_S,
            "list": {
                "rpc": list_chain.rpc_url,
                "chainId": 10,
                "contract": self.list.address,
                "kind": "allow",
                "maxAgeSeconds": 60,
            },
            "token": {"chainId": self.w3.eth.chain_id, "contract": self.token.address},
        }
        self.action = self.derive()
        for each in (self.ada, self.grace):
            self.enlist(each.address)
        send(self.token.functions.setGate(self.permit()["signer"]))

    def derive(self, **changed: Any) -> svcnb.Action:
        return TEMPLATE.derive(self.config | changed, name="GATE")

    def deploy_token(self) -> Any:
        return deploy(self.w3, HERE / "GatedToken.json", 1000)

    def enlist(self, who: str, *, listed: bool = True) -> None:
        send(self.list.functions.set(who, listed))

    def permit(self, action: svcnb.Action | None = None, **changed: Any) -> dict[str, Any]:
        asked = {"from": self.ada.address, "to": self.grace.address, "amount": "10", "nonce": "0"} | changed
        permitted: dict[str, Any] = self.svc.run(action or self.action, asked).response
        return permitted

    def move(self, permitted: dict[str, Any], token: Any = None, **changed: Any) -> Any:
        given = permitted | changed
        target, parts = token or self.token, vrs(given["signature"])
        return send(target.functions.transfer(given["to"], int(given["amount"]), given["deadline"], *parts))

    def balance(self, who: Any) -> int:
        return int(self.token.functions.balanceOf(who.address).call())


@pytest.fixture
def world(svc: svcnb.Client, svc_emulator: Any, list_chain: Any) -> World:
    return World(svc, svc_emulator, list_chain)


def test_a_permitted_transfer_succeeds(world: World) -> None:
    world.move(world.permit())
    world.move(world.permit(nonce="1", amount="5"))
    assert (world.balance(world.ada), world.balance(world.grace)) == (985, 15)


# --- the list -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["from", "to"])
def test_an_address_that_is_not_on_the_list_gets_no_signature(world: World, side: str) -> None:
    with pytest.raises(svcnb.ActionError, match=f"does not permit the address in {side}"):
        world.permit(**{side: Account.create().address})


def test_an_address_that_was_removed_from_the_list_gets_no_signature(world: World) -> None:
    world.enlist(world.grace.address, listed=False)
    with pytest.raises(svcnb.ActionError, match="does not permit"):
        world.permit()


def test_a_list_can_ban_addresses(world: World) -> None:
    ban = world.derive(list=world.config["list"] | {"kind": "deny"})
    with pytest.raises(svcnb.ActionError, match="does not permit"):
        world.permit(ban)
    for each in (world.ada, world.grace):
        world.enlist(each.address, listed=False)
    assert world.permit(ban)["amount"] == "10"
    unclear = world.derive(list=world.config["list"] | {"kind": "Allow"})
    with pytest.raises(svcnb.ActionError, match="must be"):
        world.permit(unclear)


def test_a_node_of_another_chain_is_refused(world: World) -> None:
    here = world.emulator.rpc_url
    with pytest.raises(svcnb.ActionError, match="different chain"):
        world.permit(world.derive(list=world.config["list"] | {"rpc": here}))


def test_a_node_without_recent_blocks_is_refused(world: World) -> None:
    still = world.derive(list=world.config["list"] | {"maxAgeSeconds": -3600})
    with pytest.raises(svcnb.ActionError, match="too old"):
        world.permit(still)


def test_an_address_without_a_contract_is_not_a_list(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="neither true nor false"):
        world.permit(world.derive(list=world.config["list"] | {"contract": world.grace.address}))


# --- false parameters of a caller -----------------------------------------------------------------------------------


def test_parameters_cannot_change_the_list_or_the_token(world: World) -> None:
    evil: dict[str, Any] = {
        "GATE": {"list": {"kind": "deny"}},
        "list": {"kind": "deny"},
        "token": {"chainId": 1},
        "deadline": 2**40,
    }
    permitted = world.permit(**evil)
    assert permitted["deadline"] <= time.time() + VALID_S + 60
    world.move(permitted)
    with pytest.raises(svcnb.ActionError, match="does not permit"):
        world.permit(**evil, to=Account.create().address)


@pytest.mark.parametrize(
    "amount",
    [10, -1, 1e30, "1e3", "0x10", "-1", "", "01", " 1", "1\n", "\uff11", "9" * 79, str(2**256), None, ["1"], True],
)  # fmt: skip
def test_malformed_amounts_are_refused(world: World, amount: object) -> None:
    with pytest.raises(svcnb.ActionError, match="amount: expected a whole number"):
        world.permit(amount=amount)
    with pytest.raises(svcnb.ActionError, match="nonce: expected a whole number"):
        world.permit(nonce=amount)


def test_malformed_addresses_are_refused(world: World) -> None:
    right = world.grace.address
    wrong_sum = right[:2] + right[2:].swapcase()
    zero = "0x" + "0" * 40
    for to in (
        None,
        1,
        "",
        right[2:],
        right + "0",
        right + "\n",
        zero,
        wrong_sum,
        [right],
        "\u0430" + right[1:],
    ):
        with pytest.raises(svcnb.ActionError):
            world.permit(to=to)
    assert world.permit(to=right.lower())["to"] == right


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (!permitted) throw", "if (0) throw"))
    permitted = world.permit(vulnerable.derive(world.config, name="GATE"), to=Account.create().address)
    with pytest.raises(ContractCustomError):
        world.move(permitted)


# --- the token ------------------------------------------------------------------------------------------------------


def test_a_signature_transfers_tokens_only_once(world: World) -> None:
    permitted = world.permit()
    world.move(permitted)
    with pytest.raises(ContractCustomError):
        world.move(permitted)
    assert world.balance(world.grace) == 10


def test_concurrent_calls_result_in_one_transfer(world: World) -> None:
    asked = {"from": world.ada.address, "to": world.grace.address, "amount": "10", "nonce": "0"}
    permitted = [run.response for run in world.svc.map(world.action, [asked] * 4, progress=False)]
    world.move(permitted[0])
    for each in permitted:
        with pytest.raises(ContractCustomError):
            world.move(each)
    assert world.balance(world.grace) == 10


def test_a_changed_transfer_is_refused(world: World) -> None:
    permitted = world.permit()
    for changed in ({"amount": "11"}, {"to": world.ada.address}, {"deadline": permitted["deadline"] + 1}):
        with pytest.raises(ContractCustomError):
            world.move(permitted, **changed)


def test_another_sender_cannot_use_the_signature(world: World) -> None:
    permitted = world.permit()
    call = world.token.functions.transfer(permitted["to"], 10, permitted["deadline"], *vrs(permitted["signature"]))
    with pytest.raises(ContractCustomError):
        call.call({"from": world.grace.address})


def test_a_signature_expires_at_its_deadline(world: World) -> None:
    permitted = world.permit()
    world.emulator.clock.advance(seconds=VALID_S + 60)
    with pytest.raises(ContractCustomError):
        world.move(permitted)


def test_a_signature_for_another_token_or_chain_is_refused(world: World) -> None:
    other = world.deploy_token()
    send(other.functions.setGate(world.token.functions.gate().call()))
    with pytest.raises(ContractCustomError):
        world.move(world.permit(), token=other)
    elsewhere = world.derive(token=world.config["token"] | {"chainId": 1})
    send(world.token.functions.setGate(world.permit(elsewhere)["signer"]))
    with pytest.raises(ContractCustomError):
        world.move(world.permit(elsewhere))


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    permitted = world.permit()
    with reverts("MalleableSignature()"):
        world.move(permitted, signature=second_form(permitted["signature"]))


def test_a_transfer_of_more_than_the_balance_is_refused(world: World) -> None:
    with pytest.raises(ContractCustomError):
        world.move(world.permit(amount="1001"))


def test_only_the_owners_can_change_the_list_and_the_gate(world: World) -> None:
    stranger: Any = {"from": Account.create().address}
    for call in (
        world.token.functions.setGate(world.grace.address),
        world.list.functions.set(world.grace.address, False),
    ):
        with pytest.raises(ContractCustomError):
            call.call(stranger)
