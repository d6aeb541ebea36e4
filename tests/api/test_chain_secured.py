"""Endpoints that a wallet's signature authorises. Another library creates the signatures.

Source: docs/service/signatures.md#follow-up-transactions, docs/service/signatures.md#rules-of-a-signature.
"""

from __future__ import annotations

import base64
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from eth_account import Account as EthAccount

CODE = "function main() { return 'ran'; }"
ONLY_ADMIN_WALLET = (
    "Permission denied: only the admin wallet can change an account in ChainSecured mode. Send the change as a "
    "transaction of this wallet to the contract whose address GET get_node_chain_config returns."
)


@pytest.fixture
def owner():
    return EthAccount.create()


def test_a_signature_creates_a_wallet_without_an_account(wire, owner, sign_envelope):
    answer = wire.post("create_wallet_with_signature", body=sign_envelope(wire, owner, "CreateWallet"))
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert made.keys() == {"wallet_address", "derivation_path"}
    assert made["derivation_path"] == hex(int(made["derivation_path"], 16))
    assert made["wallet_address"] == made["wallet_address"].lower()


def test_the_envelope_may_be_json_text(wire, owner, sign_envelope):
    """Checks that the service accepts an envelope as a string of JSON.

    Source: docs/service/endpoints.md#wallets, docs/service/signatures.md#rules-of-a-signature.
    """
    body = sign_envelope(wire, owner, "CreateWallet")
    answer = wire.post("create_wallet_with_signature", body=body | {"typed_data": json.dumps(body["typed_data"])})
    assert answer.status_code == 200


def test_a_signature_creates_a_usage_key_without_permissions(wire, owner, sign_envelope):
    answer = wire.post("add_usage_api_key_with_signature", body=sign_envelope(wire, owner, "AddUsageApiKey"))
    made = answer.json()
    assert made.keys() == {"usage_api_key", "wallet_address", "derivation_path"}
    secret = base64.b64decode(made["usage_api_key"], validate=True)
    assert EthAccount.from_key(secret).address.lower() == made["wallet_address"]
    assert wire.post("svc_action", made["usage_api_key"], {"code": CODE}).status_code == 401


@pytest.mark.parametrize(
    ("endpoint", "flow"),
    [
        ("create_wallet_with_signature", "AddUsageApiKey"),
        ("create_wallet_with_signature", "BillingAuth"),
        ("add_usage_api_key_with_signature", "CreateWallet"),
        ("add_usage_api_key_with_signature", "ConvertAccount"),
    ],
)
def test_a_signature_of_one_flow_is_refused_by_every_other(wire, owner, endpoint, flow, sign_envelope):
    """Checks that every endpoint rejects a signature for another flow.

    Source: docs/service/signatures.md#rules-of-a-signature.
    """
    answer = wire.post(endpoint, body=sign_envelope(wire, owner, flow))
    assert (answer.status_code, type(answer.json())) == (400, str)


def test_an_old_or_early_signature_is_refused(wire, owner, sign_envelope):
    """Checks that the service rejects signatures whose time is too far in the past or in the future.

    Source: docs/service/signatures.md#replay.
    """
    for offset in (-310, 360):
        body = sign_envelope(wire, owner, "CreateWallet", issued_at=int(time.time()) + offset)
        assert wire.post("create_wallet_with_signature", body=body).status_code == 400


def test_a_body_of_another_shape_is_422(wire):
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"typed_data": {}},
        {"typed_data": 1, "signature": "0x"},
        {"typed_data": {}, "signature": 5},
    )
    for body in bodies:
        assert wire.post("create_wallet_with_signature", body=body).status_code == 422


@pytest.fixture
def converted(account, owner, sign_envelope):
    group = account.group("kept", cids=["0x0"])
    usage_key = account.usage_key("kept", execute_in_groups=[group])
    before = account.credit()
    body = sign_envelope(account.wire, owner, "ConvertAccount") | {"new_admin_wallet_address": owner.address}
    assert account.ok("convert_to_chain_secured_account", body) == {"success": True}
    return SimpleNamespace(account=account, owner=owner, group=group, usage_key=usage_key, before=before)


