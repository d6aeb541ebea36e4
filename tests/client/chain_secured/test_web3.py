"""web3 objects that are connected to the service's chain."""

from __future__ import annotations

import pytest
from eth_account import Account
from web3.exceptions import Web3RPCError

import svcnb

pytestmark = pytest.mark.chain

TEN_ETH = 10**19


def test_the_contract_reads_what_the_client_wrote(svc, mine, action) -> None:
    mine.groups.create("readers", actions=[action])
    contract = svc.chain_secured.contract()
    (group,) = contract.functions.listGroups(int(mine.api_key_hash, 16), 0, 10).call()
    assert "readers" in group


def test_an_owner_sends_transactions_that_the_client_sees(svc, mine, owner) -> None:
    contract = svc.chain_secured.contract(owner)
    sent = contract.functions.addGroup(int(mine.api_key_hash, 16), "by web3", "", [], []).transact()
    assert contract.w3.eth.wait_for_transaction_receipt(sent)["status"] == 1
    assert [group.name for group in mine.groups.list()] == ["by web3"]


def test_without_an_owner_nothing_is_sent(emulator, owner) -> None:
    web3 = emulator.web3()
    with pytest.raises(Web3RPCError, match="eth_sendTransaction"):
        web3.eth.send_transaction({"from": owner.address, "to": owner.address, "value": 5})
    assert web3.eth.get_transaction_count(owner.address) == 0


@pytest.mark.parametrize("kind", ["signer", "eth-account"])
def test_the_emulators_web3_object_signs(emulator, fund, kind: str) -> None:
    signer = fund()
    web3 = emulator.web3(signer if kind == "signer" else Account.from_key(bytes(signer.account.key)))
    assert web3.eth.chain_id == emulator.chain_id
    receiver = svcnb.LocalSigner.random().address
    web3.eth.wait_for_transaction_receipt(web3.eth.send_transaction({"to": receiver, "value": 5}))
    assert web3.eth.get_balance(receiver) == 5
    assert web3.eth.get_balance(signer.address) < TEN_ETH


async def test_the_asynchronous_contract_reads_too(emulator, mine) -> None:
    async with emulator.async_client() as svc:
        contract = await svc.chain_secured.contract()
        try:
            assert await contract.functions.listGroups(int(mine.api_key_hash, 16), 0, 10).call() == []
        finally:
            await contract.w3.provider.disconnect()


def test_a_wallet_without_a_local_key_is_rejected(emulator, owner) -> None:
    with pytest.raises(svcnb.InvalidArgument, match="web3 cannot sign with ContractWallet"):
        emulator.web3(svcnb.ContractWallet("0x" + "11" * 20, owner))


def test_connections_to_this_machine_ignore_the_proxy_of_the_environment(emulator, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert emulator.web3().eth.chain_id == emulator.chain_id
