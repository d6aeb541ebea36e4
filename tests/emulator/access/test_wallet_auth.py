"""The header X-Wallet-Auth, which the service ignores, accepts, or rejects permanently."""

from __future__ import annotations

import base64
import json
from types import SimpleNamespace
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given, strategies as st

from svcnb.emulator.access.signatures import EnvelopeVerifier
from svcnb.emulator.access.wallet_auth import wallet_of_header
from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.faults import Faults
from svcnb.protocol.typed_data import Flow, envelope
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wallet_auth import decode_wallet_auth, encode_wallet_auth

NOW = 1_700_000_000
CHAIN = 31_337
OWNER = Account.from_key(b"\x11" * 32)


def _header(flow: Flow = Flow.BILLING_AUTH, issued_at: int = NOW, address: str = OWNER.address) -> str:
    typed_data = envelope(flow, address, CHAIN, issued_at)
    signed = OWNER.sign_message(encode_typed_data(full_message=typed_data))
    return encode_wallet_auth(typed_data, "0x" + bytes(signed.signature).hex())


async def _wallet_of(value: str | None, *, contract: bool | Exception = False) -> str | None:
    async def ask(_address: str, _digest: bytes, _signature: bytes) -> bool:
        if isinstance(contract, Exception):
            raise contract
        return contract

    chain: Any = SimpleNamespace(chain_id=CHAIN, is_valid_signature=ask)
    return await wallet_of_header(value, EnvelopeVerifier(chain, Clock(frozen_at=NOW), Faults(), Vocabulary()))


async def test_a_signed_header_proves_its_wallet() -> None:
    assert await _wallet_of(_header()) == OWNER.address.lower()
    assert await _wallet_of(f"  {_header()} ") == OWNER.address.lower()


async def test_the_envelope_may_be_text_within_the_header() -> None:
    inside = json.loads(base64.b64decode(_header()))
    inside["typed_data"] = json.dumps(inside["typed_data"])
    assert await _wallet_of(base64.b64encode(json.dumps(inside).encode()).decode()) == OWNER.address.lower()


async def test_a_contract_wallet_can_sign_the_header() -> None:
    contract = "0x" + "c0" * 20
    assert await _wallet_of(_header(address=contract), contract=True) == contract


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "c2VjcmV0",
        "not base64 at all!",
        base64.b64encode(b"\xff\xfe").decode(),
        base64.b64encode(b"[]").decode(),
        base64.b64encode(b"{}").decode(),
        base64.b64encode(b'{"typed_data": {}}').decode(),
        base64.b64encode(b'{"typed_data": [], "signature": "0x"}').decode(),
        base64.b64encode(b'{"typed_data": {}, "signature": 1}').decode(),
        base64.b64encode(b"[" * 100_000).decode(),
    ],
)
async def test_an_undecodable_header_is_ignored_and_the_key_is_used(value: str | None) -> None:
    assert await _wallet_of(value, contract=True) is None


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (_header(Flow.CREATE_WALLET), "primaryType is 'CreateWallet'"),
        (_header(issued_at=NOW - 301), "301 seconds before"),
        (_header(issued_at=NOW + 301), "301 seconds after"),
        (_header(address="0x" + "12" * 20), "was not made by"),
        (base64.b64encode(b'{"typed_data": {}, "signature": ""}').decode(), "has no"),
        (base64.b64encode(b'{"typed_data": "", "signature": ""}').decode(), "not valid JSON"),
    ],
)
async def test_a_decodable_invalid_header_is_401_with_the_fix(header: str, said: str) -> None:
    with pytest.raises(StructuredError, match=said) as refused:
        await _wallet_of(header)
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert "BillingAuth" in refused.value.fix


@pytest.mark.parametrize("issued_at", [NOW - 300, NOW + 300])
async def test_the_window_includes_its_bounds(issued_at: int) -> None:
    assert await _wallet_of(_header(issued_at=issued_at)) == OWNER.address.lower()


async def test_a_chain_failure_is_503_and_not_401() -> None:
    with pytest.raises(Unavailable) as trouble:
        await _wallet_of(_header(address="0x" + "12" * 20), contract=Unavailable("the chain"))
    assert trouble.value.status == 503


@pytest.mark.slow
@given(st.text())
def test_arbitrary_text_is_ignored_and_never_an_error(value: str) -> None:
    assert decode_wallet_auth(value) is None


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.text()), st.text(st.characters(exclude_categories=["Cs"])))
def test_encoding_and_decoding_are_inverse(typed_data: dict[str, Any], signature: str) -> None:
    assert decode_wallet_auth(encode_wallet_auth(typed_data, signature)) == (typed_data, signature)
