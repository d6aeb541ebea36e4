"""Signed envelopes match the vectors, and their signers can be recovered."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from hypothesis import given, strategies as st

from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.signing import (
    ContractWallet,
    LocalSigner,
    Signer,
    recover,
    sign_flow,
    sign_flow_async,
    verify,
)
from svcnb.protocol.vocabulary import Vocabulary

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parents[2] / "vectors" / "eip712.json").read_text(encoding="utf-8")
)["vectors"]
OWNER = LocalSigner.from_key("0x" + "11" * 32)
STRANGER = LocalSigner.from_key("0x" + "22" * 32)


async def test_signed_flows_equal_the_vectors() -> None:
    for vector in VECTORS:
        wanted = {"typed_data": vector["typed_data"], "signature": vector["signature"]}
        signer = LocalSigner.from_key(vector["private_key"])
        facts = (
            vector["typed_data"]["primaryType"],
            int(vector["typed_data"]["domain"]["chainId"]),
            int(vector["typed_data"]["message"]["issuedAt"]),
        )
        assert sign_flow(signer, *facts).as_request() == wanted, vector["name"]
        assert (await sign_flow_async(signer, *facts)).as_request() == wanted, vector["name"]
        assert recover(vector["typed_data"], vector["signature"]) == vector["address"]
        assert verify(vector["typed_data"], vector["signature"], vector["address"].lower())


def test_an_envelope_has_properties_and_hides_its_signature() -> None:
    signed = sign_flow(OWNER, "ConvertAccount", 31_337, 1_700_000_000)
    assert (signed.flow, signed.address, signed.issued_at) == ("ConvertAccount", OWNER.address, 1_700_000_000)
    assert repr(signed) == f"SignedEnvelope(ConvertAccount, {OWNER.address}, issued_at=1700000000)"
    assert signed.signature not in signed._repr_html_()
    assert "Svc ChainSecured" in signed._repr_html_()


def test_the_billing_header_is_base64_of_json() -> None:
    signed = sign_flow(OWNER, "BillingAuth", 1, 1)
    [(name, value)] = signed.as_headers().items()
    assert name == "X-Wallet-Auth"
    assert json.loads(base64.b64decode(value)) == signed.as_request()


def test_only_a_billing_signature_becomes_a_billing_header() -> None:
    with pytest.raises(InvalidArgument, match="this signature is for CreateWallet"):
        sign_flow(OWNER, "CreateWallet", 1, 1).as_headers()


def test_the_name_of_the_service_is_signed() -> None:
    signed = sign_flow(OWNER, "CreateWallet", 1, 1, vocabulary=Vocabulary("acme"))
    assert signed.typed_data["domain"]["name"] == "Acme ChainSecured"
    assert signed.signature != sign_flow(OWNER, "CreateWallet", 1, 1).signature


def test_a_contract_wallet_puts_its_own_address_into_the_envelope() -> None:
    wallet = ContractWallet("0x" + "c0" * 20, OWNER)
    signed = sign_flow(wallet, "CreateWallet", 1, 1)
    assert signed.address == wallet.address
    assert recover(signed.typed_data, signed.signature) == OWNER.address
    assert not verify(signed.typed_data, signed.signature, wallet.address)


@pytest.mark.parametrize(
    ("flow", "chain_id", "issued_at"), [("Wallet", 1, 1), ("CreateWallet", -1, 1), ("CreateWallet", 1, 1.5)]
)
def test_a_flow_that_every_server_rejects_is_not_signed(flow: str, chain_id: int, issued_at: Any) -> None:
    with pytest.raises(InvalidArgument):
        sign_flow(OWNER, flow, chain_id, issued_at)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        (None, "the wallet returned a signature of type NoneType: expected a string with 0x followed by hex digits"),
        ("11" * 65, "the signature from the wallet does not start with 0x: expected 0x followed by hex digits"),
    ],
)
async def test_an_invalid_signature_of_a_wallet_is_an_error(signature: object, message: str) -> None:
    class Broken(Signer):
        address = OWNER.address

        def sign_typed_data(self, typed_data: dict[str, Any]) -> Any:  # noqa: ARG002 - the signature is given
            return signature

    with pytest.raises(SigningError, match=message):
        sign_flow(Broken(), "CreateWallet", 1, 1)
    with pytest.raises(SigningError, match=message):
        await sign_flow_async(Broken(), "CreateWallet", 1, 1)


@given(message=st.text(st.characters(exclude_categories=["Cs"])) | st.binary())
def test_messages_are_recovered_as_eth_account_recovers_them(message: str | bytes) -> None:
    signature = OWNER.sign_message(message)
    text = {"text": message} if isinstance(message, str) else {"primitive": message}
    assert Account.recover_message(encode_defunct(**text), signature=signature) == OWNER.address
    assert recover(message, signature) == recover(message, bytes.fromhex(signature[2:])) == OWNER.address
    assert verify(message, signature, OWNER.address)
    assert not verify(message, signature, STRANGER.address)


def test_one_changed_member_results_in_another_signer() -> None:
    signed = sign_flow(OWNER, "CreateWallet", 1, 1)
    for part, member, value in (("message", "issuedAt", "2"), ("domain", "chainId", "2"), ("domain", "version", "2")):
        changed = json.loads(json.dumps(signed.typed_data))
        changed[part][member] = value
        theirs = Account.recover_message(encode_typed_data(full_message=changed), signature=signed.signature)
        assert recover(changed, signed.signature) == theirs != OWNER.address


def test_a_malformed_signature_is_an_error() -> None:
    with pytest.raises(SigningError, match="64 bytes: expected 65"):
        recover("hello", "0x" + "11" * 64)
    with pytest.raises(SigningError, match="not hex"):
        recover("hello", "0xzz")
    assert not verify("hello", "0x" + "11" * 64, OWNER.address)
    assert not verify("hello", bytes(65), OWNER.address)
    with pytest.raises(SigningError, match="invalid address"):
        verify("hello", bytes(65), "0x12")
    with pytest.raises(SigningError, match="not hex"):
        verify("hello", "0xzz", OWNER.address)
