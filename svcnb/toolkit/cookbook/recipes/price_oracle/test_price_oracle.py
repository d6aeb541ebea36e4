"""The oracle tells a price that several sources agree on, and the contract takes it from nobody else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from web3.exceptions import ContractCustomError

import svcnb
from svcnb.testing import StandIn, deploy, reverts, second_form, send, vrs
from svcnb.toolkit.lint import lint

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action((HERE / "action.js").read_text("utf-8"), name="price oracle")
PAIR = "ETH/USD"
MAX_AGE_S = 300


class Sources(StandIn):
    """Three services that report a price, on this machine. A test changes what they answer."""

    @property
    def described(self) -> list[dict[str, str]]:
        """Where price and time are in their answers, for the settings of the oracle."""
        where = {"a": ("price", "time"), "b": ("last", "timestamp"), "c": ("last", "volume.timestamp")}
        return [{"url": f"{self.url}/{name}", "price": p, "at": at} for name, (p, at) in where.items()]

    def tell(self, *prices: object, age_s: float = 0) -> None:
        """Each reports one of the prices in a form of its own: time as ISO 8601, seconds or milliseconds."""
        one, two, three = prices
        self.answers = {
            "/a": lambda _: {"price": one, "time": _iso(time.time() - age_s)},
            "/b": lambda _: {"last": two, "timestamp": str(int(time.time() - age_s))},
            "/c": lambda _: {"last": three, "volume": {"timestamp": int((time.time() - age_s) * 1000)}},
        }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.fixture(scope="session")
def sources() -> Iterator[Sources]:
    with Sources() as made:
        yield made


@pytest.fixture(scope="session")
def svc_emulator_settings(sources: Sources) -> dict[str, Any]:
    return {"allow_address": [sources.host]}


class World:
    """The oracle, the contract that trusts it, and somebody who brings its prices."""

    def __init__(self, svc: svcnb.Client, emulator: Any, sources: Sources) -> None:
        self.svc, self.sources = svc, sources
        owner = svcnb.LocalSigner.random()
        emulator.faucet(owner.address)
        self.w3 = emulator.web3(owner)
        deployed = self.deploy()
        self.contract = deployed
        self.config = {
            "pair": PAIR,
            "sources": sources.described,
            "needed": 2,
            "spreadBps": 50,
            "maxAgeSeconds": 60,
            "roundSeconds": 1,
            "chainId": self.w3.eth.chain_id,
            "contract": deployed.address,
        }
        self.action = TEMPLATE.derive(self.config, name="ORACLE")
        send(deployed.functions.trust(self.tell()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "PriceConsumer.json", PAIR, MAX_AGE_S)

    def tell(self, action: svcnb.Action | None = None, **params: Any) -> dict[str, Any]:
        told: dict[str, Any] = self.svc.run(action or self.action, params).response
        return told

    def bring(self, told: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        told = told | changed
        target = contract or self.contract
        return send(target.functions.update(int(told["price"]), told["at"], told["round"], *vrs(told["signature"])))


@pytest.fixture
def world(svc: svcnb.Client, svc_emulator: Any, sources: Sources) -> World:
    sources.tell("3141.50", "3141.59", "3141.70")
    return World(svc, svc_emulator, sources)


def test_the_linter_finds_nothing(world: World) -> None:
    assert list(lint(world.action)) == []


def test_the_median_reaches_the_contract(world: World) -> None:
    told = world.tell()
    assert told["price"] == "314159000000"
    world.bring(told)
    assert world.contract.functions.latest().call() == 314159000000


# --- sources that lie, are old or malformed ------------------------------------------------------------------------


def test_one_lying_source_does_not_change_the_price(world: World) -> None:
    world.sources.tell("3141.50", "3141.59", "999999.00")
    assert world.tell()["price"] in {"314150000000", "314159000000"}


def test_sources_that_disagree_are_refused(world: World) -> None:
    world.sources.tell("3000.00", "3141.59", "3300.00")
    with pytest.raises(svcnb.ActionError, match="1 of 3 sources agree"):
        world.tell()


def test_old_prices_are_refused(world: World) -> None:
    world.sources.tell("3141.50", "3141.59", "3141.70", age_s=120)
    with pytest.raises(svcnb.ActionError, match="seconds old"):
        world.tell()


@pytest.mark.parametrize(
    "price",
    [1e308, "1e400", "Infinity", "-3141.59", "0", "0x10", "3141,59", "", None, ["3141.59"], "9" * 13, "3141.123456789",
     "\uff13\uff11\uff14\uff11", "3141.59\n", {"toString": "3141.59"}, True],
)  # fmt: skip
def test_what_is_no_price_is_no_price(world: World, price: object) -> None:
    world.sources.tell(price, price, "3141.59")
    with pytest.raises(svcnb.ActionError, match="1 of 3 sources agree"):
        world.tell()


def test_an_endless_answer_is_refused(world: World) -> None:
    world.sources.answers.update({f"/{name}": {"price": "3141.59", "x": "x" * 100_000} for name in "abc"})
    with pytest.raises(svcnb.ActionError, match="more than 5,000 characters"):
        world.tell()


# --- a caller that lies ---------------------------------------------------------------------------------------------


def test_parameters_change_nothing(world: World) -> None:
    evil: dict[str, Any] = {
        "sources": ["http://evil.example/"],
        "needed": 0,
        "price": "1",
        "ORACLE": {"needed": 0},
        "spreadBps": 10**6,
    }
    told = world.tell(**evil)
    assert told["price"] == "314159000000"
    assert told["signer"] == world.contract.functions.oracle().call()


def test_one_changed_byte_of_the_template_is_another_signer(world: World) -> None:
    careless = svcnb.Action(TEMPLATE.source.replace("needed}", "needed }").replace("10000n", "1n"))
    told = world.tell(careless.derive(world.config, name="ORACLE"))
    assert told["signer"] != world.contract.functions.oracle().call()
    with pytest.raises(ContractCustomError):
        world.bring(told)


# --- who brings a price ---------------------------------------------------------------------------------------------


def test_a_changed_price_is_refused(world: World) -> None:
    told = world.tell()
    with pytest.raises(ContractCustomError):
        world.bring(told, price="1")
    with pytest.raises(ContractCustomError):
        world.bring(told, round=told["round"] + 1)


def test_a_price_is_taken_once(world: World) -> None:
    told = world.tell()
    world.bring(told)
    with pytest.raises(ContractCustomError):
        world.bring(told)


def test_a_price_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.contract.functions.oracle().call()))
    with pytest.raises(ContractCustomError):
        world.bring(world.tell(), contract=other)
    elsewhere = TEMPLATE.derive(world.config | {"chainId": 1}, name="ORACLE")
    send(world.contract.functions.trust(world.tell(elsewhere)["signer"]))
    with pytest.raises(ContractCustomError):
        world.bring(world.tell(elsewhere))


def test_the_second_form_of_a_signature_is_refused(world: World) -> None:
    told = world.tell()
    with reverts("MalleableSignature()"):
        world.bring(told, signature=second_form(told["signature"]))


def test_a_price_grows_old_in_the_contract(world: World, svc_emulator: Any) -> None:
    world.bring(world.tell())
    svc_emulator.clock.advance(seconds=MAX_AGE_S + 60)
    with pytest.raises(ContractCustomError):
        world.contract.functions.latest().call()


def test_nobody_else_chooses_the_oracle(world: World, svc_emulator: Any) -> None:
    stranger = Account.create()
    svc_emulator.faucet(stranger.address)
    with pytest.raises(ContractCustomError):
        world.contract.functions.trust(stranger.address).call({"from": stranger.address})


def test_calls_at_the_same_time_tell_the_same_and_one_of_them_is_taken(world: World) -> None:
    told = [run.response for run in world.svc.map(world.action, [{}] * 4, progress=False)]
    assert {each["price"] for each in told} == {"314159000000"}
    newest = max(told, key=lambda each: each["round"])
    world.bring(newest)
    for each in told:
        with pytest.raises(ContractCustomError):
            world.bring(each)
