"""Accounts of eth-account as signers, and typed data of users. eth-account recovers the signers."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given, strategies as st

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.signing import LocalSigner, as_signer, recover, sign_flow, typed_data_digest

COW = Account.from_key(bytes.fromhex("c85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4"))
"""keccak256("cow"), the key in the example of EIP-712."""

DOMAIN = {
    "name": "Ether Mail",
    "version": "1",
    "chainId": 1,
    "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
}
DOMAIN_TYPE = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
]
MAIL: dict[str, Any] = {
    "types": {
        "EIP712Domain": DOMAIN_TYPE,
        "Person": [{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}],
        "Mail": [
            {"name": "from", "type": "Person"},
            {"name": "to", "type": "Person"},
            {"name": "contents", "type": "string"},
        ],
    },
    "primaryType": "Mail",
    "domain": DOMAIN,
    "message": {
        "from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
        "to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
        "contents": "Hello, Bob!",
    },
}
"""Source: the example of EIP-712, "Mail" (assets/eip-712/Example.js)."""

GROUP_MAIL: dict[str, Any] = {
    "types": {
        "EIP712Domain": DOMAIN_TYPE,
        "Person": [{"name": "name", "type": "string"}, {"name": "wallets", "type": "address[]"}],
        "Mail": [
            {"name": "from", "type": "Person"},
            {"name": "to", "type": "Person[]"},
            {"name": "contents", "type": "string"},
        ],
        "Group": [{"name": "name", "type": "string"}, {"name": "members", "type": "Person[]"}],
    },
    "primaryType": "Mail",
    "domain": DOMAIN,
    "message": {
        "from": {
            "name": "Cow",
            "wallets": ["0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", "0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF"],
        },
        "to": [
            {
                "name": "Bob",
                "wallets": [
                    "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB",
                    "0xB0BdaBea57B0BDABeA57b0bdABEA57b0BDabEa57",
                    "0xB0B0b0b0b0b0B000000000000000000000000000",
                ],
            }
        ],
        "contents": "Hello, Bob!",
    },
}
"""Source: the example of MetaMask's eth_signTypedData_v4, which defines a type that the message does not use."""


def typed(kind: str, value: Any, **types: Any) -> dict[str, Any]:
    return {
        "types": {"EIP712Domain": DOMAIN_TYPE[:1], "Thing": [{"name": "value", "type": kind}], **types},
        "primaryType": "Thing",
        "domain": {"name": "n"},
        "message": {"value": value},
    }


def test_the_example_of_eip_712_gives_its_digest_and_signature() -> None:
    signer = LocalSigner.from_account(COW)
    assert typed_data_digest(MAIL).hex() == "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
    assert signer.sign_typed_data(MAIL) == (
        "0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d"
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c"
    )
    assert recover(MAIL, signer.sign_typed_data(MAIL)) == COW.address


def test_the_example_of_metamask_v4_gives_its_digest_and_signature() -> None:
    signer = LocalSigner.from_account(COW)
    assert typed_data_digest(GROUP_MAIL).hex() == "a85c2e2b118698e88db68a8105b794a8cc7cec074e89ef991cb4f5f533819cc2"
    assert signer.sign_typed_data(GROUP_MAIL) == (
        "0x65cbd956f2fae28a601bebc9b906cea0191744bd4c4247bcd27cd08f8eb6b71c"
        "78efdf7a31dc9abee78f492292721f362d296cf86b4538e07b51303b67f749061b"
    )


_ATOMS = (
    [st.tuples(st.just(f"uint{bits}"), st.integers(0, 2**bits - 1)) for bits in range(8, 257, 8)]
    + [
        st.tuples(st.just(f"int{bits}"), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        for bits in range(8, 257, 8)
    ]
    + [st.tuples(st.just(f"bytes{size}"), st.binary(min_size=size, max_size=size)) for size in range(1, 33)]
    + [
        st.tuples(st.just("bool"), st.booleans()),
        st.tuples(st.just("bytes"), st.binary(max_size=70)),
        st.tuples(st.just("string"), st.text(st.characters(exclude_categories=["Cs"]))),
        st.tuples(st.just("address"), st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())),
    ]
)


