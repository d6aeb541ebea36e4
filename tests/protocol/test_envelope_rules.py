"""Envelopes that violate one or several rules. The error names the first violated rule."""

from __future__ import annotations

import itertools
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from svcnb.protocol.envelope_rules import EnvelopeRefused, broken_rules, check_envelope, signature_bytes
from svcnb.protocol.typed_data import Flow, envelope, envelope_digest
from svcnb.protocol.vocabulary import Vocabulary

NOW = 1_700_000_000
CHAIN = 31_337
FACTS: dict[str, Any] = {"flow": Flow.CREATE_WALLET, "chain_id": CHAIN, "now_s": NOW}
ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"

Change = Callable[[dict[str, Any]], object]


def _good() -> dict[str, Any]:
    return envelope(Flow.CREATE_WALLET, ADDRESS, CHAIN, NOW)


def _check(typed_data: object, **other: Any) -> Any:
    return check_envelope(typed_data, **(FACTS | other))


def _refused(typed_data: object, **other: Any) -> EnvelopeRefused:
    with pytest.raises(EnvelopeRefused) as caught:
        _check(typed_data, **other)
    return caught.value


def _set(*path: Any) -> Change:
    *parents, last, value = path

    def change(typed_data: dict[str, Any]) -> None:
        target: Any = typed_data
        for name in parents:
            target = target[name]
        target[last] = value

    return change


def _drop(*path: Any) -> Change:
    *parents, last = path

    def change(typed_data: dict[str, Any]) -> None:
        target: Any = typed_data
        for name in parents:
            target = target[name]
        del target[last]

    return change


def _changed(*changes: Change) -> dict[str, Any]:
    typed_data = _good()
    for change in changes:
        change(typed_data)
    return typed_data


def test_valid_envelopes_of_the_vectors_pass_with_their_address_and_time(eip712_vectors) -> None:
    for vector in eip712_vectors["vectors"]:
        typed_data = vector["typed_data"]
        issued_at = int(typed_data["message"]["issuedAt"])
        facts: dict[str, Any] = {
            "flow": Flow(typed_data["primaryType"]),
            "chain_id": int(typed_data["domain"]["chainId"]),
            "now_s": issued_at,
        }
        for form in (typed_data, json.dumps(typed_data)):
            found = check_envelope(form, **facts)
            assert found.address == vector["address"].lower()
            assert found.issued_at == issued_at
            assert "0x" + found.digest.hex() == vector["digest"]


RULES: list[tuple[int, str, Change]] = [
    (
        1,
        "has 4097 bytes as JSON; at most 4096",
        lambda data: data.update(types="x" * (4097 - 2 - _size_without_types())),
    ),
    (3, "has no domain", _drop("domain")),
    (3, "has no message and no types", lambda data: (_drop("types")(data), _drop("message")(data))),
    (3, "unknown member 'extra'", _set("extra", 1)),
    (3, "types is a list", _set("types", [])),
    (3, "types.CreateWallet is an object", _set("types", "CreateWallet", {})),
    (3, "a field of types.CreateWallet is a string", _set("types", "CreateWallet", ["address"])),
    (3, "a field of types.CreateWallet has no type", _drop("types", "CreateWallet", 0, "type")),
    (3, "unknown member 'internalType'", _set("types", "EIP712Domain", 0, "internalType", "string")),
    (
        4,
        "primaryType is 'ConvertAccount', but this endpoint accepts CreateWallet",
        _set("primaryType", "ConvertAccount"),
    ),
    (4, "primaryType is 'createwallet'", _set("primaryType", "createwallet")),
    (4, "primaryType is None", _set("primaryType", None)),
    (4, "primaryType is ['CreateWallet']", _set("primaryType", ["CreateWallet"])),
    (5, "domain is a string", _set("domain", "Svc ChainSecured")),
    (5, "domain.name is 'svc chainsecured'", _set("domain", "name", "svc chainsecured")),
    (5, "domain.version is '2'", _set("domain", "version", "2")),
    (5, "domain.version is 1:", _set("domain", "version", 1)),
    (5, "domain.chainId is '1', but the node's chain is 31337", _set("domain", "chainId", "1")),
    (5, "domain.chainId is '31_337'", _set("domain", "chainId", "31_337")),
    (5, "domain.chainId is ' 31337'", _set("domain", "chainId", " 31337")),
    (5, "domain.chainId is '٣١٣٣٧'", _set("domain", "chainId", "٣١٣٣٧")),
    (5, "domain.chainId is True", _set("domain", "chainId", bool(1))),
    (5, "domain.chainId is 31337.0", _set("domain", "chainId", 31337.0)),
    (5, "domain.chainId is -31337", _set("domain", "chainId", -31337)),
    (5, "domain.chainId is ''", _set("domain", "chainId", "")),
    (5, "has no chainId", _drop("domain", "chainId")),
    (5, "unknown member 'verifyingContract'", _set("domain", "verifyingContract", ADDRESS)),
    (5, "unknown member 'salt'", _set("domain", "salt", "0x00")),
    (6, "types has no EIP712Domain", _drop("types", "EIP712Domain")),
    (6, "types has no CreateWallet", _drop("types", "CreateWallet")),
    (6, "unknown type 'Mail'", _set("types", "Mail", [{"name": "a", "type": "string"}])),
    (
        6,
        "(uint256 issuedAt, address address): expected (address address, uint256 issuedAt)",
        lambda data: data["types"]["CreateWallet"].reverse(),
    ),
    (
        6,
        "types.EIP712Domain is (string version, string name, uint256 chainId)",
        lambda data: data["types"]["EIP712Domain"].insert(0, data["types"]["EIP712Domain"].pop(1)),
    ),
    (6, "types.CreateWallet is (address address, uint64 issuedAt)", _set("types", "CreateWallet", 1, "type", "uint64")),
    (6, "types.CreateWallet is (address address)", _drop("types", "CreateWallet", 1)),
    (6, "types.CreateWallet is (address address, 7 issuedAt)", _set("types", "CreateWallet", 1, "type", 7)),
    (7, "message is null", _set("message", None)),
    (7, "has no issuedAt", _drop("message", "issuedAt")),
    (7, "unknown member 'nonce'", _set("message", "nonce", 1)),
    (7, "message.address is '0x12'", _set("message", "address", "0x12")),
    (7, "message.address is None", _set("message", "address", None)),
    (7, "message.issuedAt is 'now'", _set("message", "issuedAt", "now")),
    (7, "message.issuedAt is '-1'", _set("message", "issuedAt", "-1")),
    (7, "message.issuedAt is '1_700_000_000'", _set("message", "issuedAt", "1_700_000_000")),
    (7, "message.issuedAt is '9223372036854775808'", _set("message", "issuedAt", str(2**63))),
    (7, "message.issuedAt is None", _set("message", "issuedAt", None)),
    (7, "301 seconds before the server's time", _set("message", "issuedAt", str(NOW - 301))),
    (7, "301 seconds after the server's time", _set("message", "issuedAt", str(NOW + 301))),
]


