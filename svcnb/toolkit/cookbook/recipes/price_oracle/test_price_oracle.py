"""Tests that the oracle signs only a price on which several sources agree, and that the contract accepts no other
price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from sources import PLACES, Sources  # type: ignore[import-not-found]
from web3.exceptions import ContractCustomError

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action((HERE / "action.js").read_text("utf-8"), name="price oracle")
PAIR = "ETH/USD"
MAX_AGE_S = 300


@pytest.fixture(scope="session")
def sources() -> Iterator[Sources]:
    with Sources() as made:
        yield made


@pytest.fixture(scope="session")
def svc_emulator_settings(sources: Sources) -> dict[str, Any]:
    return {"allow_address": [sources.host]}


class World:
    """Oracle, contract that accepts the oracle's prices, and wallet that submits the prices."""

    def __init__(self, svc: svcnb.Client, w3: Any, sources: Sources) -> None:
        self.svc, self.w3, self.sources = svc, w3, sources
        self.contract = self.deploy()
        self.config = {
            "pair": PAIR,
            "sources": sources.described,
            "needed": 2,
            "spreadBps": 50,
            "maxAgeSeconds": 60,
            "roundSeconds": 1,
            "chainId": self.w3.eth.chain_id,
            "contract": self.contract.address,
        }
        self.action = TEMPLATE.derive(self.config, name="ORACLE")
        send(self.contract.functions.trust(self.sign()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "PriceConsumer.json", PAIR, MAX_AGE_S)

    def sign(self, action: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        signed: dict[str, Any] = self.svc.run(action or self.action, params).response
        return signed

    def submit(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        given = signed | changed
        update = (contract or self.contract).functions.update
        return send(update(int(given["price"]), given["at"], given["round"], *vrs(given["signature"])))


@pytest.fixture
def world(svc: svcnb.Client, w3: Any, sources: Sources) -> World:
    sources.report("3141.50", "3141.59", "3141.70")
    return World(svc, w3, sources)


def test_the_contract_accepts_the_median(world: World) -> None:
    signed = world.sign()
    assert signed["price"] == "314159000000"
    world.submit(signed)
    assert world.contract.functions.latest().call() == 314159000000


# --- sources with false, old or malformed data -----------------------------------------------------------------------


def test_one_source_with_a_false_price_has_no_effect(world: World) -> None:
    world.sources.report("3141.50", "3141.59", "999999.00")
    assert world.sign()["price"] in {"314150000000", "314159000000"}


def test_sources_that_disagree_are_refused(world: World) -> None:
    world.sources.report("3000.00", "3141.59", "3300.00")
    with pytest.raises(svcnb.ActionError, match="1 of 3 sources agree"):
        world.sign()


def test_old_prices_are_refused(world: World) -> None:
    world.sources.report("3141.50", "3141.59", "3141.70", age_s=120)
    with pytest.raises(svcnb.ActionError, match="seconds old"):
        world.sign()


@pytest.mark.parametrize(
    "price",
    [1e308, "1e400", "Infinity", "-3141.59", "0", "0x10", "3141,59", "", None, ["3141.59"], "9" * 13, "3141.123456789",
     "\uff13\uff11\uff14\uff11", "3141.59\n", {"toString": "3141.59"}, True],
)  # fmt: skip
def test_malformed_prices_are_ignored(world: World, price: object) -> None:
    world.sources.report(price, price, "3141.59")
    with pytest.raises(svcnb.ActionError, match="1 of 3 sources agree"):
        world.sign()


def test_an_endless_response_is_refused(world: World) -> None:
    world.sources.answers.update({path: {"price": "3141.59", "x": "x" * 100_000} for path in PLACES})
    with pytest.raises(svcnb.ActionError, match="more than 5,000 characters"):
        world.sign()


# --- false parameters of a caller ------------------------------------------------------------------------------------


def test_parameters_have_no_effect(world: World) -> None:
    evil: dict[str, Any] = {
        "sources": ["http://evil.example/"],
        "needed": 0,
        "price": "1",
        "ORACLE": {"needed": 0},
        "spreadBps": 10**6,
    }
    signed = world.sign(**evil)
    assert signed["price"] == "314159000000"
    assert signed["signer"] == world.contract.functions.oracle().call()


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("needed}", "needed }").replace("10000n", "1n"))
    signed = world.sign(vulnerable.derive(world.config, name="ORACLE"))
    assert signed["signer"] != world.contract.functions.oracle().call()
    with pytest.raises(ContractCustomError):
        world.submit(signed)


# --- submitting a price ----------------------------------------------------------------------------------------------


def test_a_changed_price_is_refused(world: World) -> None:
    signed = world.sign()
    with pytest.raises(ContractCustomError):
        world.submit(signed, price="1")
    with pytest.raises(ContractCustomError):
        world.submit(signed, round=signed["round"] + 1)


def test_a_price_is_accepted_only_once(world: World) -> None:
    signed = world.sign()
    world.submit(signed)
    with pytest.raises(ContractCustomError):
        world.submit(signed)


def test_a_price_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.contract.functions.oracle().call()))
    with pytest.raises(ContractCustomError):
        world.submit(world.sign(), contract=other)
    elsewhere = TEMPLATE.derive(world.config | {"chainId": 1}, name="ORACLE")
    send(world.contract.functions.trust(world.sign(elsewhere)["signer"]))
    with pytest.raises(ContractCustomError):
        world.submit(world.sign(elsewhere))


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    signed = world.sign()
    with reverts("MalleableSignature()"):
        world.submit(signed, signature=second_form(signed["signature"]))


def test_the_contract_does_not_return_an_old_price(world: World, svc_emulator: Any) -> None:
    world.submit(world.sign())
    svc_emulator.clock.advance(seconds=MAX_AGE_S + 60)
    with pytest.raises(ContractCustomError):
        world.contract.functions.latest().call()


def test_only_the_owner_can_set_the_oracle(world: World) -> None:
    stranger = Account.create().address
    with pytest.raises(ContractCustomError):
        world.contract.functions.trust(stranger).call({"from": stranger})


def test_only_one_price_of_concurrent_calls_is_accepted(world: World) -> None:
    signed = [run.response for run in world.svc.map(world.action, [{}] * 4, progress=False)]
    assert {each["price"] for each in signed} == {"314159000000"}
    newest = max(signed, key=lambda each: each["round"])
    world.submit(newest)
    for each in signed:
        with pytest.raises(ContractCustomError):
            world.submit(each)
