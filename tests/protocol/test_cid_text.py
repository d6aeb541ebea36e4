from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st
from multiformats import CID, multibase, multihash

from svcnb.protocol import base58
from svcnb.protocol.cid import cid, is_cid, is_cid_v0, parse_cid, to_v0, to_v1
from svcnb.protocol.errors import MalformedCid

HELLO = "QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX"
# The same content as a raw leaf: another block, so another CID.
RAW = str(CID("base32", 1, "raw", multihash.digest(b"hello", "sha2-256")))


@given(st.binary(max_size=80))
def test_base58_agrees_with_multiformats(data: bytes) -> None:
    assert base58.encode(data) == multibase.encode(data, "base58btc")[1:]
    assert base58.decode(base58.encode(data)) == data


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["base32", "base58btc", "base16", "base64url"]))
def test_conversion_there_and_back(digest: bytes, base: str) -> None:
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
    ["", "Qm", "Qm" + "1" * 44, HELLO[:-1], HELLO + "x", "z" + HELLO, "bafy", "hello world", "0x" + "ab" * 32],
)
def test_what_is_no_cid_is_refused(wrong: str) -> None:
    assert not is_cid_v0(wrong)
    assert not is_cid(wrong)
    with pytest.raises(MalformedCid, match="is no CID"):
        parse_cid(wrong)


def test_other_types_are_no_cids() -> None:
    assert not is_cid(None)
    assert not is_cid_v0(7)
    with pytest.raises(TypeError, match="a CID is a text"):
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
