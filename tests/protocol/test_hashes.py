from __future__ import annotations

import base64
import pickle

import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given, strategies as st

from svcnb.protocol import hashes
from svcnb.protocol.errors import MalformedAddress, MalformedHex, MalformedValue


def test_hashed_cids_equal_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["hashed_cid"]:
        assert hashes.hashed_cid(vector["cid"]) == vector["hashed_cid"]


def test_wallet_lookup_keys_equal_the_vectors_in_any_case(hash_vectors) -> None:
    for vector in hash_vectors["wallet_lookup_key"]:
        for address in (vector["address"], vector["address"].lower(), vector["address"][2:]):
            assert hashes.wallet_lookup_key(address) == int(vector["decimal"]) == int(vector["hex"], 16)


def test_usage_key_hashes_equal_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["usage_key_hash"]:
        secret = base64.b64decode(vector["secret_base64"])
        assert hashes.uint256_hex(hashes.usage_key_hash(secret)) == vector["hash"]


def test_selectors_and_topics_equal_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["function_selectors"]:
        assert "0x" + hashes.function_selector(vector["signature"]).hex() == vector["selector"]
    for vector in hash_vectors["event_topics"]:
        assert "0x" + hashes.event_topic(vector["signature"]).hex() == vector["topic0"]


def test_white_space_around_a_key_does_not_count() -> None:
    assert hashes.key_hash(" a2V5\n") == hashes.key_hash("a2V5")
    assert hashes.api_key_hash("a2V5") == hashes.uint256_hex(hashes.key_hash("a2V5"))


def test_white_space_in_a_cid_counts() -> None:
    cid = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
    assert hashes.hashed_cid(cid + " ") != hashes.hashed_cid(cid)


def test_a_hash_is_not_hashed_again() -> None:
    with pytest.raises(MalformedValue, match="is already a hashed CID"):
        hashes.hashed_cid("0x" + "ab" * 32)


@pytest.mark.parametrize("wrong", [None, 7, b"Qm"])
def test_only_texts_are_hashed_as_texts(wrong: object) -> None:
    with pytest.raises(TypeError, match="must be a string"):
        hashes.hashed_cid(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a string"):
        hashes.key_hash(wrong)  # type: ignore[arg-type]


def test_an_empty_cid_is_refused() -> None:
    with pytest.raises(MalformedValue, match=r"svcnb\.cid"):
        hashes.hashed_cid("")


@given(st.binary(min_size=20, max_size=20))
def test_checksums_agree_with_eth_utils(raw: bytes) -> None:
    assert hashes.checksum_address(raw.hex()) == to_checksum_address(raw)
    assert hashes.checksum_address(to_checksum_address(raw)) == to_checksum_address(raw)
    assert hashes.normal_address(to_checksum_address(raw)) == "0x" + raw.hex()


def test_a_wrong_checksum_is_a_typing_error() -> None:
    right = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    with pytest.raises(MalformedAddress, match="mistyped"):
        hashes.checksum_address(right.replace("F6F4", "f6F4"))


@pytest.mark.parametrize("wrong", ["", "0x", "0x12", "0x" + "g" * 40, "0x" + "0" * 41, "0x 12" + "0" * 36])
def test_an_invalid_address_is_rejected(wrong: str) -> None:
    with pytest.raises(MalformedAddress, match="invalid address"):
        hashes.normal_address(wrong)


def test_hex_is_read_in_every_usual_form() -> None:
    assert hashes.parse_hex("0xAbCd") == hashes.parse_hex(" abcd\n") == hashes.parse_hex("0XABCD") == b"\xab\xcd"
    assert hashes.parse_hex("0x") == b""


@pytest.mark.parametrize("wrong", ["0xabc", "xyz0", "0x12 34", "0x0x12", "é1"])
def test_wrong_hex_is_refused_without_being_repeated(wrong: str) -> None:
    with pytest.raises(MalformedHex) as refused:
        hashes.parse_hex(wrong, what="secret")
    assert wrong not in str(refused.value)
    assert "secret" in str(refused.value)


def test_another_number_of_bytes_is_refused() -> None:
    with pytest.raises(MalformedHex, match="has 2 bytes: expected 32"):
        hashes.parse_hex("0xabcd", 32)


@pytest.mark.parametrize("number", [-1, 1 << 256])
def test_numbers_beyond_256_bits_are_refused(number: int) -> None:
    with pytest.raises(MalformedValue, match="range: expected"):
        hashes.uint256_hex(number)


def test_a_usage_key_has_32_bytes() -> None:
    with pytest.raises(MalformedValue, match="has 31 bytes"):
        hashes.usage_key_hash(bytes(31))


def test_errors_survive_pickling() -> None:
    with pytest.raises(MalformedValue) as refused:
        hashes.hashed_cid("")
    again = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - written on the same line
    assert (type(again), str(again), again.hint) == (type(refused.value), str(refused.value), refused.value.hint)
