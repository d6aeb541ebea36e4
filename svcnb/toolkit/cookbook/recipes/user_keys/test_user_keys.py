"""Tests that each user has their own key, which signs only the orders that this user approved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from eth_keys.datatypes import PublicKey
from provider import AUDIENCE, ISSUER, IdentityProvider, _encoded  # type: ignore[import-not-found]
from users import action_of, digest_of, key_of, settings_of  # type: ignore[import-not-found]

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="user keys")
SHOP, OTHER = "0x00000000000000000000000000000000000A11cE", "0x1111111111111111111111111111111111111111"


class World:
    """Contract in which Kim has 1,000 wei, an identity provider, and the actions of Kim and Ada."""

    def __init__(self, svc: svcnb.Client, w3: Any) -> None:
        self.svc, self.w3, self.provider = svc, w3, IdentityProvider()
        self.contract = self.deploy()
        self.settings: dict[str, Any] = {
            "issuer": ISSUER,
            "audience": AUDIENCE,
            "provider": self.provider.address,
            "validSeconds": 600,
            "chainId": w3.eth.chain_id,
            "contract": self.contract.address,
        }
        self.kim, self.ada = (action_of(name, self.settings, TEMPLATE) for name in ("kim", "ada"))
        self.account = key_of(svc, self.kim).address
        send(self.contract.functions.deposit(self.account), value=1000)

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "UserAccounts.json")

    def order(self, **changed: Any) -> dict[str, Any]:
        order = {"account": self.account, "to": SHOP, "value": "100", "nonce": "0"}
        return order | {"deadline": str(int(time.time()) + 300)} | changed

    def digest(self, order: dict[str, Any], kind: str = "Payment", **settings: Any) -> str:
        digest: str = digest_of(kind, order, self.settings | settings)
        return digest

    def sign(
        self, order: dict[str, Any], action: svcnb.Action | None = None, *, kind: str = "Payment", **token: Any
    ) -> dict[str, Any]:
        """Runs an action with an order and a token. By default, the action and the token are Kim's."""
        given: dict[str, Any] = {"name": "kim", "approved": self.digest(order, kind)} | token
        return self.run(action or self.kim, kind=kind, order=order, token=self.provider.sign_in(**given))

    def run(self, action: svcnb.Action, **params: Any) -> dict[str, Any]:
        signed: dict[str, Any] = self.svc.run(action, params).response
        return signed

    def pay(self, signed: dict[str, Any], contract: Any = None, **changed: Any) -> Any:
        order, parts = signed["order"] | changed, vrs(changed.get("signature", signed["signature"]))
        call = (contract or self.contract).functions.pay
        return send(call(order["account"], order["to"], int(order["value"]), int(order["deadline"]), *parts))

    def migrate(self, signed: dict[str, Any]) -> Any:
        order = signed["order"]
        call = self.contract.functions.migrate
        return send(call(order["account"], order["next"], int(order["deadline"]), *vrs(signed["signature"])))

    def migration(self, key: str, nonce: str = "0") -> dict[str, Any]:
        order = self.order(next=key, nonce=nonce)
        del order["to"], order["value"]
        return order


@pytest.fixture
def world(svc: svcnb.Client, w3: Any) -> World:
    return World(svc, w3)


def test_a_user_pays_from_their_account(world: World) -> None:
    world.pay(world.sign(world.order()))
    world.pay(world.sign(world.order(value="50", nonce="1")))
    assert world.contract.functions.balanceOf(world.account).call() == 850
    assert world.w3.eth.get_balance(SHOP) == 150


def test_anyone_can_find_a_users_key_before_the_user_signs_in(world: World, svc_emulator: Any) -> None:
    stranger = svc_emulator.client().accounts.create("stranger")
    found = key_of(svc_emulator.client(api_key=stranger.api_key), world.kim)
    assert found == key_of(world.svc, world.kim)
    point = PublicKey.from_compressed_bytes(bytes.fromhex(found.public_key[2:]))
    assert point.to_checksum_address() == found.address == world.sign(world.order())["signer"]


