"""Event signatures and the arguments in a log; the encodings come from eth-abi."""

from __future__ import annotations

from itertools import combinations

import pytest
from eth_abi.abi import encode
from eth_utils.abi import event_signature_to_log_topic
from hypothesis import given, settings, strategies as st

from svcnb.protocol import abi
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.event_signature import Event, InvalidSignature, UndecodableLog

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""topic0 of ERC-20's Transfer, as the standard's logs carry it."""


def topic(kind: str, value: object) -> str:
    return "0x" + encode([kind], [value]).hex()


def data(kinds: list[str], values: list[object]) -> str:
    return "0x" + encode(kinds, values).hex()


# --- reading signatures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Transfer(address,address,uint256)",
        "Transfer(address, address, uint)",
        "event Transfer(address indexed from, address indexed to, uint256 value);",
    ],
)
def test_every_way_to_write_a_signature_has_the_same_topic(text):
    event = Event.parse(text)
    assert event.canonical == "Transfer(address,address,uint256)"
    assert event.topic0 == TRANSFER


@pytest.mark.parametrize("text", ["Ping()", "F((uint256,(bool,string)[])[2],bytes32)", "G(int[],uint8[3][],function)"])
def test_the_topic_agrees_with_eth_utils(text):
    event = Event.parse(text)
    assert event.topic0 == "0x" + event_signature_to_log_topic(event.canonical).hex()


def test_tuples_may_be_written_as_in_human_readable_interfaces():
    event = Event.parse("F(tuple(uint256 a, (bool b, string c)[] d)[2] indexed x, bytes32 y)")
    assert event.canonical == "F((uint256,(bool,string)[])[2],bytes32)"
    assert [argument.indexed for argument in event.arguments] == [True, False]
    assert [argument.name for argument in event.arguments] == ["x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Transfer",
        "Transfer(address",
        "Transfer(address))",
        "Transfer(address,)",
        "Transfer(adress)",
        "Transfer(uint7)",
        "Transfer(uint264)",
        "Transfer(bytes33)",
        "Transfer(bytes0)",
        "Transfer(address to from)",
        "(address)",
        "1Transfer(address)",
        "F(bool indexed,bool indexed,bool indexed,bool indexed)",
        "F(" + ",".join(["bool"] * 18) + ")",
        "F(" + "(" * 40 + "bool" + ")" * 40 + ")",
        "F(uint256" + "[]" * 40 + ")",
    ],
)
def test_a_text_that_is_no_signature_is_refused(text):
    with pytest.raises(InvalidSignature):
        Event.parse(text)


def test_an_unmarked_signature_warns_that_places_are_guessed_and_a_marked_one_does_not():
    assert any("indexed" in warning for warning in Event.parse("F(address,uint256)").warnings)
    assert Event.parse("F(address indexed a,uint256)").warnings == ()
    assert "arg1" in Event.parse("F(address,string indexed)").warnings[0]


# --- decoding -------------------------------------------------------------------------------------------------------


def test_a_transfer_decodes_to_addresses_and_a_decimal_amount():
    decoded = Event.parse("Transfer(address,address,uint256)").decode(
        [TRANSFER, topic("address", ALICE), topic("address", BOB)], data(["uint256"], [10**18])
    )
    assert decoded == {"arg0": ALICE, "arg1": BOB, "arg2": "1000000000000000000"}


def test_marked_arguments_are_found_in_any_position():
    event = Event.parse("F(uint256 a, address indexed b, string c, bool indexed d)")
    decoded = event.decode(
        [event.topic0, topic("address", ALICE), topic("bool", True)], data(["uint256", "string"], [7, "hello"])
    )
    assert [decoded[f"arg{place}"] for place in range(4)] == ["7", ALICE, "hello", True]
    assert {name: decoded[name] for name in "abcd"} == {"a": "7", "b": ALICE, "c": "hello", "d": True}


@pytest.mark.parametrize("indexed", list(combinations(range(4), 2)))
def test_unmarked_arguments_are_found_in_any_position_where_the_log_allows_only_one(indexed):
    kinds: list[str] = ["address", "string", "bytes4", "uint256[]"]
    values: list[object] = [ALICE, "text", b"\x01\x02\x03\x04", [1, 2]]
    hashed = {1, 3}
    topics = ["0x" + "00" * 32]
    for place in indexed:
        topics.append("0x" + "9f" * 32 if place in hashed else topic(kinds[place], values[place]))
    rest = [place for place in range(4) if place not in indexed]
    decoded = Event.parse(f"F({','.join(kinds)})").decode(
        topics, data([kinds[place] for place in rest], [values[place] for place in rest])
    )
    expected = [ALICE, "text", "0x01020304", ["1", "2"]]
    assert [decoded[f"arg{place}"] for place in range(4)] == [
        "0x" + "9f" * 32 if place in indexed and place in hashed else expected[place] for place in range(4)
    ]


def test_where_several_places_fit_the_first_arguments_are_taken_as_indexed():
    decoded = Event.parse("F(uint256,uint256)").decode(["0x" + "00" * 32, topic("uint256", 1)], data(["uint256"], [2]))
    assert decoded == {"arg0": "1", "arg1": "2"}


def test_integers_from_two_to_the_128_are_hex_and_negative_ones_decimal():
    event = Event.parse("F(uint256,uint256,int256)")
    decoded = event.decode([event.topic0], data(["uint256", "uint256", "int256"], [2**128 - 1, 2**128, -(2**200)]))
    assert decoded == {"arg0": str(2**128 - 1), "arg1": hex(2**128), "arg2": str(-(2**200))}


@pytest.mark.parametrize(
    ("topics", "payload"),
    [
        ([TRANSFER], "0x"),
        ([TRANSFER, topic("address", ALICE)], "0x" + "00" * 32),
        ([TRANSFER, "0x" + "ff" * 32, topic("address", BOB)], data(["uint256"], [1])),
        ([TRANSFER, topic("address", ALICE), topic("address", BOB)], data(["uint256", "uint256"], [1, 2])),
        ([TRANSFER, topic("address", ALICE), topic("address", BOB)], "0xzz"),
        ([TRANSFER, "0x12"], "0x"),
        ([TRANSFER] * 5, "0x"),
    ],
)
def test_a_log_that_does_not_fit_the_signature_is_refused(topics, payload):
    with pytest.raises(UndecodableLog):
        Event.parse("Transfer(address,address,uint256)").decode(topics, payload)


# --- the codec against eth-abi --------------------------------------------------------------------------------------

_elementary = st.one_of(
    st.tuples(st.sampled_from([f"uint{bits}" for bits in (8, 24, 128, 256)]), st.just("uint")),
    st.tuples(st.sampled_from([f"int{bits}" for bits in (8, 24, 128, 256)]), st.just("int")),
    st.tuples(st.sampled_from(["bytes1", "bytes20", "bytes32"]), st.just("fixed")),
    st.sampled_from([("bool", "bool"), ("address", "address"), ("string", "string"), ("bytes", "bytes")]),
).map(lambda found: found[0])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map(lambda kind: kind + "[]"),
        st.tuples(inner, st.integers(1, 3)).map(lambda found: f"{found[0]}[{found[1]}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda kinds: f"({','.join(kinds)})"),
    )


_kinds = st.lists(st.recursive(_elementary, _compound, max_leaves=4), max_size=4)


def _value(kind: abi.Type) -> st.SearchStrategy[object]:
    if kind.is_array:
        low, high = (0, 3) if kind.length is None else (kind.length, kind.length)
        return st.lists(_value(kind.element), min_size=low, max_size=high)
    if kind.base == "()":
        return st.tuples(*map(_value, kind.members))
    if kind.base.startswith("uint"):
        return st.integers(0, 2 ** int(kind.base[4:]) - 1)
    if kind.base.startswith("int"):
        bits = int(kind.base[3:])
        return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    size = int(kind.base[5:]) if kind.base.startswith("bytes") and kind.base != "bytes" else 0
    return {
        "bool": st.booleans(),
        "address": st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex()),
        "string": st.text(max_size=40),
        "bytes": st.binary(max_size=70),
    }.get(kind.base, st.binary(min_size=size, max_size=size))


def _as_lists(value: object) -> object:
    return [_as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


@settings(deadline=None)
@given(kinds=_kinds, picked=st.data())
def test_whatever_eth_abi_encodes_decodes_to_the_same_values(kinds, picked):
    types = [abi.Type.parse(kind) for kind in kinds]
    values = [picked.draw(_value(kind)) for kind in types]
    assert abi.decode(types, encode(kinds, values)) == _as_lists(values)


@settings(deadline=None)
@given(raw=st.binary(max_size=320), kinds=_kinds)
def test_any_bytes_either_decode_or_are_refused_and_what_decodes_encodes_back(raw, kinds):
    types = [abi.Type.parse(kind) for kind in kinds]
    try:
        values = abi.decode(types, raw)
    except abi.NotEncoded:
        return
    if "string" not in str(kinds):
        assert encode(kinds, values) == raw


@pytest.mark.parametrize("text", ["", "uint257", "uint0", "uint08", "int", "address[", "address[-1]", "(bool", "bool)"])
def test_only_abi_types_are_read(text):
    if text == "int":
        assert str(abi.Type.parse(text)) == "int256"
        return
    with pytest.raises(MalformedValue):
        abi.Type.parse(text)


def test_an_array_that_claims_more_elements_than_the_data_can_hold_is_refused_at_once():
    huge = data(["uint256", "uint256"], [32, 2**60])
    with pytest.raises(abi.NotEncoded):
        abi.decode([abi.Type.parse("uint256[]")], bytes.fromhex(huge[2:]))
