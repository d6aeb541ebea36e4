"""Envelopes, digests and signatures match vectors from ethers, and eth-account."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given, settings, strategies as st

from svcnb.protocol.eip712 import digest_parts
from svcnb.protocol.errors import MalformedSignature, MalformedValue
from svcnb.protocol.signature import (
    address_of_secret,
    personal_digest,
    recover_address,
    sign_digest,
)
from svcnb.protocol.typed_data import (
    Flow,
    domain_separator,
    envelope,
    envelope_digest,
    flow_of,
    type_hash,
)
from svcnb.protocol.vocabulary import Vocabulary

ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141

_SECRETS = st.integers(1, ORDER - 1).map(lambda number: number.to_bytes(32, "big"))


def _facts(vector: dict[str, Any]) -> tuple[Flow, str, int, int]:
    typed_data = vector["typed_data"]
    return (
        Flow(typed_data["primaryType"]),
        vector["address"],
        int(typed_data["domain"]["chainId"]),
        int(typed_data["message"]["issuedAt"]),
    )


def test_built_envelopes_equal_the_vectors(eip712_vectors) -> None:
    for vector in eip712_vectors["vectors"]:
        built = envelope(*_facts(vector))
        assert built == vector["typed_data"], vector["name"]
        assert list(built) == list(vector["typed_data"])
        assert len(json.dumps(built, separators=(",", ":"))) == vector["typed_data_json_bytes"]


def test_all_hashes_on_the_way_equal_the_vectors(eip712_vectors) -> None:
    for vector in eip712_vectors["vectors"]:
        flow, address, chain_id, issued_at = _facts(vector)
        assert "0x" + type_hash(flow).hex() == vector["type_hash"]
        assert "0x" + domain_separator("Svc ChainSecured", chain_id).hex() == vector["domain_separator"]
        assert "0x" + envelope_digest(flow, address, chain_id, issued_at).hex() == vector["digest"]
        parts = digest_parts(vector["typed_data"])
        for name in ("type_hash", "domain_separator", "struct_hash", "digest"):
            assert "0x" + getattr(parts, name).hex() == vector[name], (vector["name"], name)


def test_signatures_equal_the_vectors_both_ways(eip712_vectors) -> None:
    for vector in eip712_vectors["vectors"]:
        digest, secret = bytes.fromhex(vector["digest"][2:]), bytes.fromhex(vector["private_key"][2:])
        signature = sign_digest(digest, secret)
        assert "0x" + signature.hex() == vector["signature"], vector["name"]
        assert "0x" + signature[:32].hex() == vector["r"]
        assert "0x" + signature[32:64].hex() == vector["s"]
        assert signature[64] == vector["v"]
        assert recover_address(digest, signature) == vector["address"].lower()


def test_addresses_of_secrets_equal_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["address_of_private_key"]:
        assert address_of_secret(bytes.fromhex(vector["private_key"][2:])) == vector["address"].lower()


def test_personal_messages_equal_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["personal_message"]:
        digest = personal_digest(vector["message"])
        assert "0x" + digest.hex() == vector["digest"]
        assert "0x" + sign_digest(digest, bytes.fromhex(vector["private_key"][2:])).hex() == vector["signature"]
        assert personal_digest(vector["message"].encode()) == digest


def test_a_changed_envelope_has_another_digest(eip712_vectors) -> None:
    base = next(
        v["typed_data"] for v in eip712_vectors["vectors"] if v["name"] == "CreateWallet, chain 31337, test key 1"
    )
    edges = {edge["name"]: edge for edge in eip712_vectors["edge_cases"]}
    swapped = json.loads(json.dumps(base))
    swapped["types"]["CreateWallet"].reverse()
    assert (
        "0x" + digest_parts(swapped).digest.hex() == edges["members of the message type in the other order"]["digest"]
    )
    newer = json.loads(json.dumps(base))
    newer["domain"]["version"] = "2"
    assert "0x" + digest_parts(newer).digest.hex() == edges["domain version 2"]["digest"]


def test_a_signature_for_another_flow_or_chain_recovers_to_a_stranger(eip712_vectors) -> None:
    edges = {edge["name"]: edge for edge in eip712_vectors["edge_cases"]}
    base = next(v for v in eip712_vectors["vectors"] if v["name"] == "CreateWallet, chain 31337, test key 1")
    flow, address, chain_id, issued_at = _facts(base)
    for name, digest in (
        ("other flow", envelope_digest(Flow.CONVERT_ACCOUNT, address, chain_id, issued_at)),
        ("other chain", envelope_digest(flow, address, 1, issued_at)),
    ):
        found = recover_address(digest, bytes.fromhex(edges[name]["signature"][2:]))
        assert found == edges[name]["recovers_to"].lower()
        assert found != edges[name]["must_not_be"].lower()


def test_every_65_byte_form_of_a_signature_is_recovered_and_no_other(eip712_vectors) -> None:
    edges = {edge["name"]: edge for edge in eip712_vectors["edge_cases"]}
    for name in ("v as 0 or 1 instead of 27 or 28", "high-s twin of a valid signature"):
        edge = edges[name]
        found = recover_address(bytes.fromhex(edge["digest"][2:]), bytes.fromhex(edge["signature"][2:]))
        assert found == edge["address"].lower(), name
    compact = edges["compact 64-byte signature (EIP-2098)"]
    with pytest.raises(MalformedSignature, match="64 bytes: expected 65"):
        recover_address(bytes.fromhex(compact["digest"][2:]), bytes.fromhex(compact["signature"][2:]))


@settings(max_examples=40, deadline=None)
@given(
    secret=_SECRETS,
    flow=st.sampled_from(Flow),
    chain_id=st.integers(0, 2**256 - 1),
    issued_at=st.integers(0, 2**63 - 1),
    service=st.sampled_from(["svc", "acme", "x1"]),
)
def test_eth_account_agrees_on_digests_signatures_and_signers(
    secret: bytes, flow: Flow, chain_id: int, issued_at: int, service: str
) -> None:
    vocabulary = Vocabulary(service=service)
    account = Account.from_key(secret)
    assert address_of_secret(secret) == account.address.lower()
    typed_data = envelope(flow, account.address, chain_id, issued_at, vocabulary=vocabulary)
    digest = envelope_digest(flow, account.address, chain_id, issued_at, vocabulary=vocabulary)
    signed = account.sign_message(encode_typed_data(full_message=typed_data))
    assert bytes(signed.message_hash) == digest == digest_parts(typed_data).digest
    assert sign_digest(digest, secret) == bytes(signed.signature)
    assert recover_address(digest, bytes(signed.signature)) == account.address.lower()


@settings(max_examples=30, deadline=None)
@given(
    fields=st.lists(
        st.sampled_from(
            [
                ("uint8", 255),
                ("uint256", 2**256 - 1),
                ("int16", -2),
                ("int256", -1),
                ("bool", True),
                ("string", "é世"),
                ("bytes", b"\x00\x01"),
                ("bytes32", b"\xab" * 32),
                ("bytes4", b"\x01\x02\x03\x04"),
                ("address", "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"),
            ]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_digest_parts_agrees_with_eth_account_on_other_shapes(fields: list[tuple[str, Any]]) -> None:
    typed_data = {
        "types": {
            "EIP712Domain": [{"name": "name", "type": "string"}],
            "Thing": [{"name": f"f{at}", "type": kind} for at, (kind, _) in enumerate(fields)],
        },
        "primaryType": "Thing",
        "domain": {"name": "n"},
        "message": {f"f{at}": value for at, (_, value) in enumerate(fields)},
    }
    signed = Account.from_key(b"\x11" * 32).sign_message(encode_typed_data(full_message=typed_data))
    assert digest_parts(typed_data).digest == bytes(signed.message_hash)


@pytest.mark.parametrize("missing", ["types", "primaryType", "domain", "message"])
def test_digest_parts_names_the_missing_member(missing: str, eip712_vectors) -> None:
    typed_data = {name: value for name, value in eip712_vectors["vectors"][0]["typed_data"].items() if name != missing}
    with pytest.raises(MalformedValue, match=missing):
        digest_parts(typed_data)


@pytest.mark.parametrize(
    ("kind", "value"), [("uint8", 256), ("uint8", -1), ("uint8", "x"), ("bytes4", "0x00"), ("uint8[]", [1])]
)
def test_digest_parts_rejects_values_of_the_wrong_type(kind: str, value: Any) -> None:
    typed_data = {
        "types": {"EIP712Domain": [], "T": [{"name": "a", "type": kind}]},
        "primaryType": "T",
        "domain": {},
        "message": {"a": value},
    }
    with pytest.raises(MalformedValue):
        digest_parts(typed_data)


def test_the_parts_have_a_readable_repr(eip712_vectors) -> None:
    vector = eip712_vectors["vectors"][0]
    text = str(digest_parts(vector["typed_data"]))
    assert "CreateWallet(address address,uint256 issuedAt)" in text
    assert vector["digest"] in text
    assert vector["struct_hash"] in digest_parts(vector["typed_data"])._repr_html_()


def test_the_name_of_the_service_is_part_of_the_digest() -> None:
    address = "0x" + "12" * 20
    assert (
        envelope(Flow.CREATE_WALLET, address, 1, 1, vocabulary=Vocabulary("acme"))["domain"]["name"]
        == "Acme ChainSecured"
    )
    assert envelope_digest(Flow.CREATE_WALLET, address, 1, 1) != envelope_digest(
        Flow.CREATE_WALLET, address, 1, 1, vocabulary=Vocabulary("acme")
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flow": "Createwallet"}, "CreateWallet, ConvertAccount, AddUsageApiKey, BillingAuth"),
        ({"address": "0x12"}, "invalid address"),
        ({"address": "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}, "mistyped"),
        ({"chain_id": -1}, "chain_id"),
        ({"chain_id": "1"}, "integer"),
        ({"chain_id": True}, "integer"),
        ({"chain_id": 2**256}, "chain_id"),
        ({"issued_at": 2**63}, "issued_at"),
        ({"issued_at": 1.5}, "integer"),
    ],
)
def test_an_envelope_that_every_server_rejects_is_not_built(change: dict[str, Any], said: str) -> None:
    facts: dict[str, Any] = {
        "flow": "CreateWallet",
        "address": "0x" + "12" * 20,
        "chain_id": 1,
        "issued_at": 1,
    } | change
    with pytest.raises(MalformedValue, match=said):
        envelope(**facts)


def test_flows_are_found_by_their_primary_type() -> None:
    assert flow_of("BillingAuth") is flow_of(Flow.BILLING_AUTH) is Flow.BILLING_AUTH


@pytest.mark.parametrize("secret", [bytes(32), ORDER.to_bytes(32, "big"), b"\x01" * 31, b"\xff" * 32])
def test_an_invalid_private_key_is_rejected_without_being_shown(secret: bytes) -> None:
    for attempt in (lambda: sign_digest(bytes(32), secret), lambda: address_of_secret(secret)):
        with pytest.raises(ValueError, match="invalid secp256k1 private key") as refused:
            attempt()
        assert secret.hex() not in str(refused.value)


@pytest.mark.parametrize("v", [2, 26, 29, 37, 255])
def test_another_v_is_refused(v: int) -> None:
    with pytest.raises(MalformedSignature, match="27, 28, 0 or 1"):
        recover_address(bytes(32), b"\x01" * 64 + bytes([v]))


@pytest.mark.parametrize("numbers", [bytes(64), b"\xff" * 64, bytes(32) + b"\x01" * 32, b"\x01" * 32 + bytes(32)])
def test_a_signature_with_numbers_outside_the_curve_is_refused(numbers: bytes) -> None:
    with pytest.raises(MalformedSignature, match="no public key matches"):
        recover_address(b"\x11" * 32, numbers + b"\x1b")


def test_a_digest_has_32_bytes() -> None:
    with pytest.raises(ValueError, match="Hash the message first"):
        sign_digest(b"hello", b"\x11" * 32)
    with pytest.raises(ValueError, match="Hash the message first"):
        recover_address(b"hello", bytes(65))
