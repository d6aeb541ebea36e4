"""Accounts of eth-account can own and change accounts on chain, like the package's own signers."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account

from svcnb import ChainError, Client, ContractWallet, InvalidArgument, LocalSigner, verify
from svcnb.client.signing import sign_flow

pytestmark = [pytest.mark.chain]


def test_every_method_with_a_signer_accepts_an_eth_account(svc: Client, fund: Any) -> None:
    account, heir = Account.create(), Account.create()
    signer = fund(LocalSigner.from_account(account))
    mine = svc.chain_secured.create(account, "treasury")
    assert mine.owner == signer
    assert svc.chain_secured.open(account).describe().admin == account.address
    signed = svc.chain_secured.sign(account, "BillingAuth")
    assert verify(signed.typed_data, signed.signature, account.address)
    assert sign_flow(account, "CreateWallet", 1, 1).address == account.address
    assert ContractWallet("0x" + "c0" * 20, account).signer == signer
    mine.transfer_ownership(heir, confirm=True)
    assert svc.chain_secured.open(heir).describe().admin == heir.address


async def test_an_account_is_accepted_by_the_asynchronous_client(svc: Client, fund: Any) -> None:
    account = Account.create()
    fund(LocalSigner.from_account(account))
    async with svc.to_async() as service:
        await service.chain_secured.create(account, "treasury")
        assert (await service.chain_secured.open(account)).owner == LocalSigner.from_account(account)


def test_a_contract_wallet_without_a_contract_sends_no_transaction(svc: Client, fund: Any, witness: Any) -> None:
    owner = fund(LocalSigner.from_account(Account.create()))
    nothing = ContractWallet(Account.create().address, owner)
    with pytest.raises(ChainError, match="there is no contract at the address"):
        svc.chain_secured.create(nothing, "treasury")
    assert witness.nonce(owner.address) == 0


def test_an_invalid_address_has_one_next_step(svc: Client, fund: Any) -> None:
    mine = svc.chain_secured.create(fund(LocalSigner.from_account(Account.create())), "treasury")
    with pytest.raises(InvalidArgument, match="invalid address") as caught:
        mine.transfer_ownership("me", confirm=True)
    assert str(caught.value).count("Next step") == 1
