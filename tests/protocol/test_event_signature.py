"""Event signatures and the arguments in a log. eth-abi creates the encodings."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_abi.tools._strategies import get_abi_strategy
from eth_utils.abi import event_signature_to_log_topic
from hypothesis import given, strategies as st

from svcnb.emulator.platform import abi
from svcnb.protocol.abi_types import Type
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.event_signature import Event, InvalidSignature, UndecodableLog

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""topic0 of the event Transfer of ERC-20."""


def topic(kind: str, value: object) -> str:
    return "0x" + encode([kind], [value]).hex()


def data(kinds: list[str], values: list[object]) -> str:
    return "0x" + encode(kinds, values).hex()


# --- parsing signatures ---------------------------------------------------------------------------------------------


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
def test_an_invalid_signature_is_rejected(text):
    with pytest.raises(InvalidSignature):
        Event.parse(text)


def test_an_unmarked_signature_warns_that_places_are_guessed_and_a_marked_one_does_not():
    assert any("indexed" in warning for warning in Event.parse("F(address,uint256)").warnings)
    assert Event.parse("F(address indexed a,uint256)").warnings == ()
    assert "arg1" in Event.parse("F(address,string indexed)").warnings[0]


# --- decoding -------------------------------------------------------------------------------------------------------


def test_a_transfer_decodes_to_addresses_and_a_decimal_amount():
    decoded = Event.parse("Transfer(address,address,uint256)").decode(
        abi, [TRANSFER, topic("address", ALICE), topic("address", BOB)], data(["uint256"], [10**18])
    )
    assert decoded == {"arg0": ALICE, "arg1": BOB, "arg2": "1000000000000000000"}


def test_marked_arguments_are_found_in_any_position():
    event = Event.parse("F(uint256 a, address indexed b, string c, bool indexed d)")
    decoded = event.decode(
        abi,
        [event.topic0, topic("address", ALICE), topic("bool", value=True)],
        data(["uint256", "string"], [7, "hello"]),
    )
    assert [decoded[f"arg{place}"] for place in range(4)] == ["7", ALICE, "hello", True]
    assert {name: decoded[name] for name in "abcd"} == {"a": "7", "b": ALICE, "c": "hello", "d": True}


@pytest.mark.parametrize("indexed", list(combinations(range(4), 2)))
def test_unmarked_arguments_are_found_in_any_position_where_the_log_allows_only_one(indexed):
    kinds: list[str] = ["address", "string", "bytes4", "uint256[]"]
    values: list[object] = [ALICE, "text", b"\x01\x02\x03\x04", [1, 2]]
    hashed = {1, 3}
    topics = ["0x" + "00" * 32]
    topics += ["0x" + "9f" * 32 if place in hashed else topic(kinds[place], values[place]) for place in indexed]
    rest = [place for place in range(4) if place not in indexed]
    decoded = Event.parse(f"F({','.join(kinds)})").decode(
        abi, topics, data([kinds[place] for place in rest], [values[place] for place in rest])
    )
    expected = [ALICE, "text", "0x01020304", ["1", "2"]]
    assert [decoded[f"arg{place}"] for place in range(4)] == [
        "0x" + "9f" * 32 if place in indexed and place in hashed else expected[place] for place in range(4)
    ]


def test_where_several_places_fit_the_first_arguments_are_taken_as_indexed():
    decoded = Event.parse("F(uint256,uint256)").decode(
        abi, ["0x" + "00" * 32, topic("uint256", 1)], data(["uint256"], [2])
    )
    assert decoded == {"arg0": "1", "arg1": "2"}


def test_integers_from_two_to_the_128_are_hex_and_negative_ones_decimal():
    event = Event.parse("F(uint256,uint256,int256)")
    decoded = event.decode(abi, [event.topic0], data(["uint256", "uint256", "int256"], [2**128 - 1, 2**128, -(2**200)]))
    assert decoded == {"arg0": str(2**128 - 1), "arg1": f"0x{2**128:064x}", "arg2": str(-(2**200))}


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
        Event.parse("Transfer(address,address,uint256)").decode(abi, topics, payload)


# --- types ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "uint257", "uint0", "uint08", "address[", "address[-1]", "(bool", "bool)"])
def test_only_abi_types_are_read(text):
    with pytest.raises(MalformedValue):
        Type.parse(text)


def test_a_string_that_is_not_utf_8_still_decodes():
    event = Event.parse("F(string)")
    decoded = event.decode(abi, [event.topic0], "0x" + encode(["bytes"], [b"caf\xe9"]).hex())
    assert decoded == {"arg0": "caf\ufffd"}


def test_an_array_that_claims_more_elements_than_the_data_can_hold_is_refused_at_once():
    event = Event.parse("F(uint256[])")
    with pytest.raises(UndecodableLog):
        event.decode(abi, [event.topic0], data(["uint256", "uint256"], [32, 2**60]))


def test_overlapping_tails_are_not_the_usual_encoding():
    event = Event.parse("F(bytes,bytes)")
    with pytest.raises(UndecodableLog):
        event.decode(abi, [event.topic0], data(["uint256", "uint256", "uint256", "uint256"], [64, 64, 1, 0]))


# --- random input ---------------------------------------------------------------------------------------------------

alphabet = st.text(alphabet="Transfer(),[]0123456789 uintaddressboolbytesindexed;_$\n\t\u0661", max_size=60)


KINDS = st.sampled_from(
    [
        "uint256",
        "uint8",
        "int128",
        "address",
        "bool",
        "bytes",
        "bytes32",
        "bytes4",
        "uint16[]",
        "bool[3]",
        "(bool,bytes)",
    ]
)


@pytest.mark.slow
@given(alphabet | st.text(max_size=80))
def test_any_text_is_a_signature_or_refused_as_one(text):
    try:
        event = Event.parse(text)
    except InvalidSignature:
        return
    assert Event.parse(event.canonical).topic0 == event.topic0
    assert event.topic0 == "0x" + event_signature_to_log_topic(event.canonical).hex()


@given(st.data())
def test_arguments_of_any_types_come_back_as_they_were_encoded(data):
    kinds = data.draw(st.lists(KINDS, min_size=1, max_size=5))
    values = [data.draw(get_abi_strategy(kind)) for kind in kinds]
    event = Event.parse(f"E({','.join(kinds)})")
    decoded = event.decode(abi, [event.topic0], "0x" + encode(kinds, values).hex())
    assert [decoded[f"arg{place}"] for place in range(len(kinds))] == [as_shown(value) for value in values]


def as_shown(value: Any) -> Any:
    """Returns a value in the format that docs/triggers.md describes."""
    if isinstance(value, (list, tuple)):
        return [as_shown(item) for item in value]
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value < 2**128 else f"0x{value:064x}"
    return value.lower() if isinstance(value, str) else value  # an address


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=4), st.binary(max_size=320))
def test_any_log_is_decoded_or_refused_as_unfitting(topics, payload):
    event = Event.parse("E(address,bytes,uint8[],(bool,string))")
    with suppress(UndecodableLog):
        event.decode(abi, [event.topic0, *("0x" + word.hex() for word in topics)], "0x" + payload.hex())