@pytest.mark.slow
@given(fields=st.lists(st.one_of(_ATOMS), min_size=1, max_size=5), repeats=st.integers(0, 3))
def test_eth_account_recovers_nested_structs_and_arrays_of_every_atomic_type(
    fields: list[tuple[str, Any]], repeats: int
) -> None:
    inner = [{"name": f"f{at}", "type": kind} for at, (kind, _) in enumerate(fields)]
    arrays = [{"name": f"a{at}", "type": f"{kind}[]"} for at, (kind, _) in enumerate(fields)]
    value = {f"f{at}": value for at, (_, value) in enumerate(fields)}
    value |= {f"a{at}": [value] * repeats for at, (_, value) in enumerate(fields)}
    typed_data = typed("Inner[][2]", [[value], [value, value]], Inner=inner + arrays)
    signature = LocalSigner.from_account(COW).sign_typed_data(typed_data)
    message = encode_typed_data(full_message=copy.deepcopy(typed_data))
    assert Account.recover_message(message, signature=signature) == COW.address
    assert recover(typed_data, signature) == COW.address


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("bool", "false", "True or False"),
        ("bool", "no", "True or False"),
        ("bool", 1, "True or False"),
        ("bool", None, "True or False"),
        ("uint8", 256, "between 0 and 255"),
        ("uint8", -1, "between 0 and 255"),
        ("int8", 128, "between -128 and 127"),
        ("uint8", True, "integer"),
        ("uint8", 1.0, "integer"),
        ("uint8", "one", "integer"),
        ("uint12", 1, "does not define"),
        ("bytes4", "0x00", "1 bytes"),
        ("bytes4", "text", "0x hex"),
        ("bytes", 5, "0x hex"),
        ("string", 5, "a string"),
        ("string", "\ud800", "an unpaired surrogate"),
        ("string", None, "a string"),
        ("address", "0x12", "address"),
        ("address", 5, "40 hex digits"),
        ("uint8[2]", [1], "1 items"),
        ("uint8[]", "12", "a list"),
        ("uint8[]", [1, "x"], r"value\[1\]"),
        ("fixed128x18", 1, "does not define"),
        ("Other", {}, "does not define"),
        ("Inner", {}, "has no member 'a'"),
        ("Inner", 5, "a dictionary"),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_refused_and_not_converted(kind: str, value: Any, told: str) -> None:
    typed_data = typed(kind, value, Inner=[{"name": "a", "type": "bool"}])
    with pytest.raises(SigningError, match=told):
        LocalSigner.from_account(COW).sign_typed_data(typed_data)
    with pytest.raises(SigningError):
        recover(typed_data, bytes(65))


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"types": 5, "primaryType": "Thing", "domain": {}, "message": {}},
        {"types": {"Thing": 5}, "primaryType": "Thing", "domain": {}, "message": {}},
        {"types": {"Thing": []}, "primaryType": ["Thing"], "domain": {}, "message": {}},
        {"types": {"Thing": []}, "primaryType": "Thing", "domain": 5, "message": {}},
        {"types": {"Thing": []}, "primaryType": "Thing", "domain": {}, "message": 5},
        {"types": {"Thing": [], "EIP712Domain": DOMAIN_TYPE[::-1]}, "primaryType": "Thing", "domain": DOMAIN},
        {**MAIL, "types": {**MAIL["types"], "EIP712Domain": DOMAIN_TYPE[::-1]}},
    ],
)
def test_invalid_typed_data_is_a_signing_error(wrong: Any) -> None:
    with pytest.raises(SigningError):
        LocalSigner.from_account(COW).sign_typed_data(wrong)


def test_a_message_of_many_levels_is_refused() -> None:
    value: Any = None
    for _ in range(5_000):
        value = {"value": value}
    typed_data = typed("Thing", value)
    with pytest.raises(SigningError, match="at most 32 levels of structs"):
        typed_data_digest(typed_data)


def test_a_type_may_contain_itself() -> None:
    typed_data = typed("Thing", {"value": {"value": None}})
    assert recover(typed_data, LocalSigner.from_account(COW).sign_typed_data(typed_data)) == COW.address
    theirs = COW.sign_message(encode_typed_data(full_message=copy.deepcopy(typed_data)))
    assert typed_data_digest(typed_data) == bytes(theirs.message_hash)


# --- accounts as signers ------------------------------------------------------------------------------------------


def test_a_signer_can_be_created_from_an_account_and_returns_one() -> None:
    signer = LocalSigner.from_account(COW)
    assert signer.address == COW.address
    assert signer.account == COW
    assert "c85ef7" not in repr(signer)
    for wrong in (None, "0x" + "11" * 32, signer, object()):
        with pytest.raises(SigningError, match="expected an eth-account LocalAccount"):
            LocalSigner.from_account(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, "0x" + "11" * 32, 5, object()])
def test_the_error_for_a_value_that_cannot_sign_lists_the_allowed_values(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="requires a signer, not") as refused:
        as_signer(wrong)
    assert "LocalAccount" in str(refused.value)
    assert "1111" not in str(refused.value)
    with Client("http://127.0.0.1:9") as svc:
        for call in (svc.chain_secured.open, svc.chain_secured.convert):
            with pytest.raises(InvalidArgument, match="requires a signer"):
                call(wrong)


@pytest.mark.parametrize("declared", [True, False], ids=["declared fields", "derived fields"])
def test_a_member_of_the_domain_that_the_signature_would_not_cover_is_rejected(*, declared: bool) -> None:
    typed_data: dict[str, Any] = {
        "types": {"Vote": [{"name": "choice", "type": "uint8"}]},
        "primaryType": "Vote",
        "domain": {"name": "app", "chainID": 1},
        "message": {"choice": 1},
    }
    if declared:
        typed_data["types"]["EIP712Domain"] = [{"name": "name", "type": "string"}]
    with pytest.raises(SigningError, match="'domain' has the member 'chainID', which the signature does not cover"):
        typed_data_digest(typed_data)


def test_an_envelope_of_the_service_with_another_domain_member_is_rejected() -> None:
    signed = sign_flow(LocalSigner.from_key("11" * 32), "CreateWallet", 1, 1).typed_data
    typed_data = signed | {"domain": signed["domain"] | {"verifyingContract": "0x" + "12" * 20}}
    with pytest.raises(SigningError, match="'domain' has the member 'verifyingContract'"):
        typed_data_digest(typed_data)
