"""Tests that violate every rule of a signature and of a transfer.

Source: docs/service/signatures.md#rules-of-a-signature, docs/service/signatures.md#transfer.

Each test expects the documented error, the documented order of the checks, and no change.

tests/protocol and tests/emulator/chain test each rule with many values. This file tests the rules over HTTP and
JSON-RPC, with signatures of another library.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from eth_account import Account as EthAccount

from svcnb import ChainError, ContractWallet, InvalidArgument, LocalSigner, recover
from tests.envelopes import envelope

pytestmark = pytest.mark.chain

FLOWS = {
    "CreateWallet": "create_wallet_with_signature",
    "AddUsageApiKey": "add_usage_api_key_with_signature",
    "ConvertAccount": "convert_to_chain_secured_account",
}
ZERO = "0x" + "00" * 20


def flows_in_turn(values: Sequence[Any]) -> list[Any]:
    """Returns every value with every flow. The default tier runs each value with one flow, and each flow in turn."""
    flows = list(FLOWS)
    return [
        pytest.param(flow, value, marks=[] if flow == flows[number % len(flows)] else [pytest.mark.slow])
        for number, value in enumerate(values)
        for flow in flows
    ]


@pytest.fixture
def wire(emulator):
    with httpx.Client(base_url=f"{emulator.base_url}/core/v1", timeout=300, trust_env=False) as client:
        yield client


@pytest.fixture
def signed(wire):
    """Returns a function that signs envelopes. The signature includes the ``**changes`` of domain and message."""
    node = wire.get("/get_node_chain_config")
    chain_id = node.json()["chain_id"]

    def make(flow: str, wallet: Any, **changes: Any) -> dict[str, Any]:
        from email.utils import parsedate_to_datetime

        now = int(parsedate_to_datetime(wire.get("/get_node_chain_config").headers["date"]).timestamp())
        typed = envelope(flow, wallet.address, now, chain_id)
        for where, values in changes.items():
            typed[where] = typed[where] | values
        if "issuedAt" in changes.get("message", {}):
            typed["message"]["issuedAt"] = str(now + int(changes["message"]["issuedAt"]))
        numbers = copy.deepcopy(typed)
        numbers["domain"]["chainId"] = int(typed["domain"]["chainId"])
        numbers["message"]["issuedAt"] = int(typed["message"]["issuedAt"])
        return {
            "typed_data": typed,
            "signature": "0x" + bytes(wallet.sign_typed_data(full_message=numbers).signature).hex(),
        }

    return make


def padded(body: dict[str, Any]) -> None:
    body["typed_data"]["message"]["issuedAt"] = " " * 4096 + body["typed_data"]["message"]["issuedAt"]


def swapped_fields(body: dict[str, Any]) -> None:
    body["typed_data"]["types"][body["typed_data"]["primaryType"]].reverse()


def another_member(body: dict[str, Any]) -> None:
    body["typed_data"]["domain"]["salt"] = "0x00"


def another_message_member(body: dict[str, Any]) -> None:
    body["typed_data"]["message"]["nonce"] = "1"


def another_type(body: dict[str, Any]) -> None:
    body["typed_data"]["types"]["Mail"] = []


def long_signature(body: dict[str, Any]) -> None:
    body["signature"] = "0x" + "00" * 2048


def no_hex(body: dict[str, Any]) -> None:
    body["signature"] = "0xzz"


def flipped_bit(body: dict[str, Any]) -> None:
    body["signature"] = body["signature"][:-4] + f"{int(body['signature'][-4:-2], 16) ^ 1:02x}" + body["signature"][-2:]


def not_an_object(body: dict[str, Any]) -> None:
    body["typed_data"] = json.dumps(["no", "envelope"])


def no_members(body: dict[str, Any]) -> None:
    body["typed_data"] = {}


SPOILED = [
    padded,
    swapped_fields,
    another_member,
    another_message_member,
    another_type,
    long_signature,
    no_hex,
    flipped_bit,
    not_an_object,
    no_members,
]
SIGNED_WRONG = [
    {"domain": {"name": "Acme ChainSecured"}},
    {"domain": {"version": "2"}},
    {"domain": {"chainId": "1"}},
    {"message": {"issuedAt": "360"}},
    {"message": {"issuedAt": "-302"}},
    {"message": {"address": "0x" + "ab" * 20}},
]


@pytest.fixture
def target(wire):
    """Creates an account in API mode. Returns a function that sends an envelope to the endpoint of its flow."""
    key = wire.post("/new_account", json={"account_name": "t", "account_description": ""}).json()["api_key"]

    def send(flow: str, body: dict[str, Any], wallet: Any) -> httpx.Response:
        extra = {"new_admin_wallet_address": wallet.address} if flow == "ConvertAccount" else {}
        headers = {"X-Api-Key": key} if flow == "ConvertAccount" else {}
        answer: httpx.Response = wire.post(f"/{FLOWS[flow]}", json=body | extra, headers=headers)
        return answer

    send.managed = lambda: wire.get("/account_exists", headers={"X-Api-Key": key}).json()  # type: ignore[attr-defined]
    return send


@pytest.mark.parametrize(("flow", "spoil"), flows_in_turn(SPOILED), ids=lambda each: getattr(each, "__name__", each))
def test_an_envelope_changed_after_signing_is_rejected_without_effect(signed, target, witness, flow, spoil) -> None:
    wallet = EthAccount.create()
    body = signed(flow, wallet)
    spoil(body)
    before = witness.block
    answer = target(flow, body, wallet)
    assert (answer.status_code, type(answer.json())) == (400, str), answer.text
    assert witness.block == before
    assert target.managed() is True


@pytest.mark.parametrize(("flow", "change"), flows_in_turn(SIGNED_WRONG), ids=str)
def test_a_signed_envelope_with_wrong_content_is_rejected(signed, target, witness, flow, change) -> None:
    wallet = EthAccount.create()
    before = witness.block
    answer = target(flow, signed(flow, wallet, **change), wallet)
    assert (answer.status_code, type(answer.json())) == (400, str), answer.text
    assert witness.block == before
    assert target.managed() is True


@pytest.mark.parametrize("made_for", [*FLOWS, "BillingAuth"])
@pytest.mark.parametrize("used_for", FLOWS)
def test_a_signature_for_one_flow_is_rejected_by_all_others(signed, target, made_for, used_for) -> None:
    """The service rejects the unchanged primaryType. After a change of the primaryType, the recovered signer is wrong.

    Source: docs/service/signatures.md#rules-of-a-signature.
    """
    if made_for == used_for:
        return
    wallet = EthAccount.create()
    body = signed(made_for, wallet)
    answer = target(used_for, body, wallet)
    assert answer.status_code == 400
    assert "primaryType" in answer.json()
    typed = body["typed_data"]
    typed["primaryType"] = used_for
    typed["types"][used_for] = typed["types"].pop(made_for)
    answer = target(used_for, body, wallet)
    assert answer.status_code == 400
    assert "primaryType" not in answer.json()
    assert recover(typed, body["signature"]) != wallet.address
    assert target.managed() is True


@pytest.mark.parametrize("made_for", FLOWS)
def test_the_billing_endpoints_reject_all_other_flows(wire, signed, made_for) -> None:
    body = signed(made_for, EthAccount.create())
    for rewritten in (False, True):
        if rewritten:
            body["typed_data"]["primaryType"] = "BillingAuth"
            body["typed_data"]["types"]["BillingAuth"] = body["typed_data"]["types"].pop(made_for)
        header = base64.b64encode(json.dumps(body).encode()).decode()
        answer = wire.get("/billing/balance", headers={"X-Wallet-Auth": header})
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


def test_invalid_transfers_are_rejected_in_the_order_of_the_specification(svc, mine, fund, witness) -> None:
    """Each case violates one rule of docs/service/signatures.md#transfer, and as many later rules as possible."""
    stranger, taken = fund(), fund()
    svc.chain_secured.create(taken, "taken")
    managed = svc.accounts.create("managed")

    def refused(account, target: str) -> tuple[str, tuple[object, ...]]:
        with pytest.raises(ChainError) as caught:
            account.transfer_ownership(target, confirm=True)
        return caught.value.name, caught.value.arguments

    def opened(api_key_hash: str, owner: LocalSigner):
        account = svc.chain_secured.look(mine.api_key_hash)
        account._account.master_hash = int(api_key_hash, 16)
        account._account._stale = False
        account._account.writer.owner = owner
        return account

    nobody = "0x" + "12" * 32
    before = witness.nonce(mine.owner.address)
    zero = refused(opened(nobody, stranger), ZERO)
    assert (zero[0], "zero address" in str(zero[1])) == ("InvalidRequest", True)
    assert refused(opened(nobody, stranger), mine.owner.address) == ("AccountDoesNotExist", (nobody,))
    in_api_mode = refused(opened(managed.api_key_hash, stranger), mine.owner.address)
    assert (in_api_mode[0], "managed" in str(in_api_mode[1])) == ("InvalidRequest", True)
    assert refused(opened(mine.api_key_hash, stranger), mine.owner.address) == (
        "NoAccountAccess",
        (mine.api_key_hash, stranger.address.lower()),
    )
    same = refused(mine, mine.owner.address)
    assert (same[0], "already" in str(same[1])) == ("InvalidRequest", True)
    assert refused(mine, taken.address)[0] == "AccountAlreadyExists"
    assert svc.chain_secured.open(mine.owner).describe().admin == mine.owner.address
    assert witness.nonce(mine.owner.address) == before