def test_a_conversion_is_free_and_removes_only_the_permission_to_write(converted):
    """Reads and executions still work, but the service rejects managed writes.

    Source: docs/service/resources.md#states, docs/service/permissions.md#permission-of-each-endpoint.
    """
    account = converted.account
    assert account.credit() == converted.before
    assert account.get("account_exists").json() is False
    assert [group["name"] for group in account.listed("list_groups")] == ["kept"]
    runs = [account.run(CODE, key=converted.usage_key), account.run(CODE)]
    assert [ran.status_code for ran in runs] == [200, 200]
    refused = account.post("add_group", {"group_name": "n", "group_description": ""})
    assert (refused.status_code, refused.json()) == (403, ONLY_ADMIN_WALLET)
    assert account.credit() == converted.before - sum(map(account.price, runs))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("delete_action", {"hashed_cid": "0x12"}),
        ("update_action_metadata", {"hashed_cid": "0x12", "name": "n", "description": ""}),
        ("update_group", {"group_id": 99, "name": "n", "description": ""}),
        ("remove_group", {"group_id": "99"}),
        ("add_action_to_group", {"group_id": 99, "action_ipfs_cid": "Qm"}),
        ("remove_pkp_from_group", {"group_id": 99, "pkp_id": "0x" + "12" * 20}),
        ("update_usage_api_key", {"usage_api_key": "unknown", "name": "n", "description": ""}),
        ("update_usage_api_key_metadata", {"usage_api_key": "unknown", "name": "n", "description": ""}),
        ("remove_usage_api_key", {"usage_api_key": "unknown"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_after_a_conversion_the_permission_is_checked_before_existence(converted, path, body):
    """Checks that the service checks the permission of a converted account before the existence of an object.

    The error does not show whether an object exists.

    Source: docs/service/permissions.md#permission-of-each-endpoint.
    """
    answer = converted.account.post(path, body)
    assert (answer.status_code, answer.json()) == (403, ONLY_ADMIN_WALLET)
    as_usage_key = converted.account.wire.post(path, converted.usage_key, body)
    assert (as_usage_key.status_code, as_usage_key.json()) == (403, ONLY_ADMIN_WALLET)


def test_an_account_is_converted_once(converted, sign_envelope):
    again = EthAccount.create()
    body = sign_envelope(converted.account.wire, again, "ConvertAccount") | {"new_admin_wallet_address": again.address}
    assert converted.account.post("convert_to_chain_secured_account", body).status_code == 400


def test_the_new_admin_wallet_must_not_own_an_account(converted, sign_envelope):
    """Checks that a conversion fails if the new admin wallet already owns an account.

    Source: docs/service/resources.md#states.
    """
    other = converted.account.wire.account("other")
    body = sign_envelope(converted.account.wire, converted.owner, "ConvertAccount")
    body["new_admin_wallet_address"] = converted.owner.address
    answer = other.post("convert_to_chain_secured_account", body)
    assert answer.status_code == 400
    assert "AccountAlreadyExists" in answer.json()


def test_conversion_needs_the_account_key_and_the_new_admins_own_signature(account, owner, sign_envelope):
    body = sign_envelope(account.wire, owner, "ConvertAccount") | {"new_admin_wallet_address": owner.address}
    assert account.wire.post("convert_to_chain_secured_account", None, body).status_code == 401
    key = account.usage_key(can_create_groups=True, can_create_pkps=True)
    assert account.wire.post("convert_to_chain_secured_account", key, body).status_code == 403
    for address, status in (("0x" + "ab" * 20, 400), ("0x" + "00" * 20, 400), ("0x12", 400), (5, 422)):
        answer = account.post("convert_to_chain_secured_account", body | {"new_admin_wallet_address": address})
        assert answer.status_code == status, address
    assert account.get("account_exists").json() is True


def wallet_header(sign_envelope, wire, signer, flow: str = "BillingAuth") -> str:
    return base64.b64encode(json.dumps(sign_envelope(wire, signer, flow)).encode()).decode()


def test_the_admin_wallet_signs_for_billing(converted, sign_envelope):
    """Checks that a signature of the admin wallet gives access to the billing endpoints.

    Source: docs/service/signatures.md#x-wallet-auth, docs/service/conformance.md#contract-and-typed-data, item 54.
    """
    wire = converted.account.wire
    header = {"X-Wallet-Auth": wallet_header(sign_envelope, wire, converted.owner)}
    balance = wire.call("GET", "billing/balance", headers=header)
    assert balance.status_code == 200
    assert balance.json() == converted.account.listed("billing/balance")
    intent = wire.call("POST", "billing/create_payment_intent", headers=header, json={"amount_cents": 500})
    assert intent.status_code == 200
    assert wire.call("GET", "list_groups", headers=header).status_code == 401


def test_a_decodable_wallet_header_takes_precedence_over_the_key(converted, sign_envelope):
    wire, key = converted.account.wire, converted.account.key
    wrong_flow = wallet_header(sign_envelope, wire, converted.owner, "CreateWallet")
    stranger = wallet_header(sign_envelope, wire, EthAccount.create())
    for header, status in ((wrong_flow, 401), (stranger, 401), ("not base64!", 200), ("bm8ganNvbg==", 200)):
        answer = wire.call("GET", "billing/balance", key, headers={"X-Wallet-Auth": header})
        assert answer.status_code == status, header


def test_a_contract_wallet_signs_for_its_owner(wire, owner, sign_envelope):
    """Checks that the service verifies the signature of a contract wallet with ERC-1271.

    The service calls the contract on the chain of the typed data's domain.

    Source: docs/service/signatures.md#verification.
    """
    wallet = wire.control("/contract-wallets", {"owner": owner.address})["address"]
    chain_id = wire.get("get_node_chain_config").json()["chain_id"]
    assert chain_id
    contract = SimpleNamespace(address=wallet, key=owner.key)
    answer = wire.post("create_wallet_with_signature", body=sign_envelope(wire, contract, "CreateWallet"))
    assert answer.status_code == 200, answer.text
    stranger = SimpleNamespace(address=wallet, key=EthAccount.create().key)
    refused = wire.post("create_wallet_with_signature", body=sign_envelope(wire, stranger, "CreateWallet"))
    assert refused.status_code == 400
    nothing_there = SimpleNamespace(address=EthAccount.create().address, key=owner.key)
    unsigned = wire.post("create_wallet_with_signature", body=sign_envelope(wire, nothing_there, "CreateWallet"))
    assert unsigned.status_code == 400
