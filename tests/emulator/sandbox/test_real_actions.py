# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Realistic actions. A second library verifies each result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from Crypto.Cipher import AES
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from svcnb.emulator.sandbox.network import Network

pytestmark = [pytest.mark.engine, pytest.mark.slow]

TYPED: dict[str, Any] = {
    "domain": {"name": "Shop", "version": "2", "chainId": 8453, "verifyingContract": "0x" + "c0" * 20},
    "types": {
        "Order": [{"name": "buyer", "type": "Person"}, {"name": "items", "type": "Item[]"}, {"name": "note", "type": "string"}],
        "Person": [{"name": "wallet", "type": "address"}, {"name": "age", "type": "uint8"}],
        "Item": [{"name": "sku", "type": "bytes32"}, {"name": "price", "type": "uint256"}],
    },
    "message": {
        "buyer": {"wallet": "0x" + "b0" * 20, "age": 33},
        "items": [{"sku": "0x" + "11" * 32, "price": "1000000000000000000000"}, {"sku": "0x" + "22" * 32, "price": "5"}],
        "note": "für dich",
    },
}  # fmt: skip


def test_signing_a_message_with_a_wallet(room: Any, wallet: Any):
    source = """async function main({ pkpId, text }) {
      const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
      return { address: signer.address, signature: await signer.signMessage(text) };
    }"""
    answer = room.value(source, {"pkpId": wallet[0], "text": "I agree ✓"})
    assert answer["address"] == Account.from_key(wallet[1]).address
    assert Account.recover_message(encode_defunct(text="I agree ✓"), signature=answer["signature"]) == answer["address"]
    assert answer["signature"] == "0x" + Account.sign_message(
        encode_defunct(text="I agree ✓"), wallet[1]
    ).signature.hex().removeprefix("0x")


def test_signing_with_the_actions_own_key_which_anyone_can_look_up(room: Any, running_cid: str):
    source = """async function main({ text, cid }) {
      const signer = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
      return [await signer.signMessage(text), await Svc.Actions.getSvcActionWalletAddress({ ipfsId: cid }),
              ethers.utils.computePublicKey(await Svc.Actions.getSvcActionPublicKey({ ipfsId: cid })) === signer.publicKey];
    }"""
    signature, address, same = room.value(source, {"text": "mine", "cid": running_cid})
    assert Account.recover_message(encode_defunct(text="mine"), signature=signature).lower() == address
    assert same is True


def test_signing_a_typed_data_payload(room: Any, wallet: Any):
    source = """async function main({ pkpId, typed }) {
      const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
      return signer._signTypedData(typed.domain, typed.types, typed.message);
    }"""
    signature = room.value(source, {"pkpId": wallet[0], "typed": TYPED})
    message = json.loads(json.dumps(TYPED["message"]))
    for item in message["items"]:
        item["price"] = int(item["price"])
    signable = encode_typed_data(TYPED["domain"], TYPED["types"], message)
    assert Account.recover_message(signable, signature=signature) == Account.from_key(wallet[1]).address


def test_a_secret_is_encrypted_by_one_action_and_used_by_another(room: Any, wallet: Any):
    store = "const main = ({ pkpId, secret }) => Svc.Actions.Encrypt({ pkpId, message: secret })"
    use = """async function main({ pkpId, ciphertext }) {
      const apiKey = await Svc.Actions.Decrypt({ pkpId, ciphertext });
      return { digest: ethers.utils.id(apiKey) };
    }"""
    ciphertext = room.value(store, {"pkpId": wallet[0], "secret": "sk-live-1234"}, host=room.host(cid="QmStore"))

    raw = bytes.fromhex(ciphertext)
    plain = AES.new(wallet[1], AES.MODE_GCM, nonce=raw[:12]).decrypt_and_verify(raw[12:-16], raw[-16:])
    assert plain == b"sk-live-1234"
    answer = room.value(use, {"pkpId": wallet[0], "ciphertext": ciphertext}, host=room.host(cid="QmUse"))
    assert answer == {"digest": "0x" + keccak(b"sk-live-1234").hex()}


def test_a_replayed_price_is_fetched_and_signed(room: Any, wallet: Any, price: Any):
    network = Network("replay", price.recording)
    answer = room.value(price.source, {"pkpId": wallet[0], "url": price.url}, host=room.host(network=network))
    assert answer["cents"] == "314159"

    packed = b"ETH/USD" + (314159).to_bytes(32, "big") + (1700000000).to_bytes(8, "big")
    signed = encode_defunct(primitive=keccak(packed))
    assert Account.recover_message(signed, signature=answer["signature"]) == Account.from_key(wallet[1]).address


@pytest.mark.parametrize(
    "extra", [{"gasPrice": 2_000_000_000}, {"maxFeePerGas": 3_000_000_000, "maxPriorityFeePerGas": 1, "type": 2}]
)
def test_a_transaction_signed_in_an_action_is_the_one_another_library_signs(
    extra: dict[str, int], room: Any, wallet: Any
):
    transaction: dict[str, Any] = {
        "nonce": 3,
        "gas": 21_000,
        "to": "0x" + "d0" * 20,
        "value": 10**18,
        "data": "0x",
        "chainId": 31337,
        **extra,
    }
    source = """async function main({ pkpId, tx }) {
      const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
      const { gas, value, ...rest } = tx;
      return signer.signTransaction({ ...rest, gasLimit: gas, value: ethers.BigNumber.from(value) });
    }"""
    raw = room.value(source, {"pkpId": wallet[0], "tx": {**transaction, "value": str(transaction["value"])}})

    signed = Account.sign_transaction({**transaction, "to": to_checksum_address(transaction["to"])}, wallet[1])
    assert raw == "0x" + bytes(signed.raw_transaction).hex()
