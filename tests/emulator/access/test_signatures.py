"""Order of the checks of a signed request, with a simulated contract wallet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data

from svcnb.emulator.access.signatures import EnvelopeVerifier
from svcnb.emulator.errors import EndpointFailure, Unavailable
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.faults import Faults
from svcnb.protocol.typed_data import Flow, envelope
from svcnb.protocol.vocabulary import Vocabulary

NOW = 1_700_000_000
CHAIN = 31_337
OWNER = Account.from_key(b"\x11" * 32)
OTHER = Account.from_key(b"\x22" * 32)
CONTRACT = "0x" + "c0" * 20


class ContractWallet:
    """Contract wallet that records its calls, and returns the result that the test sets."""

    def __init__(self, *, answer: bool | Exception = False) -> None:
        self.answer = answer
        self.asked: list[tuple[str, bytes, bytes]] = []

    async def __call__(self, address: str, digest: bytes, signature: bytes) -> bool:
        self.asked.append((address, digest, signature))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def _sign(typed_data: dict[str, Any], account: Any = OWNER) -> str:
    signed = account.sign_message(encode_typed_data(full_message=typed_data))
    return "0x" + bytes(signed.signature).hex()


async def _verify(typed_data: object, signature: object, wallet: ContractWallet, **other: Any) -> str:
    chain: Any = SimpleNamespace(chain_id=CHAIN, is_valid_signature=wallet)
    clock = other.get("clock") or Clock(frozen_at=NOW + 0.9)
    verifier = EnvelopeVerifier(chain, clock, Faults(), Vocabulary())
    return await verifier.verify(typed_data, signature, other.get("flow", Flow.CREATE_WALLET))


def _envelope(address: str = OWNER.address, flow: Flow = Flow.CREATE_WALLET, issued_at: int = NOW) -> dict[str, Any]:
    return envelope(flow, address, CHAIN, issued_at)


@pytest.mark.parametrize("flow", Flow)
async def test_a_wallets_own_signature_needs_no_call_of_the_chain(flow: Flow) -> None:
    typed_data, wallet = _envelope(flow=flow), ContractWallet(answer=Unavailable("the chain"))
    assert await _verify(typed_data, _sign(typed_data), wallet, flow=flow) == OWNER.address.lower()
    assert wallet.asked == []


async def test_every_form_of_the_same_signature_is_accepted() -> None:
    import json

    typed_data, wallet = _envelope(), ContractWallet()
    signature = _sign(typed_data)
    parity = f"{int(signature[-2:], 16) - 27:02x}"
    for form in (signature, signature[2:], f" {signature.upper().replace('0X', '0x')}\n", signature[:-2] + parity):
        assert await _verify(json.dumps(typed_data), form, wallet) == OWNER.address.lower()


async def test_a_replay_within_the_window_is_accepted() -> None:
    typed_data, wallet = _envelope(), ContractWallet()
    signature = _sign(typed_data)
    for _ in range(2):
        assert await _verify(typed_data, signature, wallet) == OWNER.address.lower()


@pytest.mark.parametrize("size", [0, 1, 64, 65, 66, 130, 4096])
async def test_the_contract_checks_signatures_of_any_length(size: int) -> None:
    typed_data, wallet = _envelope(CONTRACT), ContractWallet(answer=True)
    signature = b"\x1b" * size
    assert await _verify(typed_data, "0x" + signature.hex(), wallet) == CONTRACT
    [(address, digest, asked)] = wallet.asked
    assert (address, asked) == (CONTRACT, signature)
    assert digest == bytes(OWNER.sign_message(encode_typed_data(full_message=typed_data)).message_hash)


async def test_the_contract_checks_the_signature_of_its_owner() -> None:
    typed_data = _envelope(CONTRACT)
    signature = _sign(typed_data)
    assert await _verify(typed_data, signature, ContractWallet(answer=True)) == CONTRACT
    with pytest.raises(EndpointFailure, match=f"the recovered address is {OWNER.address.lower()}") as refused:
        await _verify(typed_data, signature, ContractWallet(answer=False))
    assert refused.value.status == 400


async def test_a_strangers_signature_is_rejected_after_the_contracts_check() -> None:
    typed_data, wallet = _envelope(), ContractWallet()
    with pytest.raises(EndpointFailure, match=r"ERC-1271") as refused:
        await _verify(typed_data, _sign(typed_data, OTHER), wallet)
    assert refused.value.status == 400
    assert len(wallet.asked) == 1


async def test_a_short_signature_of_a_plain_wallet_is_refused() -> None:
    with pytest.raises(EndpointFailure, match="no address can be recovered from the signature, which has 64 bytes"):
        await _verify(_envelope(), "0x" + "11" * 64, ContractWallet())


async def test_a_chain_failure_is_503_and_free() -> None:
    with pytest.raises(Unavailable) as trouble:
        await _verify(_envelope(CONTRACT), "0x", ContractWallet(answer=Unavailable("the chain")))
    assert trouble.value.status == 503


async def test_a_signature_for_one_flow_is_refused_by_every_other() -> None:
    for signed in Flow:
        for endpoint in set(Flow) - {signed}:
            typed_data = _envelope(flow=signed)
            signature = _sign(typed_data)
            with pytest.raises(EndpointFailure, match="a signature is valid for one flow only"):
                await _verify(typed_data, signature, ContractWallet(), flow=endpoint)
            # The attacker changed the envelope for this endpoint, so the signature belongs to another address.
            with pytest.raises(EndpointFailure, match="was not made by"):
                await _verify(_envelope(flow=endpoint), signature, ContractWallet(), flow=endpoint)


@pytest.mark.parametrize(
    ("typed_data", "signature", "said"),
    [
        ({"padding": "x" * 5000}, "no hex", "at most 4096"),
        ("text", "no hex", "not valid JSON"),
        ({}, "no hex", "has no"),
        (_envelope() | {"primaryType": "Mail"}, "no hex", "primaryType"),
        (_envelope() | {"domain": {}}, "no hex", "domain has no"),
        (_envelope() | {"types": {}}, "no hex", "types has no"),
        (_envelope(issued_at=NOW - 301), "no hex", "301 seconds before"),
        (_envelope(), "no hex", "the signature is not hex"),
        (_envelope(), None, "signature is null"),
        (_envelope(), "0x" + "00" * 4097, "4097 bytes"),
    ],
)
async def test_every_other_rule_is_checked_before_the_signature_and_the_chain(
    typed_data: object, signature: object, said: str
) -> None:
    wallet = ContractWallet(answer=True)
    with pytest.raises(EndpointFailure, match=said) as refused:
        await _verify(typed_data, signature, wallet)
    assert refused.value.status == 400
    assert wallet.asked == []


async def test_the_servers_clock_decides_in_whole_seconds() -> None:
    clock, wallet = Clock(frozen_at=NOW), ContractWallet()
    typed_data = _envelope()
    signature = _sign(typed_data)
    clock.advance(300.9)
    assert await _verify(typed_data, signature, wallet, clock=clock) == OWNER.address.lower()
    clock.advance(0.1)
    with pytest.raises(EndpointFailure, match="301 seconds before"):
        await _verify(typed_data, signature, wallet, clock=clock)
