"""X-Wallet-Auth on the billing endpoints, with which a wallet that owns an account needs no key.

Source: docs/service/signatures.md#x-wallet-auth.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from web3 import Web3

from tests.envelopes import envelope

pytestmark = [pytest.mark.chain, pytest.mark.engine]


def billing_auth(address: str, issued_at: float, flow: str = "BillingAuth", chain_id: int = 31337) -> dict[str, Any]:
    return envelope(flow, address, issued_at, chain_id)


def signed(wallet: LocalAccount, typed_data: dict[str, Any]) -> str:
    return "0x" + wallet.sign_message(encode_typed_data(full_message=typed_data)).signature.hex().removeprefix("0x")


def header(typed_data: object, signature: str) -> dict[str, str]:
    text = json.dumps({"typed_data": typed_data, "signature": signature})
    return {"X-Wallet-Auth": base64.b64encode(text.encode()).decode()}


@pytest.fixture
def now(poor_emulator):
    return poor_emulator.clock.now()


@pytest.fixture
def converted(api, poor_emulator, now):
    """Converted account with 300 cents. Returns the account's former key and the wallet that owns the account."""
    key, wallet = api.account()
    poor_emulator.credit(wallet, 300)
    owner = Account.create()
    typed_data = billing_auth(owner.address, now, "ConvertAccount")
    body = {"new_admin_wallet_address": owner.address, "typed_data": typed_data, "signature": signed(owner, typed_data)}
    answer = api.post("convert_to_chain_secured_account", body, key)
    assert answer.status_code == 200, answer.text
    return key, owner


def auth(owner: LocalAccount, issued_at: float, **changed: Any) -> dict[str, str]:
    typed_data = billing_auth(owner.address, issued_at, **changed)
    return header(typed_data, signed(owner, typed_data))


def test_the_owner_reads_the_balance_that_stayed_with_the_account(api, converted, now):
    key, owner = converted
    answer = api.get("billing/balance", headers=auth(owner, now))
    assert (answer.status_code, answer.json()) == (200, {"balance_cents": -300, "balance_display": "$3.00 credit"})
    assert api.balance(key) == -300


def test_the_owner_pays_without_any_key(api, converted, now):
    key, owner = converted
    headers = auth(owner, now)
    made = api.post("billing/create_payment_intent", {"amount_cents": 500}, headers=headers).json()
    api.pay(made["payment_intent_id"], made["client_secret"])
    body = {"payment_intent_id": made["payment_intent_id"]}
    assert api.post("billing/confirm_payment", body, headers=headers).json() == {"success": True}
    assert api.balance(key) == -800


def test_a_contract_wallet_owns_an_account_as_well(api, poor_emulator, now):
    key, wallet = api.account()
    poor_emulator.credit(wallet, 7)
    signer = Account.create()
    contract = poor_emulator.contract_wallet(signer.address)
    convert, billing = billing_auth(contract, now, "ConvertAccount"), billing_auth(contract, now)
    body = {"new_admin_wallet_address": contract, "typed_data": convert, "signature": signed(signer, convert)}
    assert api.post("convert_to_chain_secured_account", body, key).status_code == 200
    assert api.get("billing/balance", headers=header(billing, signed(signer, billing))).json()["balance_cents"] == -7
    stranger = Account.create()
    assert api.get("billing/balance", headers=header(billing, signed(stranger, billing))).status_code == 401


def test_the_envelope_may_be_json_text(api, converted, now):
    _, owner = converted
    typed_data = billing_auth(owner.address, now)
    answer = api.get("billing/balance", headers=header(json.dumps(typed_data), signed(owner, typed_data)))
    assert answer.status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(-290, 200), (290, 200), (-310, 401), (310, 401)])
def test_an_envelope_is_valid_for_five_minutes_in_both_directions(api, converted, now, seconds, status):
    _, owner = converted
    assert api.get("billing/balance", headers=auth(owner, now + seconds)).status_code == status


@pytest.mark.parametrize(
    "changed", [{"flow": "CreateWallet"}, {"flow": "ConvertAccount"}, {"flow": "AddUsageApiKey"}, {"chain_id": 1}]
)
def test_a_signature_for_something_else_is_refused(api, converted, now, changed):
    _, owner = converted
    answer = api.get("billing/balance", headers=auth(owner, now, **changed))
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


def test_a_header_that_parses_takes_precedence_over_a_good_key(api, converted, now):
    key, owner = converted
    stranger = Account.create()
    typed_data = billing_auth(owner.address, now)
    forged = header(typed_data, signed(stranger, typed_data))
    assert api.get("billing/balance", key, headers=forged).status_code == 401
    other_key, _ = api.account()
    assert api.get("billing/balance", other_key, headers=auth(owner, now)).json()["balance_cents"] == -300


@pytest.mark.parametrize(
    "value", ["", "not base64!", base64.b64encode(b"{").decode(), base64.b64encode(b"[]").decode()]
)
def test_a_header_that_does_not_parse_is_ignored(api, converted, value):
    key, _ = converted
    assert api.get("billing/balance", key, headers={"X-Wallet-Auth": value}).status_code == 200
    assert api.get("billing/balance", headers={"X-Wallet-Auth": value}).status_code == 401


def test_the_error_for_a_wallet_without_an_account_says_so(api, now):
    answer = api.get("billing/balance", headers=auth(Account.create(), now))
    assert answer.status_code == 401
    assert "does not own an account" in answer.json()["message"]


def test_the_header_is_valid_only_for_billing(api, converted, now):
    _, owner = converted
    for method, path in [("POST", "create_wallet"), ("GET", "list_groups"), ("POST", "svc_action")]:
        assert api.call(method, path, headers=auth(owner, now)).status_code == 401


def test_a_chain_outage_answers_503(api, converted, now, poor_emulator):
    _, owner = converted
    poor_emulator.faults.until_cleared("chain")
    try:
        answer = api.get("billing/balance", headers=auth(owner, now))
    finally:
        poor_emulator.faults.clear()
    assert (answer.status_code, answer.json()["error"]) == (503, "service_unavailable")


def test_after_a_transfer_the_new_owner_pays_and_the_former_one_is_refused(api, poor_emulator, converted, now):
    key, former = converted
    new = Account.create()
    chain = Web3(Web3.HTTPProvider(poor_emulator.rpc_url))
    poor_emulator.faucet(former.address)
    call = Web3.keccak(text="transferChainSecuredAccountOwnership(uint256,address)")[:4] + encode(
        ["uint256", "address"], [int.from_bytes(Web3.keccak(text=key)), new.address]
    )
    transaction = {
        "to": Web3.to_checksum_address(poor_emulator.contract_address),
        "data": call,
        "gas": 1_000_000,
        "gasPrice": chain.eth.gas_price,
        "nonce": 0,
        "chainId": 31337,
    }
    sent = chain.eth.send_raw_transaction(former.sign_transaction(transaction).raw_transaction)
    assert chain.eth.wait_for_transaction_receipt(sent)["status"] == 1

    assert api.get("billing/balance", headers=auth(new, now)).json()["balance_cents"] == -300
    refused = api.get("billing/balance", headers=auth(former, now))
    assert refused.status_code == 401
    assert "no longer owns" in refused.json()["message"]