def test_an_invalid_transfer_is_rejected_before_the_confirmation(mine, svc, fund) -> None:
    taken = fund()
    svc.chain_secured.create(taken, "taken")
    with pytest.raises(ChainError) as caught:
        mine.transfer_ownership(taken)
    assert caught.value.name == "AccountAlreadyExists"


def test_signatures_of_keys_and_of_contracts_are_verified(emulator, svc, fund) -> None:
    keeper, stranger = fund(), fund()
    vault = ContractWallet(emulator.contract_wallet(keeper.address), keeper)
    nowhere = ContractWallet("0x" + "ab" * 20, keeper)
    for wallet, wanted in (
        (keeper, True),
        (vault, True),
        (ContractWallet(vault.address, stranger), False),
        (nowhere, False),
    ):
        made = svc.chain_secured.sign(wallet, "BillingAuth")
        assert svc.chain_secured.verify(made.typed_data, made.signature, wallet.address) is wanted
    made = svc.chain_secured.sign(keeper, "CreateWallet")
    assert svc.chain_secured.verify(made.typed_data, made.signature, stranger.address) is False
    # This contract does not have the function, and reverts.
    contract = svc.node.chain_config().contract_address
    assert svc.chain_secured.verify(made.typed_data, made.signature, contract) is False
    with pytest.raises(InvalidArgument):
        svc.chain_secured.sign(keeper, "Mail")