def test_the_template_identifies_the_user_of_an_action(world: World) -> None:
    derived = TEMPLATE.parse_derived(world.kim)
    assert derived is not None
    assert derived.constant["name"] == "kim"
    assert TEMPLATE.parse_derived(svcnb.Action(world.kim.source.replace("sub !==", "sub  !=="))) is None


# --- look-alike users -----------------------------------------------------------------------------------------------

LOOK_ALIKES = ["Kim", "KIM", "\u212aim", "k\u0456m", "k\u0131m", "kim ", " kim", "kim\u200b", "kim\n", "kim\u0000"]


def test_a_token_of_a_look_alike_user_is_refused(world: World) -> None:
    values: list[Any] = LOOK_ALIKES
    for name in values:
        with pytest.raises(svcnb.ActionError, match="for another user"):
            world.sign(world.order(), name=name)


def test_a_look_alike_name_does_not_result_in_an_action(world: World) -> None:
    values: list[Any] = [*LOOK_ALIKES, "", "a" * 33, "-kim", "1kim"]
    for name in values:
        with pytest.raises(ValueError, match="invalid user name"):
            action_of(name, world.settings, TEMPLATE)
        by_hand = TEMPLATE.derive(world.settings | {"name": name}, name="USER")
        with pytest.raises(svcnb.ActionError, match=r"USER\.name: expected"):
            world.sign(world.order(), by_hand, name=name)


def test_each_user_has_a_different_key(world: World) -> None:
    names = ["kim", "kin", "kim-", "kim-1", "k1m", "kirn"]
    assert len({key_of(world.svc, action_of(name, world.settings, TEMPLATE)).address for name in names}) == len(names)


def test_another_user_cannot_pay_from_the_account(world: World) -> None:
    signed = world.sign(world.order(), world.ada, name="ada")
    with reverts("NotTheSigner(address)"):
        world.pay(signed)


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_for_another_order_is_refused(world: World) -> None:
    approved = world.digest(world.order())
    for changed in ({"to": OTHER}, {"value": "101"}, {"nonce": "1"}, {"account": OTHER}):
        with pytest.raises(svcnb.ActionError, match="for another order"):
            world.sign(world.order(**changed), approved=approved)


def test_a_token_for_another_chain_or_contract_is_refused(world: World) -> None:
    order = world.order()
    others: list[dict[str, Any]] = [{"chainId": 1}, {"contract": OTHER}]
    for elsewhere in others:
        with pytest.raises(svcnb.ActionError, match="for another order"):
            world.sign(order, approved=world.digest(order, **elsewhere))


def test_a_token_with_other_claims_is_refused(world: World) -> None:
    values: list[Any] = [
        ({"iss": "https://other.example"}, "for another app"), ({"aud": "other"}, "for another app"),
        ({"aud": ["user-accounts"]}, "for another app"), ({"sub": "ada"}, "for another user"),
        ({"sub": ["kim"]}, "for another user"), ({"sub": None}, "for another user"), ({"exp": 1}, "expired"),
        ({"exp": None}, "expired"), ({"exp": "9999999999"}, "expired"), ({"exp": 1e300}, "expired"),
        ({"nonce": None}, "for another order"),
    ]  # fmt: skip
    for claims, message in values:
        with pytest.raises(svcnb.ActionError, match=message):
            world.sign(world.order(), **claims)


def test_a_token_of_another_provider_is_refused(world: World) -> None:
    order = world.order()
    token = IdentityProvider().sign_in("kim", world.digest(order))
    with pytest.raises(svcnb.ActionError, match="did not sign it"):
        world.run(world.kim, kind="Payment", order=order, token=token)


def test_a_token_cannot_choose_the_algorithm(world: World) -> None:
    values: list[Any] = ["none", "None", "HS256", "ES256", "es256k", ""]
    for algorithm in values:
        with pytest.raises(svcnb.ActionError, match="expected the algorithm ES256K"):
            world.sign(world.order(), header={"alg": algorithm})