def _size_without_types() -> int:
    typed_data = _good() | {"types": 0}
    return len(json.dumps(typed_data, separators=(",", ":"))) - 1


@pytest.mark.parametrize(("rule", "said", "change"), RULES, ids=[f"{rule}: {said[:40]}" for rule, said, _ in RULES])
def test_a_broken_rule_is_named(rule: int, said: str, change: Change) -> None:
    refused = _refused(_changed(change))
    assert refused.rule == rule
    assert said in refused.message
    if rule > 2:
        again = _refused(json.dumps(_changed(change)))
        assert (again.rule, again.message) == (rule, refused.message)


ONE_OF_EACH: dict[int, Change] = {
    1: _set("padding", "x" * 4096),
    3: _set("extra", 1),
    4: _set("primaryType", "ConvertAccount"),
    5: _set("domain", "salt", "0x00"),
    6: _set("types", "Mail", []),
    7: _set("message", "issuedAt", "0"),
}


@pytest.mark.parametrize(
    "broken", [rules for count in range(1, 7) for rules in itertools.combinations(ONE_OF_EACH, count)], ids=str
)
def test_of_several_broken_rules_the_first_in_order_counts(broken: tuple[int, ...]) -> None:
    typed_data = _changed(*(ONE_OF_EACH[rule] for rule in broken))
    assert _refused(typed_data).rule == broken[0]
    # The padding is also an unknown member.
    assert set(broken_rules(typed_data, **FACTS)) == {*broken, *([3] if 1 in broken else [])}


@pytest.mark.parametrize(
    ("typed_data", "said"),
    [
        (None, "is null"),
        ([], "is a list"),
        (7, "is a number"),
        (True, "is a boolean"),
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ('"text"', "is a string"),
        ("[" * 2000, "not valid JSON"),
        ('{"types": 1, "types": 2}', "the member 'types' occurs more than once"),
    ],
)
def test_typed_data_is_an_object_or_json_text_of_one(typed_data: object, said: str) -> None:
    refused = _refused(typed_data)
    assert refused.rule == 2
    assert said in refused.message


def test_text_within_text_is_not_opened_twice() -> None:
    assert _refused(json.dumps(json.dumps(_good()))).rule == 2


