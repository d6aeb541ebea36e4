"""Accounts whose owner sends transactions to the contract directly. HTTP requests return the changed objects.

Source: docs/service/signatures.md#follow-up-transactions, docs/service/permissions.md#permission-of-each-endpoint.
"""

from __future__ import annotations

import asyncio
import base64
import string
from typing import Any

import pytest
from eth_account import Account as EthAccount

from svcnb.client.chain import abi
from svcnb.protocol import contract
from svcnb.protocol.hashes import key_hash, usage_key_hash, wallet_lookup_key

CODE = "function main() { return 'ran'; }"
PRIVATE_KEY = "async function main({ pkpId }) { return Svc.Actions.getPrivateKey({ pkpId }); }"
NEVER = 0
UNMANAGED = False


class Owner:
    """Wallet with ether that sends its own transactions."""

    def __init__(self, wire) -> None:
        self.wire = wire
        self.account = EthAccount.create()
        self.contract = wire.get("get_node_chain_config").json()["contract_address"]
        self.master = wallet_lookup_key(self.account.address)
        wire.control("/faucet", {"address": self.account.address})

    def rpc(self, method: str, *params: Any) -> Any:
        answer = self.wire.post("/rpc", body={"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})
        assert "error" not in answer.json(), answer.text
        return answer.json()["result"]

    def send(self, function: str, *arguments: Any) -> None:
        """Sends a transaction, and waits for its block."""
        signed = self.account.sign_transaction(
            {
                "chainId": int(self.rpc("eth_chainId"), 16),
                "nonce": int(self.rpc("eth_getTransactionCount", self.account.address, "pending"), 16),
                "to": checksummed(self.contract),
                "data": contract.function(function).encode_call(abi, arguments),
                "gas": 3_000_000,
                "maxFeePerGas": 10**11,
                "maxPriorityFeePerGas": 10**9,
                "value": 0,
            }
        )
        sent = self.rpc("eth_sendRawTransaction", "0x" + bytes(signed.raw_transaction).hex())
        receipt = self.rpc("eth_getTransactionReceipt", sent)
        assert receipt is not None
        assert receipt["status"] == "0x1"

    def signed(self, endpoint: str, primary_type: str, sign) -> dict[str, Any]:
        return dict(self.wire.ok(endpoint, body=sign(self.wire, self.account, primary_type)))

    def set_key(self, hashed: int, *, execute: list[int], expiration: int = NEVER) -> None:
        flags = (True, False, False)
        self.send("setUsageApiKey", self.master, hashed, expiration, 0, "key", "", *flags, [], [], [], execute)


def checksummed(address: str) -> str:
    from eth_utils.address import to_checksum_address

    return str(to_checksum_address(address))


@pytest.fixture
def owner(wire) -> Owner:
    made = Owner(wire)
    made.send("newChainSecuredAccount", "treasury", "owned by a wallet")
    wire.control("/credit", {"wallet_address": made.account.address, "cents": 100})
    return made


@pytest.mark.parametrize("form", ["bytes", "text"])
def test_a_key_set_on_chain_runs_actions_whichever_hash_was_registered(owner, wire, form, sign_envelope):
    """Checks that a key that the owner registered on the chain runs actions, with either of its hashes.

    The service searches first for the hash of the text, then for the hash of the 32 bytes.

    Source: docs/service/keys.md#identifiers.
    """
    made = owner.signed("add_usage_api_key_with_signature", "AddUsageApiKey", sign_envelope)
    key = made["usage_api_key"]
    assert wire.post("svc_action", key, {"code": CODE}).status_code == 401
    hashed = usage_key_hash(base64.b64decode(key)) if form == "bytes" else key_hash(key)
    owner.set_key(hashed, execute=[0])
    assert wire.post("svc_action", key, {"code": CODE}).json()["response"] == "ran"
    assert wire.listed("billing/balance", key)["balance_cents"] == -99
    assert [entry["name"] for entry in wire.listed("list_api_keys", key)] == ["key"]
    # The service's payers cannot write for an account that a wallet owns
    # (docs/service/permissions.md#permission-of-each-endpoint).
    refused = wire.post("add_group", key, {"group_name": "n", "group_description": ""})
    assert refused.status_code == 403
    assert refused.json().startswith(
        "Permission denied: only the admin wallet can change an account in ChainSecured mode."
    )
    owner.send("removeUsageApiKey", owner.master, hashed)
    assert wire.post("svc_action", key, {"code": CODE}).status_code == 401


def test_another_encoding_of_the_same_bytes_is_another_key(owner, wire, sign_envelope):
    """The last digit of the base64 of 32 bytes contains two bits that must be zero (RFC 4648, section 3.5)."""
    key = owner.signed("add_usage_api_key_with_signature", "AddUsageApiKey", sign_envelope)["usage_api_key"]
    owner.set_key(usage_key_hash(base64.b64decode(key)), execute=[0])
    digits = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    for extra in (1, 2, 3):
        other = f"{key[:-2]}{digits[digits.index(key[-2]) + extra]}="
        assert base64.b64decode(other) == base64.b64decode(key)
        assert wire.post("svc_action", other, {"code": CODE}).status_code == 401
    assert wire.post("svc_action", key, {"code": CODE}).status_code == 200


def test_a_wallet_created_by_signature_works_after_its_registration(owner, wire, sign_envelope):
    """Grants from the chain take effect on HTTP immediately.

    Source: docs/service/signatures.md#follow-up-transactions.
    """
    wallet = owner.signed("create_wallet_with_signature", "CreateWallet", sign_envelope)
    made = owner.signed("add_usage_api_key_with_signature", "AddUsageApiKey", sign_envelope)
    key = made["usage_api_key"]
    owner.set_key(usage_key_hash(base64.b64decode(key)), execute=[0])
    asked = {"code": PRIVATE_KEY, "js_params": {"pkpId": wallet["wallet_address"]}}
    assert wire.post("svc_action", key, asked).status_code == 500
    path = int(wallet["derivation_path"], 16)
    owner.send("registerWalletDerivation", owner.master, wallet["wallet_address"], path, "ops", "")
    revealed = wire.post("svc_action", key, asked)
    assert revealed.status_code == 200, revealed.text
    assert EthAccount.from_key(revealed.json()["response"]).address.lower() == wallet["wallet_address"]
    assert [entry["name"] for entry in wire.listed("list_wallets", key)] == ["ops"]


def test_a_wallet_registered_with_the_path_of_another_is_rejected(owner, wire, sign_envelope):
    """The service derives the address again, and compares it with the requested address.

    Source: docs/service/permissions.md#using-a-wallet.
    """
    made = owner.signed("add_usage_api_key_with_signature", "AddUsageApiKey", sign_envelope)
    key = made["usage_api_key"]
    owner.set_key(usage_key_hash(base64.b64decode(key)), execute=[0])
    victim = "0x" + "5a" * 19 + f"{owner.master % 256:02x}"
    owner.send("registerWalletDerivation", owner.master, victim, owner.master >> 3 | 1, "stolen", "")
    answer = wire.post("svc_action", key, {"code": PRIVATE_KEY, "js_params": {"pkpId": victim}})
    assert answer.status_code == 500
    assert "path of another wallet" in answer.json()


def test_a_transferred_account_keeps_its_keys_and_its_credit(owner, wire, sign_envelope):
    """Checks that a transfer changes neither the keys nor the credit of an account.

    Source: docs/service/signatures.md#follow-up-transactions, docs/service/signatures.md#transfer.
    """
    made = owner.signed("add_usage_api_key_with_signature", "AddUsageApiKey", sign_envelope)
    key = made["usage_api_key"]
    owner.set_key(usage_key_hash(base64.b64decode(key)), execute=[0])
    owner.send("transferChainSecuredAccountOwnership", owner.master, EthAccount.create().address)
    assert wire.post("svc_action", key, {"code": CODE}).status_code == 200
    assert wire.listed("billing/balance", key)["balance_cents"] == -99


def test_the_address_bytes_of_an_owner_are_not_a_key(local):
    """The lookup hash depends only on the public address, so a key text of these bytes must not be valid.

    Source: docs/service/keys.md#identifiers.
    """
    wire = local()
    # An address whose 20 bytes are printable text. One in some millions of addresses has this property. The test does
    # not need the private key.
    text = "owner-of-20-letters!"
    hashed = wallet_lookup_key("0x" + text.encode().hex())
    assert hashed == key_hash(text)
    write = wire.local.service.chain.write("newAccount", hashed, UNMANAGED, "born", "", "0x" + text.encode().hex())
    asyncio.run_coroutine_threadsafe(write, wire.local.loop).result(30)
    assert wire.get("list_groups", text).status_code == 401
