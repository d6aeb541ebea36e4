"""Tests that the club admits a holder only if two of three nodes report the balance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

import svcnb
from svcnb.testing import StubServer, deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="chain condition")


@pytest.fixture(scope="session")
def nodes() -> Iterator[list[StubServer]]:
    """Starts three servers on this machine that simulate nodes."""
    with ExitStack() as stack:
        yield [stack.enter_context(StubServer()) for _ in range(3)]


@pytest.fixture(scope="session")
def svc_emulator_settings(nodes: list[StubServer]) -> dict[str, Any]:
    return {"allow_address": [node.host for node in nodes]}


def node_of(w3: Any, **lies: Any) -> Callable[[Any], Any]:
    """Returns a handler that responds like a node of the chain, except for methods with false results."""

    def answer(request: Any) -> Any:
        results = []
        for each in request.json:
            method = each["method"]
            result = w3.provider.make_request(method, each["params"]).get("result")
            results.append({"jsonrpc": "2.0", "id": each["id"], "result": lies.get(method, result)})
        return results

    return answer


class World:
    """Ada's ten tokens, and a club for holders of at least five tokens."""

    def __init__(self, svc: svcnb.Client, w3: Any, nodes: list[StubServer]) -> None:
        self.svc, self.w3, self.nodes = svc, w3, nodes
        self.token = deploy(w3, HERE / "Token.json", 10)
        self.ada, self.stranger = w3.eth.default_account, Account.create().address
        self.club = self.deploy()
        self.config: dict[str, Any] = {
            "nodes": [node.url + "/" for node in nodes],
            "needed": 2,
            "depth": 1,
            "maxAgeSeconds": 600,
            "atLeast": "5",
            "validSeconds": 600,
            "token": {"chainId": w3.eth.chain_id, "contract": self.token.address},
            "club": {"chainId": w3.eth.chain_id, "contract": self.club.address},
        }
        self.action = self.derive()
        self.lie()
        send(self.club.functions.trust(self.admit()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "Club.json")

    def derive(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        return template.derive(self.config | changed, name="CONDITION")

    def lie(self, *lies: dict[str, Any]) -> None:
        """Sets the false results of the first nodes, one argument for each node. Other nodes return true results."""
        for number, node in enumerate(self.nodes):
            node.answers = {"/": node_of(self.w3, **(lies[number] if number < len(lies) else {}))}

    def admit(self, action: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        admitted: dict[str, Any] = self.svc.run(action or self.action, {"holder": self.ada} | params).response
        return admitted

    def join(self, admitted: dict[str, Any], club: Any = None, **changed: Any) -> Any:
        given = admitted | changed
        return send((club or self.club).functions.join(given["member"], given["until"], *vrs(given["signature"])))


@pytest.fixture
def world(svc: svcnb.Client, w3: Any, nodes: list[StubServer]) -> World:
    return World(svc, w3, nodes)


RICH = {"eth_call": "0x" + "f" * 64}


def test_a_holder_joins(world: World) -> None:
    world.join(world.admit())
    assert world.club.functions.isMember(world.ada).call()


def test_someone_without_tokens_cannot_join(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="balance is below 5"):
        world.admit(holder=world.stranger)


# --- nodes ----------------------------------------------------------------------------------------------------------


def test_one_node_with_false_results_has_no_effect(world: World) -> None:
    world.lie(RICH)
    with pytest.raises(svcnb.ActionError, match="balance is below 5"):
        world.admit(holder=world.stranger)
    world.lie({"eth_call": "0x" + "0" * 64})
    assert world.admit()["member"] == world.ada


def test_three_different_balances_are_refused(world: World) -> None:
    world.lie(RICH, {"eth_call": "0x" + "0" * 64})
    with pytest.raises(svcnb.ActionError, match="Fewer than 2 of 3 nodes agree"):
        world.admit()


@pytest.mark.parametrize("height", ["0x0", "0xffffffff", "0x" + "f" * 60, "-0x1", 1, None])
def test_a_false_height_of_one_node_has_no_effect(world: World, height: Any) -> None:
    honest = world.admit()["block"]
    world.lie({"eth_blockNumber": height})
    assert honest - 2 <= world.admit()["block"] <= honest + 1


def test_one_unavailable_node_has_no_effect_but_two_are_refused(world: World) -> None:
    world.nodes[0].answers = {}
    assert world.admit()["member"] == world.ada
    world.nodes[1].answers = {"/": "no JSON"}
    with pytest.raises(svcnb.ActionError, match="1 of 3 nodes responded"):
        world.admit()


def test_nodes_on_different_forks_do_not_agree(world: World) -> None:
    def fork(byte: str) -> dict[str, Any]:
        at = world.w3.eth.block_number - world.config["depth"]
        block = world.w3.provider.make_request("eth_getBlockByNumber", [hex(at), False])["result"]
        return {"eth_getBlockByNumber": block | {"hash": "0x" + byte * 32}}

    world.lie(fork("aa"), fork("bb"))
    with pytest.raises(svcnb.ActionError, match="Fewer than 2 of 3 nodes agree"):
        world.admit()


def test_a_chain_without_new_blocks_is_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="block is too old"):
        world.admit(world.derive(maxAgeSeconds=-3600))


def test_nodes_of_another_chain_are_refused(world: World) -> None:
    world.lie({"eth_chainId": "0x1"}, {"eth_chainId": "0x1"})
    with pytest.raises(svcnb.ActionError, match="1 of 3 nodes responded"):
        world.admit()


@pytest.mark.parametrize("balance", ["0x", "0xf", None, 10, ["0x" + "f" * 64], "0x" + "\uff11" * 64, {"toString": "1"}])
def test_malformed_balances_do_not_count(world: World, balance: Any) -> None:
    world.lie({"eth_call": balance}, {"eth_call": balance})
    with pytest.raises(svcnb.ActionError, match="Fewer than 2 of 3 nodes agree"):
        world.admit()


# --- callers --------------------------------------------------------------------------------------------------------


def test_parameters_cannot_change_the_settings(world: World) -> None:
    evil: dict[str, Any] = {"CONDITION": {"atLeast": "0"}, "atLeast": "0", "nodes": ["http://evil.example/"]}
    with pytest.raises(svcnb.ActionError, match="balance is below 5"):
        world.admit(holder=world.stranger, **evil)


def test_an_invalid_address_is_refused(world: World) -> None:
    right = world.ada
    for holder in (None, 1, "", "ada.eth", right[2:], right + "0", right + "\n", "0x" + right[2:].swapcase(), [right]):
        with pytest.raises(svcnb.ActionError):
            world.admit(holder=holder)


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (agreed.balance <", "if (0 && agreed.balance <"))
    with reverts("NotTheSigner(address)"):
        world.join(world.admit(world.derive(vulnerable), holder=world.stranger))


# --- the club -------------------------------------------------------------------------------------------------------


def test_a_changed_response_is_refused(world: World) -> None:
    admitted = world.admit()
    for changed in ({"member": world.stranger}, {"until": admitted["until"] + 1}):
        with reverts("NotTheSigner(address)"):
            world.join(admitted, **changed)


def test_a_response_for_another_club_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.club.functions.signer().call()))
    with reverts("NotTheSigner(address)"):
        world.join(world.admit(), club=other)
    elsewhere = world.admit(world.derive(club=world.config["club"] | {"chainId": 1}))
    send(world.club.functions.trust(elsewhere["signer"]))
    with reverts("NotTheSigner(address)"):
        world.join(elsewhere)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    admitted = world.admit()
    with reverts("MalleableSignature()"):
        world.join(admitted, signature=second_form(admitted["signature"]))


def test_a_membership_ends(world: World, svc_emulator: Any) -> None:
    admitted = world.admit()
    world.join(admitted)
    svc_emulator.clock.advance(seconds=1200)
    with reverts("Expired(uint256)"):
        world.join(admitted)


def test_concurrent_calls_admit_one_member(world: World) -> None:
    runs = world.svc.map(world.action, [{"holder": world.ada}] * 3, progress=False)
    for run in runs:
        world.join(run.response)
    latest = max(run.response["until"] for run in runs)
    assert world.club.functions.memberUntil(world.ada).call() == latest