def test_a_token_with_changed_parts_is_refused(world: World) -> None:
    order = world.order()
    header, claims, signature = world.provider.sign_in("kim", world.digest(order)).split(".")
    other = world.provider.sign_in("kim", world.digest(order), exp=int(time.time()) + 400).split(".")[1]
    none = _encoded(json.dumps({"alg": "none"}).encode())
    zero, outside, null, no_text = (_encoded(raw) for raw in (bytes(64), b"\xff" * 64, b"null", b"\xff\xfe"))
    for token in (
        f"{header}.{other}.{signature}",
        f"{header}.{claims}.{zero}",
        f"{header}.{claims}.{outside}",
        f"{header}.{claims}.{signature}AAAA",
        f"{header}.{claims}.",
        f"{none}.{claims}.{signature}",
        f"{header}.{claims}",
        f"{header}.{null}.{signature}",
        f"{header}.{no_text}.{signature}",
        f"{header}.{claims}.{signature[:-1]}=",
        "a" * 5000,
        None,
        [header, claims, signature],
    ):
        with pytest.raises(svcnb.ActionError, match="token: "):
            world.run(world.kim, kind="Payment", order=order, token=token)


# --- parameters of an attacker --------------------------------------------------------------------------------------


def test_parameters_cannot_change_the_settings(world: World) -> None:
    evil = IdentityProvider()
    order = world.order()
    changed = {"name": "ada", "provider": evil.address, "contract": OTHER}
    token = evil.sign_in("kim", world.digest(order))
    with pytest.raises(svcnb.ActionError, match="did not sign it"):
        world.run(world.kim, kind="Payment", order=order, token=token, USER=changed, **changed)


def test_malformed_numbers_are_refused(world: World) -> None:
    values: list[Any] = [
        100, -100, 1e308, "-1", "1.5", "1e3", "0x10", "", " 1", "01", "1\n", "\uff11", "9" * 78, None, ["1"], True,
    ]  # fmt: skip
    for value in values:
        for name in ("value", "nonce", "deadline"):
            with pytest.raises(svcnb.ActionError, match=rf"order\.{name}: expected a whole number"):
                world.run(world.kim, kind="Payment", order=world.order(**{name: value}), token="")


def test_an_invalid_address_is_refused(world: World) -> None:
    values: list[Any] = [None, "", "kim.eth", SHOP + "0", SHOP.replace("A11cE", "\u041011cE"), [SHOP], {}]
    for to in values:
        with pytest.raises(svcnb.ActionError, match=r"order\.to: expected an address"):
            world.run(world.kim, kind="Payment", order=world.order(to=to), token="")


def test_another_kind_of_order_is_refused(world: World) -> None:
    values: list[Any] = [None, "", "payment", "constructor", "__proto__", ["Payment"], "Transfer"]
    for kind in values:
        with pytest.raises(svcnb.ActionError, match="kind: expected"):
            world.run(world.kim, kind=kind, order=world.order(), token="")


def test_a_distant_deadline_is_refused(world: World) -> None:
    with pytest.raises(svcnb.ActionError, match="more than 600 seconds in the future"):
        world.sign(world.order(deadline=str(int(time.time()) + 7200)))


def test_reordered_and_extra_members_sign_the_same_order(world: World) -> None:
    order = world.order()
    assert world.sign(dict(reversed(order.items())) | {"gas": "1"}) == world.sign(order)


# --- orders ---------------------------------------------------------------------------------------------------------


def test_an_order_is_executed_only_once(world: World) -> None:
    signed = world.sign(world.order())
    world.pay(signed)
    with reverts("NotTheSigner(address)"):
        world.pay(signed)


def test_only_one_of_several_orders_with_the_same_nonce_is_executed(world: World) -> None:
    orders = [world.order(value=value) for value in ("1", "2", "3")]
    runs = world.svc.map(
        world.kim,
        [
            {"kind": "Payment", "order": each, "token": world.provider.sign_in("kim", world.digest(each))}
            for each in orders
        ],
        progress=False,
    )
    first, *others = [run.response for run in runs]
    world.pay(first)
    for each in others:
        with reverts("NotTheSigner(address)"):
            world.pay(each)


def test_a_changed_order_is_refused(world: World) -> None:
    signed = world.sign(world.order())
    later = str(int(signed["order"]["deadline"]) + 1)
    for changed in ({"value": "101"}, {"to": OTHER}, {"deadline": later}):
        with reverts("NotTheSigner(address)"):
            world.pay(signed, **changed)


