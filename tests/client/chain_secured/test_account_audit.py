"""The audit contains every event, and its events add up to the current state of the contract."""

from __future__ import annotations

import pytest

from svcnb import ContractWallet, InvalidArgument, everything
from svcnb.client.chain import history
from svcnb.protocol.contract import events
from svcnb.protocol.hashes import uint256_hex, wallet_lookup_key

pytestmark = pytest.mark.chain


@pytest.fixture
def busy(mine, action):
    """Returns an account with a history."""
    wallet = mine.wallets.create("ops")
    spare = mine.wallets.create("spare")
    group = mine.groups.create("signers", wallets=[wallet], actions=[action])
    mine.groups.create("short-lived")
    mine.groups.delete(2)
    mine.actions.register(action)
    key = mine.usage_keys.create("runner", execute_in_groups=[group], can_create_groups=True, expires_in="30d")
    mine.groups.add_wallet(group, spare)
    mine.groups.update(group, name="signers", actions=[action, everything], wallets=[wallet])
    mine.usage_keys.update(key, can_create_groups=False)
    mine.wallets.delete(spare)
    return mine


def test_every_log_of_the_account_is_in_the_audit_in_order(busy, witness) -> None:
    """web3 counts all logs of the contract whose first topic is the account's hash."""
    logs = witness.web3.eth.get_logs(
        {"address": witness.contract.address, "fromBlock": 0, "topics": [None, busy.api_key_hash]}
    )
    names = {topic: event.name for topic, event in events().items()}
    told = [(entry.event, entry.block, entry.transaction) for entry in busy.audit()]
    assert told == [(names[log["topics"][0]], log["blockNumber"], "0x" + log["transactionHash"].hex()) for log in logs]
    times = [witness.web3.eth.get_block(log["blockNumber"])["timestamp"] for log in logs]
    assert [int(entry.time.timestamp()) for entry in busy.audit()] == times


@pytest.mark.slow
def test_names_and_initial_contents_are_in_the_audit(busy, action) -> None:
    told = [entry.what for entry in busy.audit()]
    wallet = busy.wallets.list()[0].address[:10]
    assert told[0].startswith("create the account 'treasury' as ChainSecured")
    made = f"create group 'signers', which permits action {action.hashed_cid[:10]}…, wallet 'ops' {wallet}…"
    assert made in told
    assert "remove group 2 'short-lived', irreversibly" in told
    assert "set usage key 'runner', which can execute in group 1 'signers'; create groups" in told
    assert "set usage key 'runner', which can execute in group 1 'signers'" in told
    now = f"action 'increment', every action, wallet 'ops' {wallet}…"
    replaced = f"replace group 1 'signers' with 'signers', which permits {now}"
    assert replaced in told


def test_the_audit_is_a_frame(busy) -> None:
    frame = busy.audit().to_frame()
    assert list(frame.columns) == ["block", "time", "who", "what", "event", "transaction"]
    assert len(frame) == len(busy.audit())
    assert frame["block"].is_monotonic_increasing
    until = busy.receipts[3].block
    assert list(busy.audit(until_block=until).to_frame()["block"].unique())[-1] == until


@pytest.mark.slow
def test_the_state_computed_from_events_equals_the_state_of_the_contract(busy, witness) -> None:
    number = int(busy.api_key_hash, 16)
    past = busy._session.drive(history.read(busy._account.chain, number))
    rights = past.at(None)
    assert rights.admin == busy.owner.address.lower()
    assert set(rights.groups) == {entry[0] for entry in witness.read("listGroups", number, 0, 100)}
    for group, found in rights.groups.items():
        metadata, cids, wallets = witness.read("listGroupContents", number, group)
        assert (found.name, found.actions, found.wallets) == (
            metadata[1],
            set(cids),
            {item.lower() for item in wallets},
        )
    (entry,) = witness.read("listApiKeys", number, 0, 100)
    (hashed,) = rights.keys
    arguments = rights.keys[hashed].arguments
    assert arguments is not None
    assert (hashed, rights.keys[hashed].expiration, list(arguments["executeInGroups"])) == (
        entry[1],
        entry[2],
        entry[4],
    )
    assert (arguments["createGroups"], arguments["deleteGroups"], arguments["createPKPs"]) == entry[5:8]
    assert set(rights.names.wallets) == {item[1].lower() for item in witness.read("listPkps", number, 0, 100)}


