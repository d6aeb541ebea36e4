"""The life cycle of an account over HTTP and JSON-RPC: API mode, ChainSecured, and a contract wallet."""

from __future__ import annotations

from typing import Any

import pytest

from svcnb import Action, BadRequest, ChainError, Client, ContractWallet, Forbidden, NotConfirmed, Unauthorized
from svcnb.client.errors import SvcnbError
from svcnb.client.models.wallets import Wallet

pytestmark = [pytest.mark.chain, pytest.mark.engine]

SIGN = Action(
    """async function main({ pkp, text }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId: pkp }));
  return { address: wallet.address.toLowerCase(), signature: await wallet.signMessage(text) };
}""",
    name="sign",
)


def test_an_account_is_converted_used_and_transferred(emulator, svc, fund, witness) -> None:  # noqa: PLR0915 - a life is long
    # --- API mode: groups, wallets, keys, credit
    account = svc.accounts.create("life")
    api = svc.with_key(account.api_key)
    api.billing.top_up(500)
    wallet = api.wallets.create()
    group = api.groups.create("signers", wallets=[wallet], actions=[SIGN])
    key = api.usage_keys.create("runner", execute_in_groups=[group])
    api.actions.register(SIGN)
    before = svc.with_key(key).run(SIGN, pkp=wallet.address, text="hello").response
    assert before["address"] == wallet.address
    credit = api.billing.balance().available_cents

    def signed(by: Client, pkp: Wallet, text: str) -> Any:
        """Runs an action, subtracts its recorded cost from the expected credit, and returns its response."""
        nonlocal credit
        run = by.run(SIGN, pkp=pkp.address, text=text)
        credit -= emulator.run_record(run.request_id)["cost_cents"]
        return run.response

    def everything_still_runs() -> None:
        assert signed(svc.with_key(key), wallet, "hello") == before
        assert svc.with_key(key).billing.balance().available_cents == credit

    # --- conversion to a wallet with a key
    first = fund()
    with pytest.raises(NotConfirmed) as asked:
        api.accounts.convert(first)
    assert any("cannot return" in sentence for sentence in asked.value.consequences)
    assert api.accounts.exists() is True
    mine = api.accounts.convert(first, confirm=True)
    assert mine.api_key_hash == account.api_key_hash
    assert mine.describe().admin == first.address
    assert mine.describe().billing_wallet.lower() == account.wallet_address
    everything_still_runs()
    # The account key can still read and run, but no longer write.
    assert [item.name for item in api.groups.list()] == ["signers"]
    assert signed(api, wallet, "hello") == before
    for write in (lambda: api.groups.create("no"), api.wallets.create, lambda: api.usage_keys.delete(key)):
        with pytest.raises(Forbidden):
            write()
    with pytest.raises(BadRequest, match="already"):
        api.accounts.convert(fund(), confirm=True)
    assert api.billing.balance().available_cents == credit

    # --- the wallet's own writes
    second_wallet = mine.wallets.create("second")
    mine.groups.add_wallet(group, second_wallet)
    second_key = mine.usage_keys.create("second runner", execute_in_groups=[group], expires_in="30d")
    assert signed(svc.with_key(second_key), second_wallet, "again")["address"] == second_wallet.address
    assert mine.billing.balance().available_cents == credit

    # --- transfer to a contract wallet
    keeper = fund()
    vault = ContractWallet(emulator.contract_wallet(keeper.address), keeper)
    with pytest.raises(NotConfirmed, match="a contract"):
        mine.transfer_ownership(vault)
    handed = mine.transfer_ownership(vault, confirm=True)
    assert (handed.previous_admin, handed.admin) == (first.address, vault.address)
    ours = svc.chain_secured.open(vault)
    assert ours.api_key_hash == account.api_key_hash
    everything_still_runs()
    third = ours.wallets.create("third")
    ours.groups.add_wallet(group, third)
    assert signed(svc.with_key(second_key), third, "x")["address"] == third.address
    assert ours.billing.balance().available_cents == credit
    assert svc.with_key(key).billing.balance().available_cents == credit

    # --- the service and the contract reject old owners
    nonce = witness.nonce(first.address)
    with pytest.raises(ChainError) as refused:
        mine.groups.create("no")
    assert refused.value.name == "NoAccountAccess"
    with pytest.raises(ChainError, match="now belongs to"):
        svc.chain_secured.open(first)
    with pytest.raises(ChainError) as refused:
        ours.transfer_ownership(first, confirm=True)
    assert refused.value.name == "AccountAlreadyExists"
    with pytest.raises(Forbidden):
        api.groups.create("no")
    assert witness.nonce(first.address) == nonce
    # After its deletion, the key is unknown.
    ours.usage_keys.delete(key)
    with pytest.raises(Unauthorized):
        svc.with_key(key).run(SIGN, pkp=wallet.address, text="hello")

    # --- the audit contains all changes in order
    told = [entry.event for entry in ours.audit()]
    assert told == [
        "AccountCreated",
        "WalletDerivationRegistered",  # the account's master wallet
        "WalletDerivationRegistered",
        "GroupAdded",
        "WalletDerivationRegistered",  # the usage key's wallet
        "UsageApiKeySet",
        "ActionAdded",
        "AccountConvertedToChainSecured",
        "WalletDerivationRegistered",
        "PkpAddedToGroup",
        "WalletDerivationRegistered",
        "UsageApiKeySet",
        "ChainSecuredAccountOwnershipTransferred",
        "WalletDerivationRegistered",
        "PkpAddedToGroup",
        "UsageApiKeyRemoved",
    ]
    who = [entry.who.split(" 0x")[0] for entry in ours.audit()]
    assert who == ["API payer"] * 8 + ["admin"] * 8
    assert [item.who.count("signed by") for item in ours.audit()] == [0] * 13 + [1] * 3
    assert int(ours.api_key_hash, 16) == int(account.api_key_hash, 16)


