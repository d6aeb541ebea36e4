"""On-chain resources with the methods of API mode. Another library reads their data from the chain."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from eth_account import Account as EthAccount
from eth_utils.crypto import keccak

from svcnb import ChainError, Forbidden, LocalSigner, NotFound, Unauthorized, everything
from svcnb.client.errors import InvalidArgument

pytestmark = [pytest.mark.chain, pytest.mark.engine]


def number(text: str) -> int:
    return int(text, 16)


def test_the_service_creates_a_wallet_and_the_owner_registers_it(mine, witness) -> None:
    wallet = mine.wallets.create("ops", description="for operations")
    (listed,) = mine.wallets.list()
    assert listed == wallet.model_copy(update={"id": "0"})
    assert mine.wallets.get(wallet.address) == listed
    with pytest.raises(NotFound, match="no wallet 0x1111"):
        mine.wallets.get("0x" + "1" * 40)
    assert witness.read(
        "getWalletDerivation", number(mine.api_key_hash), witness.web3.to_checksum_address(wallet.address)
    )
    mine.wallets.delete(wallet)
    assert list(mine.wallets.list()) == []
    # The binding survives the registration (docs/service/keys.md#owners-of-wallets).
    assert witness.read("getPkpOwnerMaster", witness.web3.to_checksum_address(wallet.address)) == number(
        mine.api_key_hash
    )


def test_a_usage_key_is_on_chain_under_the_hash_of_its_bytes(mine, witness) -> None:
    """The id of the record is keccak256 of the 32 secret bytes (docs/service/keys.md#identifiers)."""
    group = mine.groups.create("all", actions=everything)
    key = mine.usage_keys.create("runner", description="runs", execute_in_groups=[group], expires_in="30d")
    secret = base64.b64decode(key.usage_api_key.reveal())
    assert len(secret) == 32
    assert key.api_key_hash == "0x" + keccak(secret).hex()
    (entry,) = witness.read("listApiKeys", number(mine.api_key_hash), 0, 10)
    assert entry[0][1:] == ("runner", "runs")
    assert entry[1] == number(key.api_key_hash)
    assert entry[2] == key.expiration
    now = witness.web3.eth.get_block("latest")["timestamp"]
    assert abs(key.expiration - (now + 30 * 86_400)) < 60
    assert entry[4] == [group.id]
    check = mine.usage_keys.check(key)
    assert (check.resolves, check.form) == (True, "bytes")
    # The key's wallet is also registered, under the service's name for such wallets.
    assert [item.name for item in mine.wallets.list()] == ["API Key Wallet"]
    assert mine.wallets.list()[0].address == EthAccount.from_key(secret).address.lower()


def test_a_usage_key_can_be_on_chain_under_the_hash_of_its_text(svc, mine, action) -> None:
    group = mine.groups.create("adders", actions=[action])
    key = mine.usage_keys.create("runner", execute_in_groups=[group], form="text")
    assert key.api_key_hash == "0x" + keccak(text=key.usage_api_key.reveal()).hex()
    assert mine.usage_keys.check(key).form == "text"
    assert mine.usage_keys.get(key).name == "runner"
    assert mine.groups.get(group) == group
    with pytest.raises(NotFound, match="no group 99"):
        mine.groups.get(99)
    mine.billing.top_up(500)
    assert svc.with_key(key).run(action, n=41).response == 42
    mine.usage_keys.delete(key.usage_api_key)
    check = mine.usage_keys.check(key)
    assert (check.resolves, check.form, check.answer) == (False, None, "unauthorized")


@pytest.mark.slow
def test_the_error_for_an_unresolved_key_contains_the_next_step(start_emulator) -> None:
    emulator = start_emulator()
    svc, owner = emulator.client(), LocalSigner.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "another")
    mine.billing.top_up(500)
    emulator.faults.until_cleared("runtime", status=401)
    with pytest.raises(ChainError, match="did not find the key within") as refused:
        mine.usage_keys.create("late", execute_in_groups=everything, verify=0.3)
    assert refused.value.name == "NotResolved"
    assert "form='text'" in refused.value.hint
    (key,) = mine.usage_keys.list()
    assert key.api_key_hash in refused.value.hint
    (pending,) = svc.chain_secured.pending()
    assert f"svc.chain_secured.resume({pending.id!r}, owner)" in refused.value.__notes__[0]
    found = svc.chain_secured.resume(pending.id, owner)
    assert (found.api_key_hash, mine.usage_keys.check(found).form) == (key.api_key_hash, "bytes")
    assert svc.chain_secured.pending() == []
    assert mine.usage_keys.create("unasked", verify=None).name == "unasked"


