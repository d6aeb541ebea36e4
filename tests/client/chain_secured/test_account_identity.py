"""The client finds the master hash of an account in the events, for every current owner."""

from __future__ import annotations

import pytest
from eth_utils.crypto import keccak

from svcnb import ChainError, LocalSigner
from svcnb.client.errors import InvalidArgument

pytestmark = pytest.mark.chain


def lookup_key(address: str) -> str:
    return "0x" + keccak(hexstr=address).hex()


def test_an_account_created_chain_secured_has_the_hash_of_its_first_owner(mine) -> None:
    assert mine.api_key_hash == lookup_key(mine.owner.address)


def test_a_converted_account_keeps_the_hash_of_its_key(svc, fund) -> None:
    account = svc.accounts.create("converted")
    owner = fund()
    svc.with_key(account.api_key).accounts.convert(owner, confirm=True)
    found = svc.chain_secured.open(owner)
    assert found.api_key_hash == account.api_key_hash == "0x" + keccak(text=account.api_key.reveal()).hex()
    assert found.api_key_hash != lookup_key(owner.address)


def test_only_the_last_owner_finds_an_account_that_was_transferred_twice(svc, mine, fund) -> None:
    second, third = fund(), fund()
    mine.transfer_ownership(second, confirm=True)
    svc.chain_secured.open(second).transfer_ownership(third.address, confirm=True)
    assert svc.chain_secured.open(third).api_key_hash == mine.api_key_hash
    for former in (mine.owner, second):
        with pytest.raises(ChainError, match=f"now belongs to {third.address}"):
            svc.chain_secured.open(former)


def test_the_error_for_a_wallet_without_an_account_explains_how_to_create_one(svc) -> None:
    with pytest.raises(ChainError, match="does not own an account") as caught:
        svc.chain_secured.open(LocalSigner.random())
    assert caught.value.name == "AccountDoesNotExist"
    assert "svc.chain_secured.create" in caught.value.hint


def test_the_caller_can_pass_the_master_hash_if_a_node_keeps_no_events(svc, mine, fund) -> None:
    assert svc.chain_secured.open(mine.owner, api_key_hash=mine.api_key_hash).api_key_hash == mine.api_key_hash
    with pytest.raises(ChainError, match="belongs to"):
        svc.chain_secured.open(fund(), api_key_hash=mine.api_key_hash)
    with pytest.raises(InvalidArgument):
        svc.chain_secured.open(mine.owner, api_key_hash="0x12")


@pytest.mark.slow
def test_logs_are_read_in_parts_if_the_node_limits_the_range(svc, mine, monkeypatch) -> None:
    """Public nodes limit the blocks of one eth_getLogs. Their error messages differ."""
    from svcnb.client.chain import access
    from svcnb.client.chain.rpc import RpcError

    ask = access.ChainAccess.rpc
    spans = []

    def limited(self, method, *params):
        if method == "eth_getLogs":
            spans.append(int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16))
            if spans[-1] > 9:
                raise RpcError("query exceeds max block range 10", code=-32005)
        return (yield from ask(self, method, *params))

    monkeypatch.setattr(access.ChainAccess, "rpc", limited)
    assert svc.chain_secured.open(mine.owner).api_key_hash == mine.api_key_hash
    assert max(spans) > 9 >= min(spans)
