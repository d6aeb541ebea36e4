"""CIDs as text match multiformats and ipfs-unixfs-importer (npm)."""

from __future__ import annotations

import base64
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st
from multiformats import CID, multibase, multihash

from svcnb.errors import InvalidType
from svcnb.protocol.cid import cid, is_cid, is_cid_v0, parse_cid, to_v0, to_v1
from svcnb.protocol.cid_text import base58
from svcnb.protocol.errors import MalformedCid

HELLO = "QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX"
# The same content as a raw leaf is another block, and has another CID.
RAW = str(CID("base32", 1, "raw", multihash.digest(b"hello", "sha2-256")))


@given(st.binary(max_size=80))
def test_base58_agrees_with_multiformats(data: bytes) -> None:
    assert base58(data) == multibase.encode(data, "base58btc")[1:]


@given(st.binary(min_size=34, max_size=34), st.sampled_from([b"", b"\x12\x20"]))
def test_the_form_of_version_0_is_recognised_as_by_multiformats(data: bytes, prefix: bytes) -> None:
    raw = (prefix + data)[:34]
    assert is_cid_v0(base58(raw)) == raw.startswith(b"\x12\x20")


def edge(byte: int) -> str:
    return str(CID("base58btc", 0, "dag-pb", multihash.wrap(bytes([byte]) * 32, "sha2-256")))


def test_the_first_and_last_cid_of_version_0_and_their_neighbours() -> None:
    assert is_cid_v0(edge(0))
    assert is_cid_v0(edge(255))
    assert not is_cid_v0(base58(b"\x12\x1f" + b"\xff" * 32))
    assert not is_cid_v0(base58(b"\x12\x21" + bytes(32)))


@given(st.binary(max_size=600), st.sampled_from(["base32", "base58btc", "base16", "base36", "base64url"]))
def test_content_is_compared_with_any_cid_of_it(data: bytes, base: str) -> None:
    for hashed in ("sha2-256", "sha2-512", "sha3-256", "blake2b-256"):
        block = parse_cid(str(CID(base, 1, "raw", multihash.digest(data, hashed))))
        assert block.identifies(data)
        assert not block.identifies(data + b"x")
    for file in (cid(data), to_v1(cid(data), base)):
        assert parse_cid(file).identifies(data)
        assert not parse_cid(file).identifies(data + b"x")


@pytest.mark.parametrize(
    "size", [1, 262_144, 262_145, *(pytest.param(174 * 262_144 + more, marks=pytest.mark.slow) for more in (0, 1))]
)
@pytest.mark.parametrize("raw", [False, True])
def test_files_are_recognised_by_the_cids_of_ipfs(npm: Callable[[object], Any], size: int, *, raw: bool) -> None:
    data = random.Random(size).randbytes(size)
    found = parse_cid(npm({"cid": base64.b64encode(data).decode(), "raw": raw}))
    assert found.version == raw
    assert found.identifies(data)
    assert not found.identifies(data[:-1])


def test_content_of_another_type_or_an_unknown_hash_is_an_error() -> None:
    with pytest.raises(InvalidType, match="expected bytes"):
        parse_cid(HELLO).identifies("hello")  # type: ignore[arg-type]  # on purpose
    # Multicodec numbers of blake3 and sm3-256, which multiformats cannot compute here.
    for prefix, name in (("01551e20", "blake3"), ("0155cda60120", "sm3-256")):
        found = parse_cid(multibase.encode(bytes.fromhex(prefix) + bytes(32), "base32"))
        assert found.hash_name == name
        with pytest.raises(MalformedCid, match=name):
            found.identifies(b"hello")


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["base32", "base58btc", "base16", "base64url"]))
def test_a_cid_can_be_converted_between_versions_and_back(digest: bytes, base: str) -> None:
    v0 = str(CID("base58btc", 0, "dag-pb", multihash.wrap(digest, "sha2-256")))
    assert is_cid_v0(v0)
    v1 = to_v1(v0, base)
    assert not is_cid_v0(v1)
    assert is_cid(v1)
    assert to_v0(v1) == to_v0(v0) == v0
    assert parse_cid(v1).digest == parse_cid(v0).digest == digest


def test_a_cid_says_how_it_was_made() -> None:
    found = parse_cid(f" {to_v1(HELLO)}\n")
    assert (found.version, found.codec, found.hash_name, found.base) == (1, "dag-pb", "sha2-256", "base32")
    assert str(found) == to_v1(HELLO)
    assert parse_cid(HELLO).version == 0


def test_raw_leaves_have_no_version_0() -> None:
    assert parse_cid(RAW).codec == "raw"
    with pytest.raises(MalformedCid, match="raw leaves"):
        to_v0(RAW)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "Qm",
        "Qm" + "1" * 44,
        HELLO[:-1],
        HELLO + "x",
        "z" + HELLO,
        "bafy",
        "hello world",
        "0x" + "ab" * 32,
        "z" * 2_000,
    ],
)
def test_an_invalid_cid_is_rejected(wrong: str) -> None:
    assert not is_cid_v0(wrong)
    assert not is_cid(wrong)
    with pytest.raises(MalformedCid, match="invalid CID"):
        parse_cid(wrong)


def test_a_text_longer_than_any_cid_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedCid, match="has 100000 characters; at most 1024 are allowed"):
        parse_cid("z" * 100_000)


def test_values_of_other_types_are_not_cids() -> None:
    assert not is_cid(None)
    assert not is_cid_v0(7)
    with pytest.raises(TypeError, match="a CID must be a string"):
        parse_cid(7)  # type: ignore[arg-type]


def test_an_unknown_encoding_is_refused_with_known_ones() -> None:
    with pytest.raises(MalformedCid, match="base32"):
        to_v1(HELLO, "base31")


def test_computing_a_cid_loads_no_library_and_reading_one_is_quiet() -> None:
    program = f"""
import sys
from svcnb.protocol.cid import cid, is_cid_v0, to_v1
assert is_cid_v0(cid("hello"))
heavy = {{"multiformats", "concurrent.futures", "Crypto", "logging"}} & set(sys.modules)
assert not heavy, heavy
print(to_v1({HELLO!r}))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == to_v1(cid("hello"))
    assert done.stderr == ""
