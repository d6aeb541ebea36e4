"""Descriptions of transactions before their signature. web3, which is independent of this package, creates the call
data."""

from __future__ import annotations

import warnings

import pytest

from svcnb.panels.transactions import decoded
from svcnb.protocol.contract import abi

OWNER = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
TO = "0x" + "12" * 20


@pytest.fixture(scope="module")
def contract():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of libraries during their import
        from web3 import Web3
    return Web3().eth.contract(abi=abi())


def test_a_transaction_is_described_with_its_arguments_and_maximum_cost(contract):
    data = contract.encode_abi("addGroup", args=[7, "adders", "adds", [5], [OWNER]])
    told = decoded({"to": TO, "data": data, "gas": hex(100_000), "maxFeePerGas": hex(2 * 10**9), "value": "0x0"})
    assert told["known"]
    assert told["what"].startswith("create group 'adders'")
    assert dict(told["arguments"])["name"] == "adders"
    assert dict(told["arguments"])["cidHashes"] == f"0x{5:064x}"
    assert dict(told["arguments"])["pkpIds"].lower() == OWNER.lower()
    assert (told["to"], told["through"], told["max_cost"]) == (TO, "", "0.0002 ETH")


def test_the_call_inside_a_call_to_a_contract_wallet_is_described(contract):
    from eth_abi.abi import encode

    inner = contract.encode_abi("removeGroup", args=[7, 3])
    body = encode(["address", "uint256", "bytes"], [TO, 0, bytes.fromhex(inner[2:])])
    # First four bytes of keccak256("execute(address,uint256,bytes)"), a function of ERC-4337 accounts.
    told = decoded({"to": OWNER, "data": "0xb61d27f6" + body.hex(), "gas": "0x1"})
    assert told["function"] == "removeGroup"
    assert (told["to"].lower(), told["through"]) == (TO, OWNER)


@pytest.mark.parametrize("data", ["0x", "0x12345678", "0xb61d27f6", "0xb61d27f6" + "ff" * 96])
def test_an_unknown_call_is_marked_as_unknown(data):
    told = decoded({"to": TO, "data": data, "gas": "0x1"})
    assert not told["known"]
    assert told["arguments"] == []
