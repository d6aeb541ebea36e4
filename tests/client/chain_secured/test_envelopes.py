"""Checks of signed envelopes against every rule, and the responses of the endpoints to these envelopes."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import pytest

import svcnb
from svcnb.client.chain_secured.models import Verdict
from svcnb.client.errors import BadRequest, InvalidArgument, NotConfirmed
from svcnb.client.signing import SignedEnvelope, sign_flow
from svcnb.protocol.typed_data import Flow

pytestmark = [pytest.mark.chain]


def broken(verdicts: Iterable[Verdict]) -> list[int]:
    return [verdict.rule for verdict in verdicts if not verdict.holds]


@pytest.fixture
def signed(svc, owner):
    return svc.chain_secured.sign(owner, "CreateWallet")


def test_a_valid_envelope_satisfies_all_rules_and_its_endpoint_accepts_it(svc, signed):
    verdicts = svc.chain_secured.check(signed.typed_data, signed.signature)
    assert [verdict.rule for verdict in verdicts] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert broken(verdicts) == []
    # The details of a satisfied rule contain the value, but no difference.
    chain_id = signed.typed_data["domain"]["chainId"]
    assert [verdicts[3].detail, verdicts[4].detail] == ["CreateWallet", f"chain {chain_id}"]
    made = svc.chain_secured.send(signed)
    assert made.wallet_address.startswith("0x")
    assert int(made.derivation_path, 16) > 0


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (4, lambda data: data.update(primaryType="BillingAuth")),
        (5, lambda data: data["domain"].update(chainId="1")),
        (5, lambda data: data["domain"].update(name="another service")),
        (5, lambda data: data["domain"].update(version="2")),
        (6, lambda data: data["types"]["CreateWallet"].reverse()),
        (7, lambda data: data["message"].update(issuedAt=str(int(data["message"]["issuedAt"]) - 301))),
    ],
)
def test_the_check_names_the_violated_rule_and_the_service_agrees(svc, signed, owner, rule, change):
    data = copy.deepcopy(signed.typed_data)
    change(data)
    if rule == 4:  # the envelope does not declare this type, so no hash exists
        signature = signed.signature
        expected = [4, 8]
    else:
        signature, expected = owner.sign_typed_data(data), [rule]
    verdicts = svc.chain_secured.check(data, signature, flow="CreateWallet")
    assert broken(verdicts) == expected
    sent = SignedEnvelope(data if rule != 4 else signed.typed_data | {"primaryType": "BillingAuth"}, signature)
    with pytest.raises((BadRequest, svcnb.Unauthorized)) as refused:
        svc.chain_secured.send(sent)
    if rule != 4:  # the client sends this type to another endpoint
        assert verdicts[rule - 1].detail in refused.value.message


def test_an_unknown_member_violates_a_rule(svc, signed):
    extra = signed.typed_data | {"nonce": 1}
    assert broken(svc.chain_secured.check(extra, signed.signature)) == [3]
    message = signed.typed_data | {"message": signed.typed_data["message"] | {"nonce": 1}}
    assert 7 in broken(svc.chain_secured.check(message, signed.signature))


@pytest.mark.parametrize("member", ["types", "domain", "message"])
@pytest.mark.parametrize("value", [None, [], "text", 5, {"CreateWallet": [5]}])
def test_the_check_accepts_members_of_any_type(svc, signed, member, value):
    assert broken(svc.chain_secured.check(signed.typed_data | {member: value}, signed.signature, flow="CreateWallet"))


def test_the_check_names_an_envelope_or_a_signature_that_is_too_large(svc, signed):
    data = signed.typed_data | {"domain": signed.typed_data["domain"] | {"version": "1" * 4096}}
    assert 1 in broken(svc.chain_secured.check(data, signed.signature))
    assert broken(svc.chain_secured.check(signed.typed_data, "0x" + "00" * 4097)) == [8]


def test_the_check_names_another_signer_without_a_contract(svc, signed):
    stranger = svcnb.LocalSigner.random()
    verdicts = svc.chain_secured.check(signed.typed_data, stranger.sign_typed_data(signed.typed_data))
    assert broken(verdicts) == [8]
    assert stranger.address in verdicts[7].detail
    assert "no contract" in verdicts[7].detail


def test_the_check_calls_the_contract_of_a_contract_wallet(svc, emulator, owner):
    wallet = svcnb.ContractWallet(emulator.contract_wallet(owner.address), owner)
    signed = svc.chain_secured.sign(wallet, "CreateWallet")
    verdicts = svc.chain_secured.check(signed.typed_data, signed.signature)
    assert [verdict.holds for verdict in verdicts] == [True] * 8
    assert "accepts" in verdicts[7].detail
    stranger = svcnb.LocalSigner.random().sign_typed_data(signed.typed_data)
    assert broken(svc.chain_secured.check(signed.typed_data, stranger)) == [8]


def test_an_unknown_flow_is_rejected(svc, signed):
    with pytest.raises(InvalidArgument, match="CreateWallet"):
        svc.chain_secured.check(signed.typed_data, signed.signature, flow="Steal")


def test_the_returned_usage_key_is_masked(svc, owner):
    made = svc.chain_secured.send(svc.chain_secured.sign(owner, "AddUsageApiKey"))
    assert made.usage_api_key is not None
    assert made.usage_api_key.reveal() not in repr(made)


def test_the_billing_envelope_authenticates_billing_calls(svc, mine, owner):
    told = svc.chain_secured.send(svc.chain_secured.sign(owner, "BillingAuth"))
    assert told.balance_display == mine.billing.balance().balance_display


def test_a_conversion_needs_a_confirmation(svc, owner):
    account = svc.accounts.create("treasury")
    keyed = svc.with_key(account)
    signed = keyed.chain_secured.sign(owner, "ConvertAccount")
    with pytest.raises(NotConfirmed) as caught:
        keyed.chain_secured.send(signed)
    assert len(caught.value.consequences) == 2
    keyed.chain_secured.send(signed, confirm=True)
    assert svc.chain_secured.open(owner).api_key_hash == account.api_key_hash


async def test_the_asynchronous_client_does_the_same(svc, owner):
    async with svc.to_async() as twin:
        signed = await twin.chain_secured.sign(owner, "CreateWallet")
        assert broken(await twin.chain_secured.check(signed.typed_data, signed.signature)) == []
        assert (await twin.chain_secured.send(signed)).wallet_address


def test_the_rule_for_an_expired_envelope_is_named(svc, owner):
    chain_id = svc.node.chain_config().chain_id
    old = sign_flow(owner, Flow.CREATE_WALLET, chain_id, int(svc.now()) - 1000)
    assert broken(svc.chain_secured.check(old.typed_data, old.signature)) == [7]
    with pytest.raises(BadRequest, match="issuedAt"):
        svc.chain_secured.send(old)