def test_an_order_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.deposit(world.account), value=1000)
    with reverts("NotTheSigner(address)"):
        world.pay(world.sign(world.order()), contract=other)
    world.settings["chainId"] = 1
    elsewhere = action_of("kim", world.settings, TEMPLATE)
    world.account = key_of(world.svc, elsewhere).address
    send(world.contract.functions.deposit(world.account), value=1000)
    with reverts("NotTheSigner(address)"):
        world.pay(world.sign(world.order(), elsewhere))


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    signed = world.sign(world.order())
    with reverts("MalleableSignature()"):
        world.pay(signed, signature=second_form(signed["signature"]))


def test_an_order_expires(world: World, svc_emulator: Any) -> None:
    signed = world.sign(world.order())
    svc_emulator.clock.advance(seconds=1200)
    with reverts("Expired(uint256)"):
        world.pay(signed)


def test_a_payment_of_more_than_the_balance_is_refused(world: World) -> None:
    send(world.contract.functions.deposit(OTHER), value=5000)
    signed = world.sign(world.order(value="1001"))
    with reverts("NotEnough(uint256)"):
        world.pay(signed)


def test_a_malformed_signature_does_not_match_an_unset_signer(world: World) -> None:
    """ecrecover returns address 0 for a malformed signature, so the contract must not let anyone pay from address 0."""
    zero = "0x" + "00" * 20
    send(world.contract.functions.deposit(zero), value=1)
    signed = world.sign(world.order())
    with reverts("NotTheSigner(address)"):
        world.pay(signed, account=zero, signature="0x" + "00" * 65)


# --- the next template ----------------------------------------------------------------------------------------------

SECOND = svcnb.Action(TEMPLATE.source + "// Second template.\n", name="user keys 2")


def test_an_account_moves_to_a_new_template(world: World) -> None:
    kim_2 = action_of("kim", world.settings, SECOND, version=2)
    new = key_of(world.svc, kim_2).address
    before = world.sign(world.order(nonce="1"))
    moved = world.sign(world.migration(new), kind="Migration")
    world.migrate(moved)
    assert world.contract.functions.signerOf(world.account).call() == new
    with reverts("NotTheSigner(address)"):
        world.pay(before)
    with reverts("NotTheSigner(address)"):
        world.migrate(moved)
    world.pay(world.sign(world.order(nonce="1"), kim_2))
    assert world.contract.functions.balanceOf(world.account).call() == 900


def test_the_old_template_cannot_take_the_account_back(world: World) -> None:
    kim_2 = action_of("kim", world.settings, SECOND, version=2)
    back = world.sign(world.migration(world.account, nonce="1"), kind="Migration")
    world.migrate(world.sign(world.migration(key_of(world.svc, kim_2).address), kind="Migration"))
    with reverts("NotTheSigner(address)"):
        world.migrate(back)


def test_a_payment_is_not_a_migration(world: World) -> None:
    signed = world.sign(world.order())
    signed["order"]["next"] = SHOP
    with reverts("NotTheSigner(address)"):
        world.migrate(signed)
    with reverts("NoSigner()"):
        world.migrate(world.sign(world.migration("0x" + "00" * 20), kind="Migration"))


def test_one_changed_byte_of_the_template_results_in_another_key(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (nonce !== digest)", "if (false)"))
    action = action_of("kim", world.settings, vulnerable)
    assert key_of(world.svc, action).address != world.account
    signed = world.sign(world.order(to=OTHER), action, approved="0x")
    with reverts("NotTheSigner(address)"):
        world.pay(signed)


def test_users_py_prints_the_action_and_the_address_of_a_user(
    svc: svcnb.Client, svc_emulator: Any, svc_account: Any
) -> None:
    environment = {"SVC_BASE_URL": svc_emulator.base_url, "SVC_API_KEY": svc_account.api_key.reveal()}
    command = [sys.executable, str(HERE / "users.py"), "kim"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    kim = action_of("kim", settings_of(HERE / "account.toml"), TEMPLATE)
    assert done.stdout == f"{kim.cid} {key_of(svc, kim).address}\n", done.stderr
