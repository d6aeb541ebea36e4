"""Tests that the action uses the API key without disclosing it to callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.client.errors import SvcnbError
from svcnb.testing import StubServer
from svcnb.toolkit.stub_server import Response

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="api secret")
ENCRYPT = "async function main({ wallet, text }) { return Svc.Actions.Encrypt({ pkpId: wallet, message: text }); }"
FIRST, SECOND = "key-one-of-the-tests", "key-two-of-the-tests"


@pytest.fixture(scope="session")
def weather() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


@pytest.fixture(scope="session")
def svc_emulator_settings(weather: StubServer) -> dict[str, Any]:
    return {"allow_address": [weather.host]}


class World:
    """Paid service that accepts one API key, and a caller with a usage key."""

    def __init__(self, svc: svcnb.Client, weather: StubServer) -> None:
        self.svc, self.weather, self.accepted = svc, weather, FIRST
        self.wallet = svc.wallets.create()
        weather.answers = {"/now": self.answer}
        weather.requests.clear()
        self.action = self.derive(FIRST)
        self.group = svc.groups.create("weather", wallets=[self.wallet], actions=[self.action])
        self.caller = svc.with_key(svc.usage_keys.create("caller", execute_in_groups=[self.group]))

    def answer(self, request: Any) -> Any:
        right = request.headers.get("authorization") == f"Bearer {self.accepted}"
        return {"degrees": 21.5} if right else Response({"error": "wrong API key"}, 401)

    def encrypt(self, text: str) -> str:
        ciphertext: str = self.svc.run(ENCRYPT, wallet=self.wallet.address, text=text).response
        return ciphertext

    def derive(self, text: str, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        settings = {"url": self.weather.url + "/now", "wallet": self.wallet.address}
        return template.derive(settings | {"ciphertext": self.encrypt(text)} | changed, name="SECRET")

    def ask(self, action: svcnb.Action | None = None, **params: Any) -> Any:
        return self.caller.run(action or self.action, {"city": "lima"} | params).response


@pytest.fixture
def world(svc: svcnb.Client, weather: StubServer) -> World:
    return World(svc, weather)


def test_the_request_contains_the_key(world: World) -> None:
    assert world.ask() == {"city": "lima", "degrees": 21.5}
    assert FIRST not in world.action.source


def test_neither_logs_nor_errors_contain_the_key(world: World, svc_recorded: Callable[[Any], Any]) -> None:
    run = world.caller.run(world.action, city="lima")
    assert FIRST not in svc_recorded(run).logs
    world.weather.answers["/now"] = lambda request: Response(request.headers["authorization"], 500)
    with pytest.raises(svcnb.ActionError, match="returned status 500") as failed:
        world.ask()
    assert FIRST not in str(failed.value)


@pytest.mark.parametrize("repeat", ["authorization", "degrees"])
def test_the_caller_does_not_see_a_key_that_the_service_repeats(world: World, repeat: str) -> None:
    world.weather.answers["/now"] = lambda request: {repeat: request.headers["authorization"]}
    with pytest.raises(svcnb.ActionError, match="did not return a temperature") as failed:
        world.ask()
    assert FIRST not in str(failed.value)
    world.weather.answers["/now"] = lambda request: request.headers["authorization"]
    with pytest.raises(svcnb.ActionError, match="did not return JSON") as failed:
        world.ask()
    assert FIRST not in str(failed.value)


def test_a_redirect_does_not_send_the_key_to_another_host(world: World) -> None:
    with StubServer() as thief:
        world.weather.answers["/now"] = Response("", 302, {"location": thief.url + "/"})
        with pytest.raises(svcnb.ActionError):
            world.ask()
        assert thief.requests == []


def test_parameters_cannot_change_the_address(world: World) -> None:
    evil: dict[str, Any] = {"url": "http://evil.example/", "SECRET": {"url": "http://evil.example/"}, "wallet": "0x"}
    assert world.ask(**evil)["degrees"] == 21.5


@pytest.mark.parametrize(
    "city", [None, 1, "", "Lima", "a" * 31, "lima&key=1", "lima\r\nx: y", "../x", "lima\n", "l\u0131ma", ["lima"], {}]
)
def test_an_invalid_city_is_refused_before_decryption(world: World, city: Any) -> None:
    with pytest.raises(svcnb.ActionError, match="expected 1 to 30 lower-case letters"):
        world.ask(city=city)
    assert world.weather.requests == []


def test_another_action_cannot_decrypt_the_key(world: World) -> None:
    thief = svcnb.Action("async function main(params) { return (await Svc.Actions.Decrypt(params)).length; }")
    with pytest.raises(svcnb.Forbidden):
        world.ask(thief)
    others = world.svc.groups.create("others", actions=[thief])
    key = world.svc.usage_keys.create("thief", execute_in_groups=[others])
    stolen = {"pkpId": world.wallet.address, "ciphertext": world.encrypt(FIRST)}
    with pytest.raises(SvcnbError):
        world.svc.with_key(key).run(thief, stolen)


def test_one_changed_byte_of_the_template_is_not_permitted(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("{ city, degrees }", "{ city, degrees, key }"))
    with pytest.raises(svcnb.Forbidden):
        world.ask(world.derive(FIRST, vulnerable))


@pytest.mark.parametrize("changed", ["", "00", "zz" * 40, "00" * 60])
def test_a_changed_ciphertext_is_refused(world: World, changed: str) -> None:
    broken = world.derive(FIRST, ciphertext=changed)
    world.svc.groups.add_action(world.group, broken)
    with pytest.raises(SvcnbError):
        world.ask(broken)
    assert world.weather.requests == []


def test_a_rotated_key_replaces_the_old_one(world: World) -> None:
    rotated = world.derive(SECOND)
    world.svc.groups.add_action(world.group, rotated)
    world.svc.groups.remove_action(world.group, world.action)
    world.accepted = SECOND
    assert world.ask(rotated)["degrees"] == 21.5
    with pytest.raises(svcnb.Forbidden):
        world.ask()


def test_a_revoked_action_no_longer_runs(world: World) -> None:
    world.svc.groups.remove_action(world.group, world.action)
    with pytest.raises(svcnb.Forbidden):
        world.ask()
    assert world.weather.requests == []


def test_concurrent_calls_get_the_same_result(world: World) -> None:
    runs = world.caller.map(world.action, [{"city": "lima"}] * 4, progress=False)
    assert {run.response["degrees"] for run in runs} == {21.5}
