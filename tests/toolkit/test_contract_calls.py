"""Helpers for contracts in tests: their transactions, and the expected reverts."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from svcnb import InvalidArgument, LocalSigner
from svcnb.testing import deploy, reverts, second_form, send, vrs
from svcnb.toolkit.cookbook import recipe

LISTED = True
ACCESS_LIST = recipe("transfer-gate").artifact("AccessList")


def test_both_forms_of_a_signature_have_the_same_signer() -> None:
    account = Account.create()
    message = encode_defunct(text="hello")
    one = "0x" + account.sign_message(message).signature.hex()
    other = second_form(one)
    assert other != one
    assert second_form(other) == one
    assert Account.recover_message(message, vrs=vrs(other)) == account.address


@pytest.mark.parametrize("signature", ["", "0x", "0x" + "00" * 64])
def test_a_signature_of_the_wrong_length_is_rejected(signature: str) -> None:
    with pytest.raises(InvalidArgument, match="65 bytes"):
        vrs(signature)


@pytest.fixture
def w3(emulator: Any) -> Any:
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    return emulator.web3(owner)


@pytest.mark.chain
def test_a_contract_is_deployed_and_called_and_rejects_other_callers(w3: Any) -> None:
    access, someone = deploy(w3, ACCESS_LIST), Account.create().address
    assert send(access.functions.set(someone, LISTED))["gasUsed"] > 21_000
    assert access.functions.listed(someone).call()
    with reverts("NotTheOwner()"):
        access.functions.set(someone, LISTED).call({"from": someone})


@pytest.mark.chain
def test_a_different_revert_or_no_revert_fails_the_check(w3: Any) -> None:
    access, someone = deploy(w3, ACCESS_LIST), Account.create().address
    told = r"error data 0x[0-9a-f]{8}: expected the error NotTheGate\(\) \(data that starts with 0x[0-9a-f]{8}\)"
    with pytest.raises(AssertionError, match=told), reverts("NotTheGate()"):
        access.functions.set(someone, LISTED).call({"from": someone})
    with pytest.raises(AssertionError, match="accepted the call"), reverts("NotTheOwner()"):
        access.functions.listed(someone).call()
