"""Parsing and creation of transactions, compared with eth-account."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hexbytes import HexBytes
from hypothesis import given, settings, strategies as st

from svcnb.emulator.chain import rlp
from svcnb.emulator.chain.transactions import TransactionInvalid, contract_address, read, sign

SECRET = b"\x11" * 32
SENDER = Account.from_key(SECRET).address.lower()
BASE = {"to": "0x" + "2" * 40, "value": 5, "gas": 21_000, "nonce": 3}
FIELDS: dict[str, dict[str, Any]] = {
    "legacy": {"gasPrice": 9, "chainId": 31337},
    "legacy without chain": {"gasPrice": 9},
    "EIP-2930": {
        "gasPrice": 9,
        "chainId": 31337,
        "type": 1,
        "accessList": [{"address": "0x" + "3" * 40, "storageKeys": [7]}],
    },
    "EIP-1559": {"maxFeePerGas": 9, "maxPriorityFeePerGas": 1, "chainId": 31337, "type": 2},
}


def signed(**fields: Any) -> bytes:
    return bytes(Account.sign_transaction(BASE | fields, SECRET).raw_transaction)


@pytest.mark.parametrize("kind", FIELDS)
def test_every_kind_is_read_as_eth_account_wrote_it(kind: str) -> None:
    fields = FIELDS[kind]
    if kind == "EIP-2930":
        fields = fields | {"accessList": [{"address": "0x" + "3" * 40, "storageKeys": ["0x" + "0" * 63 + "7"]}]}
    account = Account.sign_transaction(BASE | fields, SECRET)
    found = read(bytes(account.raw_transaction))
    assert found.hash == bytes(account.hash)
    assert (found.sender, found.chain_id) == (SENDER, fields.get("chainId"))
    assert (found.nonce, found.gas, found.max_fee, found.value, found.to) == (3, 21_000, 9, 5, "0x" + "2" * 40)
    assert found.cost == 21_000 * 9 + 5


@pytest.mark.parametrize("to", ["0x" + "2" * 40, None])
def test_eth_account_recovers_the_signer(to: str | None) -> None:
    raw = sign(SECRET, chain_id=31337, nonce=0, to=to, data=b"\x01" * 60, gas=10**6, max_fee=10**9, tip=2)
    assert Account.recover_transaction(raw).lower() == SENDER
    fields = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    assert (fields["nonce"], fields["gas"], fields["maxFeePerGas"], fields["maxPriorityFeePerGas"]) == (
        0,
        10**6,
        10**9,
        2,
    )
    assert read(raw).to == to


def test_the_address_of_a_created_contract_follows_from_sender_and_nonce() -> None:
    # Example from the Ethereum wiki's page on contract addresses.
    assert (
        contract_address("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0", 0)
        == "0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d"
    )
    assert (
        contract_address("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0", 1)
        == "0x343c43a37d37dff08ae8c4a11544c718abb4fcf8"
    )


@pytest.mark.parametrize(
    "raw", [b"", b"\x03" + b"\xc0", b"\x04\xc0", b"\x02\xc0", b"\x02\x80", b"\x7f", b"\xc1\x80", b"\xff" * 9]
)
def test_unsupported_transactions_are_rejected(raw: bytes) -> None:
    with pytest.raises(TransactionInvalid):
        read(raw)


def test_every_cut_and_every_extra_byte_is_noticed() -> None:
    raw = signed(**FIELDS["EIP-1559"])
    for end in range(len(raw)):
        with pytest.raises(TransactionInvalid):
            read(raw[:end])
    with pytest.raises(TransactionInvalid):
        read(raw + b"\x00")


def test_the_other_form_of_a_signature_is_refused() -> None:
    order = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
    raw = signed(**FIELDS["EIP-1559"])
    fields = rlp.decode(raw[1:])
    assert isinstance(fields, list)
    *body, parity, r, s = fields
    flipped = [*body, rlp.number(1 - rlp.read_number(parity)), r, rlp.number(order - rlp.read_number(s))]
    with pytest.raises(TransactionInvalid, match="upper half"):
        read(raw[:1] + rlp.encode(flipped))


ITEMS = st.recursive(st.binary(max_size=80), lambda inner: st.lists(inner, max_size=5), max_leaves=12)


@settings(max_examples=150, deadline=None)
@given(ITEMS)
def test_rlp_agrees_with_an_independent_library(item: Any) -> None:
    independent = pytest.importorskip("rlp")
    encoded = rlp.encode(item)
    assert encoded == independent.encode(item)
    assert rlp.decode(encoded) == item


@pytest.mark.parametrize(
    "data", ["", "8100", "b800", "b90001aa", "c101ff", "83aabb", "f90000", "bfffffffffffffffff", "c28102"]
)
def test_rlp_that_is_not_canonical_is_refused(data: str) -> None:
    with pytest.raises(rlp.RlpError):
        rlp.decode(bytes.fromhex(data))


@pytest.mark.parametrize("data", ["b8", "b90102", "830102", "f8"])
def test_truncated_rlp_is_rejected_as_truncated(data: str) -> None:
    with pytest.raises(rlp.RlpError, match="the data is truncated"):
        rlp.decode(bytes.fromhex(data))
