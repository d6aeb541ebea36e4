"""ABI codecs of the emulator and the client, compared with eth-abi in both directions, and with malformed bytes."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import abi as eth_abi
from hypothesis import HealthCheck, given, settings, strategies as st

from svcnb.client.chain import abi as client_abi
from svcnb.emulator.platform import abi
from svcnb.emulator.platform.abi import decode, encode
from svcnb.protocol.contract import AbiError, Codec

both_codecs = pytest.mark.parametrize("codec", [abi, client_abi], ids=["emulator", "client"])

LEAVES = {
    "uint256": st.integers(0, 2**256 - 1),
    "uint8": st.integers(0, 255),
    "int128": st.integers(-(2**127), 2**127 - 1),
    "bool": st.booleans(),
    "address": st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex()),
    "bytes4": st.binary(min_size=4, max_size=4),
    "bytes32": st.binary(min_size=32, max_size=32),
    "bytes": st.binary(max_size=70),
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
}


def typed(depth: int) -> st.SearchStrategy[tuple[str, st.SearchStrategy[Any]]]:
    leaf = st.sampled_from(sorted(LEAVES)).map(lambda name: (name, LEAVES[name]))
    if depth == 0:
        return leaf
    inner = typed(depth - 1)
    return st.one_of(
        leaf,
        inner.map(lambda pair: (f"{pair[0]}[]", st.lists(pair[1], max_size=4).map(tuple))),
        st.tuples(inner, st.integers(1, 3)).map(
            lambda both: (f"{both[0][0]}[{both[1]}]", st.tuples(*[both[0][1]] * both[1]))
        ),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda pairs: (f"({','.join(name for name, _ in pairs)})", st.tuples(*(values for _, values in pairs)))
        ),
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_value_of_any_type_is_encoded_and_decoded_as_by_eth_abi(data: st.DataObject) -> None:
    pairs = data.draw(st.lists(typed(2), min_size=1, max_size=4))
    types = [name for name, _ in pairs]
    values = tuple(data.draw(strategy) for _, strategy in pairs)
    encoded = encode(types, values)
    assert encoded == eth_abi.encode(types, values)
    assert decode(types, encoded) == values == tuple(eth_abi.decode(types, encoded))


@both_codecs
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("uint8", 256),
        ("uint256", -1),
        ("uint256", True),
        ("int8", 128),
        ("bool", 1),
        ("address", "0x12"),
        ("bytes4", b"\x00" * 5),
        ("bytes", "text"),
        ("string", b"bytes"),
        ("string", "\ud800"),
        ("uint256[]", 7),
        ("uint256[2]", [1]),
        ("(uint256,bool)", (1,)),
        ("no such type", 1),
    ],
)
def test_a_value_that_does_not_fit_is_refused(codec: Codec, kind: str, value: Any) -> None:
    with pytest.raises(AbiError):
        codec.encode([kind], [value])


@pytest.mark.parametrize(("kind", "value"), [("address", b"\x00" * 20), ("fixed128x18", 1)])
def test_the_emulator_encodes_addresses_as_text_only_and_no_fixed_point_numbers(kind: str, value: Any) -> None:
    with pytest.raises(AbiError):
        encode([kind], [value])


@both_codecs
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("uint256", b"\x00" * 31),
        ("uint8", b"\xff" * 32),
        ("bool", (2).to_bytes(32, "big")),
        ("address", b"\x01" * 32),
        ("bytes4", b"\x01" * 32),
        ("string", (32).to_bytes(32, "big") + (40).to_bytes(32, "big") + b"short"),
        ("string", b"\xff" * 32),
        ("uint256[]", (32).to_bytes(32, "big") + (10**6).to_bytes(32, "big")),
        ("uint256[]", (32).to_bytes(32, "big") + (3).to_bytes(32, "big") + b"\x00" * 64),
    ],
)
def test_bytes_that_are_not_an_encoding_are_refused(codec: Codec, kind: str, data: bytes) -> None:
    with pytest.raises(AbiError):
        codec.decode([kind], data)


@both_codecs
def test_invalid_utf_8_in_a_string_causes_no_error(codec: Codec) -> None:
    encoded = eth_abi.encode(["bytes"], [b"ok\xff"])
    assert codec.decode(["string"], encoded) == ("ok\ufffd",)


@both_codecs
def test_lists_are_tuples_and_addresses_lower_case_text(codec: Codec) -> None:
    address = "0xf0" + "ab" * 19
    values = ([(1, [address])],)
    encoded = codec.encode(["(uint256,address[])[]"], values)
    assert codec.decode(["(uint256,address[])[]"], encoded) == (((1, (address,)),),)
