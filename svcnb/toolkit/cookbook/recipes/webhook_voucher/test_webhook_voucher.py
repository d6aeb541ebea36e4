"""Tests that the contract issues tokens only for payments that the provider signed, and only once for each payment."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.testing import deploy, reverts, second_form, send, vrs

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="voucher")
ENCRYPT = "async function main({ wallet, text }) { return Svc.Actions.Encrypt({ pkpId: wallet, message: text }); }"
SECRET = "whsec_for_tests"  # noqa: S105 - only for tests
BUYER = "0x00000000000000000000000000000000000A11cE"


class World:
    """Token, and an action that can decrypt the provider's secret."""

    def __init__(self, svc: svcnb.Client, w3: Any) -> None:
        self.svc, self.w3 = svc, w3
        self.wallet = svc.wallets.create()
        self.token = self.deploy()
        self.config: dict[str, Any] = {
            "header": "processor-signature",
            "toleranceSeconds": 300,
            "validSeconds": 3600,
            "centsEach": 500,
            "currency": "usd",
            "wallet": self.wallet.address,
            "secret": svc.run(ENCRYPT, wallet=self.wallet.address, text=SECRET).response,
            "chainId": w3.eth.chain_id,
            "contract": self.token.address,
        }
        self.action = self.derive()
        send(self.token.functions.trust(self.sign()["signer"]))

    def deploy(self) -> Any:
        return deploy(self.w3, HERE / "VoucherToken.json")

    def derive(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> svcnb.Action:
        return template.derive(self.config | changed, name="VOUCHER")

    def params(self, body: str, secret: str = SECRET, at: float | None = None) -> dict[str, Any]:
        """Returns the parameters that the trigger passes when the provider sends a request with this body."""
        seconds = int(time.time() if at is None else at)
        digest = hmac.new(secret.encode(), f"{seconds}.{body}".encode(), hashlib.sha256).hexdigest()
        headers = {"processor-signature": [f"t={seconds},v1={digest}"]}
        return {"event": json.loads(body), "event_raw": body, "event_raw_encoding": "utf-8", "headers": headers}

    def sign(self, action: svcnb.Action | None = None, *, params: Any = None, **payment: Any) -> dict[str, Any]:
        given = params or self.params(body(**payment))
        signed: dict[str, Any] = self.svc.run(action or self.action, given).response
        return signed

    def redeem(self, voucher: dict[str, Any], token: Any = None, **changed: Any) -> Any:
        given = voucher | changed
        call = (token or self.token).functions.redeem
        members = (given[name] for name in ("recipient", "quantity", "payment", "deadline"))
        return send(call(*members, *vrs(given["signature"])))

    def balance(self) -> int:
        return int(self.token.functions.balanceOf(BUYER).call())


def body(*, event_id: Any = "evt_1", kind: str = "payment.succeeded", **payment: Any) -> str:
    content = {"amount_cents": 1000, "currency": "usd", "recipient": BUYER} | payment
    return json.dumps({"id": event_id, "type": kind, "payment": content})


@pytest.fixture
def world(svc: svcnb.Client, w3: Any) -> World:
    return World(svc, w3)


def test_a_payment_results_in_tokens(world: World) -> None:
    world.redeem(world.sign())
    assert world.balance() == 2


def test_a_real_webhook_starts_the_action(world: World, svc_emulator: Any) -> None:
    with svc_emulator.triggers("shop") as triggers:
        hook = triggers.create_for(world.svc, world.action, name="payments", wallets=[world.wallet])
        text = body()
        header = world.params(text)["headers"]["processor-signature"][0]
        accepted = triggers.fire(hook, text.encode(), headers={"processor-signature": header})
        run = triggers.wait_for_run(hook, accepted)
    world.redeem(run.result)
    assert world.balance() == 2


def test_a_body_that_the_provider_did_not_sign_is_refused(world: World) -> None:
    for params in (
        world.params(body(), secret="guessed"),  # noqa: S106
        world.params(body()) | {"event_raw": body(amount_cents=10**6)},
        world.params(body()) | {"event_raw": body().replace(", ", ",")},
    ):
        with pytest.raises(svcnb.ActionError, match="did not sign this body"):
            world.sign(params=params)


def test_the_parsed_event_of_a_caller_is_not_used(world: World) -> None:
    evil = json.loads(body(amount_cents=10**9))
    assert world.sign(params=world.params(body()) | {"event": evil, "VOUCHER": {"centsEach": 1}})["quantity"] == 2


def test_an_old_or_future_delivery_is_refused(world: World) -> None:
    for at in (time.time() - 400, time.time() + 400):
        with pytest.raises(svcnb.ActionError, match="too far from the current time"):
            world.sign(params=world.params(body(), at=at))


@pytest.mark.parametrize(
    "headers",
    [None, {}, {"processor-signature": []}, {"processor-signature": ["v1=" + "0" * 64]}, {"processor-signature": "t=1"},
     {"processor-signature": ["t=1,v1=" + "0" * 64] * 2}, {"processor-signature": ["t=\uff11,v1=" + "0" * 64]}],
)  # fmt: skip
def test_a_malformed_header_is_refused(world: World, headers: Any) -> None:
    with pytest.raises(svcnb.ActionError, match="no valid signature from the provider"):
        world.sign(params=world.params(body()) | {"headers": headers})


@pytest.mark.parametrize(
    "payment",
    [{"amount_cents": -1000}, {"amount_cents": 1e300}, {"amount_cents": "1000"}, {"amount_cents": 1000.5},
     {"amount_cents": 499}, {"currency": "eur"}, {"currency": "\uff55sd"}, {"recipient": "alice"},
     {"recipient": BUYER.replace("A11cE", "\u041011cE")}, {"recipient": None}, {"event_id": None},
     {"event_id": "evt_1 "}, {"kind": "payment.failed"}],
)  # fmt: skip
def test_an_invalid_payment_is_refused(world: World, payment: dict[str, Any]) -> None:
    with pytest.raises(svcnb.ActionError, match=r"payment|event"):
        world.sign(**payment)


def test_a_payment_is_redeemed_only_once(world: World) -> None:
    voucher = world.sign()
    world.redeem(voucher)
    with reverts("Redeemed(bytes32)"):
        world.redeem(voucher)
    with reverts("Redeemed(bytes32)"):
        world.redeem(world.sign())


def test_concurrent_deliveries_are_one_payment(world: World) -> None:
    runs = world.svc.map(world.action, [world.params(body())] * 4, progress=False)
    first, *others = [run.response for run in runs]
    world.redeem(first)
    for each in others:
        with reverts("Redeemed(bytes32)"):
            world.redeem(each)
    assert world.balance() == 2


def test_a_changed_voucher_is_refused(world: World) -> None:
    voucher = world.sign()
    for changed in ({"quantity": 3}, {"recipient": world.token.address}, {"payment": "0x" + "11" * 32}):
        with reverts("NotTheSigner(address)"):
            world.redeem(voucher, **changed)


def test_a_voucher_for_another_contract_or_chain_is_refused(world: World) -> None:
    other = world.deploy()
    send(other.functions.trust(world.token.functions.signer().call()))
    with reverts("NotTheSigner(address)"):
        world.redeem(world.sign(), token=other)
    elsewhere = world.sign(world.derive(chainId=1))
    send(world.token.functions.trust(elsewhere["signer"]))
    with reverts("NotTheSigner(address)"):
        world.redeem(elsewhere)


def test_the_other_valid_form_of_a_signature_is_refused(world: World) -> None:
    voucher = world.sign()
    with reverts("MalleableSignature()"):
        world.redeem(voucher, signature=second_form(voucher["signature"]))


def test_a_voucher_expires(world: World, svc_emulator: Any) -> None:
    voucher = world.sign()
    svc_emulator.clock.advance(seconds=7200)
    with reverts("Expired(uint256)"):
        world.redeem(voucher)


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    vulnerable = svcnb.Action(TEMPLATE.source.replace("if (!right)", "if (0)"))
    voucher = world.sign(world.derive(vulnerable), params=world.params(body(), secret="guessed"))  # noqa: S106
    with reverts("NotTheSigner(address)"):
        world.redeem(voucher)


def test_a_key_for_another_action_cannot_read_the_secret(world: World) -> None:
    thief = svcnb.Action("async function main(p) { return (await Svc.Actions.Decrypt(p)).length; }")
    world.svc.groups.create("vouchers", wallets=[world.wallet], actions=[world.action])
    group = world.svc.groups.create("others", actions=[thief])
    key = world.svc.usage_keys.create("thief", execute_in_groups=[group])
    with pytest.raises(svcnb.SvcnbError):
        world.svc.with_key(key).run(thief, pkpId=world.wallet.address, ciphertext=world.config["secret"])