@pytest.mark.slow
async def test_the_asynchronous_client_performs_the_same_operations(emulator, fund) -> None:
    owner, keeper = fund(), fund()
    async with emulator.async_client() as svc:
        mine = await svc.chain_secured.create(owner, "async")
        wallet = await mine.wallets.create("first")
        group = await mine.groups.create("signers", wallets=[wallet], actions=[SIGN])
        key = await mine.usage_keys.create("runner", execute_in_groups=[group])
        await mine.billing.top_up(500)
        run = await svc.with_key(key).run(SIGN, pkp=wallet.address, text="x")
        assert run.response["address"] == wallet.address
        vault = ContractWallet(emulator.contract_wallet(keeper.address), keeper)
        with pytest.raises(NotConfirmed):
            await mine.transfer_ownership(vault)
        await mine.transfer_ownership(vault, confirm=True)
        ours = await svc.chain_secured.open(vault)
        assert ours.api_key_hash == mine.api_key_hash
        spent = emulator.run_record(run.request_id)["cost_cents"]
        assert (await ours.billing.balance()).available_cents == 500 - spent
        assert [item.event for item in await ours.audit()][-1] == "ChainSecuredAccountOwnershipTransferred"
        account = await svc.accounts.create("to convert")
        api = svc.with_key(account.api_key)
        with pytest.raises(SvcnbError, match="owns or previously owned an account"):
            await api.accounts.convert(owner, confirm=True)
        converted = await api.accounts.convert(fund(), confirm=True)
        assert converted.api_key_hash == account.api_key_hash


@pytest.mark.slow
async def test_the_asynchronous_client_changes_and_removes_the_created_objects(emulator, fund) -> None:
    async with emulator.async_client() as svc:
        mine = await svc.chain_secured.create(fund(), "async")
        wallet, second = await mine.wallets.create("first"), await mine.wallets.create("second")
        group = await mine.groups.create("signers", wallets=[wallet], actions=[SIGN])
        key = await mine.usage_keys.create("runner", execute_in_groups=[group])
        await mine.groups.update(group, name="renamed")
        await mine.groups.add_wallet(group, second)
        await mine.groups.remove_wallet(group, wallet)
        await mine.groups.remove_action(group, SIGN)
        contents = await mine.groups.contents(group)
        assert [each.name for each in await mine.groups.list()] == ["renamed"]
        assert [each.address for each in contents.wallets] == [second.address]
        assert not (await mine.explain(key, SIGN)).allowed
        await mine.groups.add_action(group, SIGN)
        assert (await mine.explain(key, SIGN, second)).allowed
        assert (await mine.usage_keys.check(key)).resolves
        await mine.usage_keys.update_metadata(key, name="named")
        await mine.actions.register(SIGN, name="sign")
        await mine.actions.update(SIGN, name="signs")
        assert [action.name for action in await mine.actions.list()] == ["signs"]
        assert [each.name for each in await mine.usage_keys.list()] == ["named"]
        assert len(await mine.permissions()) >= 1
        await mine.actions.delete(SIGN)
        await mine.usage_keys.delete(key)
        await mine.groups.delete(group)
        await mine.wallets.delete(second)
        assert [
            len(each) for each in (await mine.actions.list(), await mine.usage_keys.list(), await mine.groups.list())
        ] == [0, 0, 0]
        looked = await svc.chain_secured.look(mine.api_key_hash)
        assert [each.name for each in await looked.wallets.list()] == ["first", "API Key Wallet"]
        assert await svc.chain_secured.drift() == ()