def test_the_size_is_that_of_the_compact_json_of_what_was_received() -> None:
    space = 4096 - len(json.dumps(_good() | {"primaryType": ""}, separators=(",", ":")))
    assert _refused(_good() | {"primaryType": "x" * space}).rule == 4
    assert _refused(_good() | {"primaryType": "x" * (space + 1)}).rule == 1
    assert _refused(_good() | {"primaryType": "é" * (space // 2)}).rule == 4
    assert _refused(_good() | {"primaryType": "é" * (space // 2 + 1)}).rule == 1
    # The size of a string includes its quotes, as in JSON.
    assert _refused("x" * 4094).rule == 2
    assert _refused("x" * 4095).rule == 1


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1_000, 100_000])
def test_depth_is_refused_and_does_not_end_the_process(limit: int) -> None:
    before = sys.getrecursionlimit()
    deep: list[Any] = []
    for _ in range(200_000):
        deep = [deep]
    sys.setrecursionlimit(limit)
    try:
        refused = _refused(deep)
    finally:
        sys.setrecursionlimit(before)
    assert refused.rule == 1
    assert "too many levels of nesting" in refused.message


def test_a_value_that_is_not_json_is_rejected() -> None:
    assert _refused({"types": object()}).rule == 1


@pytest.mark.parametrize("off", [-300, -299, 0, 299, 300])
def test_the_window_includes_its_bounds(off: int) -> None:
    assert _check(_changed(_set("message", "issuedAt", str(NOW + off)))).issued_at == NOW + off


@pytest.mark.parametrize("form", [CHAIN, "31337", "0x7a69", "0X7A69", "031337", "0x0000007a69"])
def test_numbers_are_read_from_every_allowed_form(form: object) -> None:
    assert _check(_changed(_set("domain", "chainId", form))).digest == _check(_good()).digest


@pytest.mark.parametrize("form", [NOW, str(NOW), hex(NOW)])
def test_times_are_read_from_every_allowed_form(form: object) -> None:
    assert _check(_changed(_set("message", "issuedAt", form))).issued_at == NOW


@pytest.mark.parametrize("form", [ADDRESS, ADDRESS.lower(), ADDRESS.upper().replace("0X", "0x"), ADDRESS[2:]])
def test_the_case_of_an_address_does_not_count(form: str) -> None:
    found = _check(_changed(_set("message", "address", form)))
    assert found.address == ADDRESS.lower()
    assert found.digest == envelope_digest(Flow.CREATE_WALLET, ADDRESS, CHAIN, NOW)


def test_the_order_of_members_of_objects_does_not_count() -> None:
    typed_data = dict(reversed(_good().items()))
    typed_data["domain"] = dict(reversed(typed_data["domain"].items()))
    assert _check(typed_data).digest == _check(_good()).digest


def test_another_service_name_is_another_domain() -> None:
    acme = Vocabulary("acme")
    theirs = envelope(Flow.CREATE_WALLET, ADDRESS, CHAIN, NOW, vocabulary=acme)
    assert _check(theirs, vocabulary=acme).address == ADDRESS.lower()
    assert _refused(theirs).rule == 5
    assert _refused(_good(), vocabulary=acme).rule == 5


@pytest.mark.parametrize("flow", Flow)
def test_an_envelope_passes_only_for_its_own_flow(flow: Flow) -> None:
    typed_data = envelope(flow, ADDRESS, CHAIN, NOW)
    for endpoint in Flow:
        if endpoint is flow:
            assert _check(typed_data, flow=endpoint).flow is flow
        else:
            assert _refused(typed_data, flow=endpoint).rule == 4


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["address", "types"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    path=st.sampled_from(
        [
            ("types",),
            ("types", "CreateWallet"),
            ("types", "CreateWallet", 0),
            ("primaryType",),
            ("domain",),
            ("domain", "chainId"),
            ("message",),
            ("message", "address"),
            ("message", "issuedAt"),
        ]
    ),
    value=_JSON,
)
def test_any_changed_envelope_is_refused_without_a_crash(path: tuple[Any, ...], value: Any) -> None:
    refused = _refused(_changed(_set(*path, value)))
    assert 1 <= refused.rule <= 7
    assert refused.message


def test_a_refusal_survives_pickling() -> None:
    refused = _refused({})
    again = pickle.loads(pickle.dumps(refused))  # noqa: S301 - written on the same line
    assert (type(again), again.rule, str(again)) == (EnvelopeRefused, 3, str(refused))


@pytest.mark.parametrize("form", ["0xab01", "ab01", " 0xAB01\n"])
def test_signatures_are_read_from_every_allowed_form(form: str) -> None:
    assert signature_bytes(form) == b"\xab\x01"


def test_a_signature_may_be_empty_and_has_a_limit() -> None:
    assert signature_bytes("0x") == b""
    assert len(signature_bytes("0x" + "ab" * 4096)) == 4096


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("0xabc", "has 3 hex digits: expected an even number"),
        ("0xzz", "not hex"),
        (None, "is null"),
        (7, "is a number"),
        ("0x" + "ab" * 4097, "4097 bytes"),
    ],
)
def test_a_signature_that_cannot_be_read_breaks_rule_8(wrong: object, said: str) -> None:
    with pytest.raises(EnvelopeRefused, match=said) as refused:
        signature_bytes(wrong)
    assert refused.value.rule == 8