def test_a_diff_contains_added_and_removed_permissions(busy) -> None:
    made = next(item.block for item in busy.receipts if item.what.startswith("create group 'signers'"))
    wallet, spare = busy.wallets.list()[0].address[:10], busy.receipts[2].what.split("'spare' ")[1]
    changes = {(item.change, item.subject, item.permission) for item in busy.diff(made)}
    assert ("+", "group 1 'signers'", "permits every action") in changes
    assert ("+", "usage key 'runner'", "can execute in group 1 'signers'") in changes
    assert ("-", "wallet", f"wallet 'spare' {spare} is registered") in changes
    assert not any("create groups" in item[2] for item in changes)  # added and removed between the two blocks
    assert not any(wallet in item[2] and item[0] == "-" for item in changes)
    assert list(busy.diff(busy.receipts[-1].block)) == []
    assert list(busy.diff(made, made)) == []


def test_anyone_can_also_read_an_account_in_api_mode(svc) -> None:
    account = svc.accounts.create("watched")
    api = svc.with_key(account.api_key)
    api.groups.create("relayed", actions=everything)
    seen = svc.chain_secured.look(account.api_key_hash)
    assert [(entry.event, entry.who.split(" 0x")[0]) for entry in seen.audit()] == [
        ("AccountCreated", "API payer"),
        ("WalletDerivationRegistered", "API payer"),
        ("GroupAdded", "API payer"),
    ]
    assert seen.audit()[-1].what == "create group 'relayed', which permits every action"
    assert [item.name for item in seen.groups.list()] == ["relayed"]


def test_the_error_for_the_hash_of_a_usage_key_names_its_account(svc) -> None:
    account = svc.accounts.create("watched")
    key = svc.with_key(account.api_key).usage_keys.create("runner", execute_in_groups=everything)
    seen = svc.chain_secured.look(key.api_key_hash)
    for read in (seen.audit, seen.permissions, lambda: seen.diff(1)):
        with pytest.raises(InvalidArgument, match=f"{key.api_key_hash} is the hash of a usage key") as caught:
            read()
        assert f"look('{account.api_key_hash}')" in caught.value.hint


def test_the_error_for_the_alias_of_a_new_owner_names_the_expected_hash(svc, mine, fund) -> None:
    mine.transfer_ownership(second := fund(), confirm=True)
    alias = uint256_hex(wallet_lookup_key(second.address))
    with pytest.raises(InvalidArgument, match=f"no event for an account with the hash {alias}") as caught:
        svc.chain_secured.look(alias).audit()
    assert "the attribute api_key_hash of an account" in caught.value.hint


def test_the_audit_decodes_calls_inside_a_contract_wallets_call(emulator, svc, fund) -> None:
    keeper = fund()
    vault = ContractWallet(emulator.contract_wallet(keeper.address), keeper)
    ours = svc.chain_secured.create(vault, "vault")
    ours.groups.create("inside", actions=everything)
    first, second = ours.audit()
    assert first.what.startswith("create the account 'vault' as ChainSecured")
    assert second.what == "create group 'inside', which permits every action"
    assert second.who == f"admin {vault.address[:10].lower()}… (contract), signed by {keeper.address[:10].lower()}…"


@pytest.mark.slow
def test_permissions_are_computed_from_the_history(busy) -> None:
    said = [(item.subject, item.permission) for item in busy.permissions()]
    assert ("group 1 'signers'", "permits every action") in said
    assert ("account", f"belongs to {busy.owner.address}") in said
    assert not any("short-lived" in subject for subject, _ in said)
    earlier = [item.permission for item in busy.permissions(until_block=busy.receipts[0].block)]
    assert sorted(earlier) == [f"belongs to {busy.owner.address}", "is ChainSecured"]