def test_a_usage_key_is_changed_renamed_and_removed(svc, mine, action) -> None:
    group = mine.groups.create("adders", actions=[action])
    key = mine.usage_keys.create("runner", execute_in_groups=[group], expires_in="1h", can_create_groups=True)
    changed = mine.usage_keys.update(key, description="less", can_create_groups=False)
    assert (changed.name, changed.description, changed.can_create_groups) == ("runner", "less", False)
    assert changed.expiration == key.expiration
    assert changed.execute_in_groups == (group.id,)
    assert mine.usage_keys.update(key.api_key_hash, never_expires=True).expiration == 0
    renamed = mine.usage_keys.update_metadata(key, name="walker")
    assert [item.name for item in mine.usage_keys.list()] == ["walker"]
    assert renamed.description == "less"
    mine.billing.top_up(500)
    assert svc.with_key(key).run(action, n=1).response == 2
    mine.usage_keys.delete(key)
    with pytest.raises(Unauthorized):
        svc.with_key(key).run(action, n=1)
    with pytest.raises(NotFound, match="no usage key"):
        mine.usage_keys.delete(key)


@pytest.mark.slow
def test_an_expired_key_runs_nothing(start_emulator, fund, action) -> None:
    emulator = start_emulator(clock="frozen@1767225600")
    svc, owner = emulator.client(), fund()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "timed")
    mine.billing.top_up(500)
    group = mine.groups.create("adders", actions=[action])
    key = mine.usage_keys.create("runner", execute_in_groups=[group], expires_in=60)
    assert key.expiration == 1767225660
    assert svc.with_key(key).run(action, n=1).response == 2
    emulator.clock.advance(60)
    with pytest.raises(Forbidden):
        svc.with_key(key).run(action, n=1)
    mine.usage_keys.update(key, expires_in="1d")
    assert svc.with_key(key).run(action, n=1).response == 2


def test_groups_with_more_than_ten_entries_are_created_and_changed_without_loss(mine, witness) -> None:
    hashes = ["0x" + f"{item:064x}" for item in range(1, 13)]
    group = mine.groups.create("many", actions=hashes)
    assert [item.hashed_cid for item in mine.groups.contents(group).actions] == hashes
    mine.groups.update(group, name="renamed")
    assert len(mine.groups.contents(group).actions) == 12
    mine.groups.update(group, actions=[*hashes[1:], "0x" + "ff" * 32], description="changed")
    kept = {item.hashed_cid for item in mine.groups.contents(group).actions}
    assert kept == {*hashes[1:], "0x" + "ff" * 32}
    metadata, cids, wallets = witness.read("listGroupContents", number(mine.api_key_hash), group.id)
    assert metadata[1:] == ("renamed", "changed")
    assert set(cids) == {number(item) for item in kept}
    assert wallets == []
    small = mine.groups.update(group, actions=hashes[:2], wallets=["0x" + "ab" * 20])
    assert (small.name, len(mine.groups.contents(group).actions)) == ("renamed", 2)
    assert [item.address for item in mine.groups.contents(group).wallets] == ["0x" + "ab" * 20]


def test_entries_can_be_added_and_removed_one_by_one(mine, action) -> None:
    wallet = mine.wallets.create()
    group = mine.groups.create("members")
    mine.groups.add_action(group, action)
    mine.groups.add_wallet(group, wallet)
    contents = mine.groups.contents(group)
    assert [item.hashed_cid for item in contents.actions] == [action.hashed_cid]
    assert [item.address for item in contents.wallets] == [wallet.address]
    mine.groups.remove_action(group, action.cid)
    mine.groups.remove_wallet(group, wallet)
    assert mine.groups.contents(group).actions == ()
    gone: dict[str, Callable[[], object]] = {
        "ActionDoesNotExist": lambda: mine.groups.remove_action(group, action),
        "PkpDoesNotExist": lambda: mine.groups.remove_wallet(group, wallet),
        "GroupDoesNotExist": lambda: mine.groups.delete(99),
    }
    for name, again in gone.items():
        with pytest.raises(ChainError) as refused:
            again()
        assert refused.value.name == name
    mine.groups.delete(group)
    assert list(mine.groups.list()) == []


def test_actions_are_registered_renamed_and_deleted(mine, action) -> None:
    mine.actions.register(action, description="adds one")
    mine.actions.update(action, name="plus one")
    (listed,) = mine.actions.list()
    assert (listed.hashed_cid, listed.name, listed.description) == (action.hashed_cid, "plus one", "adds one")
    group = mine.groups.create("adders", actions=[action])
    mine.actions.delete(action)
    assert mine.groups.contents(group).actions == ()
    with pytest.raises(NotFound):
        mine.actions.update(action, name="x")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda mine: mine.groups.create(" "),
        lambda mine: mine.usage_keys.create(""),
        lambda mine: mine.usage_keys.create("k", execute_in_groups=range(1, 52)),
        lambda mine: mine.usage_keys.create("k", expires_in="soon"),
        lambda mine: mine.usage_keys.create("k", expires_in=0),
        lambda mine: mine.usage_keys.create("k", form="hex"),
        lambda mine: mine.wallets.delete(everything),
        lambda mine: mine.groups.add_action(everything, "Qm" + "a" * 44),
        lambda mine: mine.actions.delete(everything),
        lambda mine: mine.transfer_ownership("0x12"),
    ],
)
def test_invalid_references_are_rejected_before_any_request(svc, mine, witness, wrong) -> None:
    before = witness.nonce(mine.owner.address)
    with pytest.raises(InvalidArgument):
        wrong(mine)
    assert witness.nonce(mine.owner.address) == before
    assert list(svc.chain_secured.pending()) == []
