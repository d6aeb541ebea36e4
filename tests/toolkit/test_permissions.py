"""Matrix of permissions: the calls that change it, their cost, and warnings."""

from __future__ import annotations

from typing import Any

import pytest

import svcnb
from svcnb import InvalidArgument
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.toolkit.permissions import EVERY, EVERY_GROUP, Change, Matrix, cost_of

ADD = svcnb.Action("const main = ({ n }) => n + 1", name="add")
OTHER = "0x" + "22" * 32
OPS, MASTER = "0x" + "33" * 20, "0x" + "44" * 20
KEY = "0x" + "55" * 32


def matrix(**changes: Any) -> Matrix:
    held: dict[str, Any] = {
        "groups": (1, 2),
        "actions": {1: frozenset({OTHER}), 2: frozenset()},
        "wallets": {1: frozenset(), 2: frozenset()},
        "keys": {KEY: frozenset({1})},
        "cids": {ADD.hashed_cid: ADD.cid},
        "master_wallet": MASTER,
        "names": {KEY: "runner"},
    }
    return Matrix(**held | changes)


def test_members_are_added_and_removed_one_by_one() -> None:
    edits = matrix().edits([
        Change("action", ADD.hashed_cid, 1, on=True),
        Change("action", OTHER, 1, on=False),
        Change("wallet", OPS, 2, on=True),
    ])  # fmt: skip
    assert [edit.code for edit in edits] == [
        f"svc.groups.add_action(1, {ADD.cid!r})",
        f"svc.groups.remove_action(1, {OTHER!r})",
        f"svc.groups.add_wallet(2, {OPS!r})",
    ]
    assert cost_of(edits).cents == 3


def test_an_action_with_an_unknown_cid_rewrites_its_group() -> None:
    (edit,) = matrix(cids={}).edits([Change("action", ADD.hashed_cid, 1, on=True)])
    assert edit.verb == "groups.update"
    assert edit.options == {"actions": sorted([OTHER, ADD.hashed_cid])}


def test_wildcards_are_added_and_removed_together_with_the_other_members() -> None:
    (edit,) = matrix().edits([Change("action", EVERY, 1, on=True)])
    assert edit.code == f"svc.groups.update(1, actions=[svcnb.everything, {OTHER!r}])"
    after = matrix().with_changes([Change("action", EVERY, 1, on=True)])
    (back,) = after.edits([Change("action", EVERY, 1, on=False)])
    assert back.code == f"svc.groups.update(1, actions=[{OTHER!r}])"


def test_all_groups_of_a_key_are_one_call() -> None:
    edits = matrix().edits([Change("key", KEY, 2, on=True), Change("key", KEY, EVERY_GROUP, on=True)])
    assert [edit.code for edit in edits] == [
        f"svc.usage_keys.update({KEY!r}, execute_in_groups=[svcnb.everything, 1, 2])"
    ]
    assert cost_of(edits).cents == 1


def test_a_change_that_changes_nothing_costs_nothing() -> None:
    assert matrix().edits([Change("key", KEY, 1, on=True), Change("action", ADD.hashed_cid, 1, on=False)]) == []
    assert cost_of([]).cents == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("action", EVERY, 1, on=True), "group 1 has a wildcard"),
        (Change("wallet", MASTER, 2, on=True), "group 2 permits the account's master wallet"),
        (Change("wallet", EVERY, 2, on=True), "group 2 permits the account's master wallet"),
        (Change("key", KEY, EVERY_GROUP, on=True), "runner: the key has a wildcard"),
    ],
)
def test_broad_permissions_cause_warnings_before_the_change(change: Change, said: str) -> None:
    assert matrix().warnings() == []
    found = matrix().with_changes([change]).warnings()
    assert any(text.startswith(said) for text in found), found


def test_an_account_without_a_master_wallet_has_no_warning_about_it() -> None:
    assert not any(
        "master" in text
        for text in matrix(master_wallet=None, wallets={1: frozenset({OPS}), 2: frozenset()}).warnings()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("action", OTHER, 7, on=True), "no group 7"),
        (Change("wallet", OPS, EVERY_GROUP, on=True), "no group 0"),
        (Change("key", OTHER, 1, on=True), "no usage key with the hash"),
        (Change("node", OTHER, 1, on=True), "unknown kind of permissions 'node'"),  # type: ignore[arg-type]
    ],
)
def test_an_unknown_cell_is_an_error(change: Change, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        matrix().edits([change])


def read(svc: svcnb.Client) -> Matrix:
    held = [(group, svc.groups.contents(group)) for group in svc.groups.list()]
    return Matrix.of(
        held, svc.usage_keys.list(), cids={ADD.hashed_cid: ADD.cid}, master_wallet=master_wallet_of(svc.wallets.list())
    )


@pytest.mark.chain
@pytest.mark.engine
def test_after_the_calls_the_account_equals_the_matrix(emulator) -> None:
    svc = emulator.client()
    svc = svc.with_key(svc.accounts.create("matrix"))
    hidden = svcnb.Action("const main = () => 'known by hash alone'")
    one, two = svc.groups.create("one", actions=[hidden]), svc.groups.create("two")
    wallet = svc.wallets.create()
    key = svc.usage_keys.create("runner", execute_in_groups=[one])
    credit = svc.billing.balance().available_cents
    steps = [
        [Change("action", ADD.hashed_cid, one.id, on=True), Change("wallet", wallet.address, two.id, on=True)],
        [Change("action", hidden.hashed_cid, two.id, on=True), Change("key", key.api_key_hash, two.id, on=True)],
        [Change("action", EVERY, one.id, on=True), Change("wallet", EVERY, one.id, on=True)],
        [Change("action", EVERY, one.id, on=False), Change("key", key.api_key_hash, EVERY_GROUP, on=True)],
    ]
    spent = 0
    for changes in steps:
        before = read(svc)
        edits = before.edits(changes)
        spent += cost_of(edits).cents
        for edit in edits:
            exec(edit.code, {"svc": svc, "svcnb": svcnb})  # noqa: S102 - what is shown is what runs
        assert read(svc) == before.with_changes(changes)
    assert credit - svc.billing.balance().available_cents == spent
    assert any("master" in text for text in read(svc).warnings())
