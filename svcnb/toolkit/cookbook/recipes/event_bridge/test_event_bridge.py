"""Tests that the other chain mints the tokens of a deposit only once, and only after enough confirmations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from eth_account import Account

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="event bridge")
CONFIRMATIONS = 2
RECIPIENT = "0x00000000000000000000000000000000000A11cE"


@pytest.fixture(scope="session")
def first_chain() -> Iterator[svcnb.Emulator]:
    with svcnb.Emulator(chain_id=10) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def svc_emulator_settings(first_chain: svcnb.Emulator) -> dict[str, Any]:
    return {"allow_address": [urlsplit(first_chain.rpc_url).netloc]}


class World:
    """Two contracts, each on its own chain, and the action that signs deposits."""

    def __init__(self, svc: svcnb.Client, w3: Any, first_chain: Any) -> None:
        self.svc, self.w3, self.first_chain = svc, w3, first_chain
        payer = svcnb.LocalSigner.random()
        first_chain.faucet(payer.address)
        self.first = first_chain.web3(payer)
        self.lock = deploy(self.first, HERE / "BridgeLock.json")
        self.mint_contract = self.deploy()
        self.config: dict[str, Any] = {
            "source": {
                "rpc": first_chain.rpc_url,
                "chainId": 10,
                "contract": self.lock.address,
                "confirmations": CONFIRMATIONS,
            },
            "target": {"chainId": w3.eth.chain_id, "contract": self.mint_contract.address},
        }
        self.action = self.derive()
        self.asked = self.deposit()
        send(self.mint_contract.functions.trust(self.sign()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "BridgeMint.json")

    def derive(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        return template.derive(self.config | changed, name="BRIDGE")

    def confirm(self, blocks: int = CONFIRMATIONS) -> None:
        for _ in range(blocks):
            receipt = self.first.eth.send_transaction({"to": RECIPIENT, "value": 1})
            self.first.eth.wait_for_transaction_receipt(receipt)

    def deposit(self, lock: Any = None, *, confirmed: int = CONFIRMATIONS) -> dict[str, Any]:
        """Makes a deposit, adds `confirmed` blocks after it, and returns the action's parameters for this deposit."""
        contract = lock or self.lock
        number = str(contract.functions.deposits().call())
        receipt = send(contract.functions.deposit(RECIPIENT), value=1000)
        self.confirm(confirmed)
        return {"transaction": receipt["transactionHash"].to_0x_hex(), "number": number}

    def sign(self, action: svcnb.Action | None = None, **changed: Any) -> dict[str, Any]:
        signed: dict[str, Any] = self.svc.run(action or self.action, self.asked | changed).response
        return signed

    def mint(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        given = signed | changed
        call = (contract or self.mint_contract).functions.mint
        return send(call(int(given["number"]), given["recipient"], int(given["amount"]), *vrs(given["signature"])))


@pytest.fixture
def world(svc: svcnb.Client, w3: Any, first_chain: Any) -> World:
    return World(svc, w3, first_chain)


def test_a_deposit_results_in_tokens(world: World) -> None:
    world.mint(world.sign())
    assert world.mint_contract.functions.balanceOf(RECIPIENT).call() == 1000


def test_a_deposit_without_confirmations_is_refused(world: World) -> None:
    asked = world.deposit(confirmed=1)
    with pytest.raises(svcnb.ActionError, match="has 1 of the 2 required confirmations"):
        world.sign(**asked)
    world.confirm(1)
    assert world.sign(**asked)["number"] == asked["number"]


def test_a_deposit_that_a_reorganisation_undid_is_refused(world: World) -> None:
    world.first_chain.snapshot("before")
    asked = world.deposit(confirmed=0)
    world.first_chain.restore("before")
    world.confirm(4)
    with pytest.raises(svcnb.ActionError, match="no successful transaction with this hash"):
        world.sign(**asked)


def test_an_event_of_another_contract_is_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="did not emit this event"):
        world.sign(**world.deposit(deploy(world.first, HERE / "BridgeLock.json")))


def test_a_transaction_without_the_event_or_with_another_number_is_refused(world: World) -> None:
    plain = world.first.eth.send_transaction({"to": RECIPIENT, "value": 1}).to_0x_hex()
    world.confirm()
    changes: list[dict[str, Any]] = [{"transaction": plain}, {"number": "7"}]
    for changed in changes:
        with pytest.raises(svcnb.ActionError, match="did not emit this event"):
            world.sign(**changed)


def test_a_failed_or_unknown_transaction_is_refused(world: World) -> None:
    failed = {"to": world.lock.address, "data": "0x12345678", "gas": 100_000}
    sent = world.first.eth.send_transaction(failed)
    world.first.eth.wait_for_transaction_receipt(sent)
    world.confirm()
    for transaction in (sent.to_0x_hex(), "0x" + "11" * 32):
        with pytest.raises(svcnb.ActionError, match="no successful transaction"):
            world.sign(transaction=transaction)


def test_a_node_of_another_chain_is_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="different chain"):
        world.sign(world.derive(source=world.config["source"] | {"chainId": 1}))


def test_parameters_cannot_change_the_settings(world: World) -> None:
    evil: dict[str, Any] = {"BRIDGE": {"source": {"confirmations": 0}}, "confirmations": 0, "amount": "9" * 30}
    with pytest.raises(svcnb.ActionError, match="of the 2 required confirmations"):
        world.sign(**world.deposit(confirmed=0), **evil)
    assert world.sign(**evil)["amount"] == "1000"


@pytest.mark.parametrize(
    "number", [0, -1, 1e30, "-1", "1e3", "0x0", "", "00", " 0", "\uff10", str(2**256), None, ["0"]]
)
def test_an_invalid_number_is_refused(world: World, number: Any) -> None:
    with pytest.raises(svcnb.ActionError, match="expected a whole number"):
        world.sign(number=number)


def test_an_invalid_transaction_hash_is_refused(world: World) -> None:
    right = world.asked["transaction"]
    for transaction in (None, 1, "", right[2:], right + "\n", "0x" + right[2:].upper() + "A", [right]):
        with pytest.raises(svcnb.ActionError, match="expected 0x and 64"):
            world.sign(transaction=transaction)


def test_concurrent_calls_mint_a_deposit_only_once(world: World) -> None:
    first, *others = [run.response for run in world.svc.map(world.action, [world.asked] * 3, progress=False)]
    world.mint(first)
    for each in others:
        with reverts("Minted(uint256)"):
            world.mint(each)


def test_a_changed_message_is_refused(world: World) -> None:
    signed = world.sign()
    for changed in ({"amount": "1001"}, {"number": "5"}, {"recipient": world.lock.address}):
        with reverts("NotTheSigner(address)"):
            world.mint(signed, **changed)


def test_a_message_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.mint_contract.functions.signer().call()))
    with reverts("NotTheSigner(address)"):
        world.mint(world.sign(), contract=other)
    elsewhere = world.sign(world.derive(target=world.config["target"] | {"chainId": 1}))
    send(world.mint_contract.functions.trust(elsewhere["signer"]))
    with reverts("NotTheSigner(address)"):
        world.mint(elsewhere)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    signed = world.sign()
    with reverts("MalleableSignature()"):
        world.mint(signed, signature=second_form(signed["signature"]))


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("< confirmations)", "< 0)"))
    with reverts("NotTheSigner(address)"):
        world.mint(world.sign(world.derive(vulnerable), **world.deposit(confirmed=0)))


def test_only_the_owner_can_choose_the_action(world: World) -> None:
    with reverts("NotTheOwner()"):
        world.mint_contract.functions.trust(RECIPIENT).call({"from": Account.create().address})
