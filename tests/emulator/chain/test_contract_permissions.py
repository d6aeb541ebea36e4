"""Permissions to run actions and to use wallets.

Source: docs/service/permissions.md#running-an-action, docs/service/permissions.md#using-a-wallet,
    docs/service/contract.md#views.
"""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

T0 = 1_750_000_000
W1, W2, W3 = ("0x" + digit * 40 for digit in "123")
ZERO = "0x" + "0" * 40
USAGE, A, B, C = 0xBEEF, 5, 6, 7


@pytest.fixture
def own(world: World, alice: Actor) -> int:
    """Four groups: A with wallet 1, B with wallet 2, any action with wallet 1, and A with any wallet."""
    own = world.hash_of(alice)
    for path, wallet in enumerate((W1, W2), 1):
        alice.send("registerWalletDerivation", own, wallet, path, "", "")
    for cids, wallets in (([A], [W1]), ([B], [W2]), ([0], [W1]), ([A], [ZERO])):
        alice.send("addGroup", own, "g", "", cids, wallets)
    return own


def grant(alice: Actor, own: int, *groups: int, expiration: int = 0) -> None:
    alice.send("setUsageApiKey", own, USAGE, expiration, 0, "", "", False, False, False, [], [], [], list(groups))


def runs(alice: Actor, key: int, action: int) -> bool:
    """Returns whether the key may run the action, according to every view function for this question."""
    answers = {
        alice.ask("canExecuteAction", key, action),
        alice.ask("canExecuteActionFast", key, action),
        alice.ask("canExecuteActionAndUseWallet", key, action, W1)[0],
    }
    (answer,) = answers
    return bool(answer)


def uses(alice: Actor, key: int, action: int, wallet: str) -> bool:
    """Returns whether the action may use the wallet, according to every view function for this question."""
    answers = {
        alice.ask("canUseWalletInAction", key, action, wallet),
        alice.ask("canUseWalletInActionFast", key, action, wallet),
        alice.ask("canExecuteActionAndUseWallet", key, action, wallet)[1],
    }
    (answer,) = answers
    return bool(answer)


def test_a_scoped_key_runs_what_its_groups_permit(alice: Actor, own: int) -> None:
    grant(alice, own)
    assert not runs(alice, USAGE, A)
    grant(alice, own, 1)
    assert [runs(alice, USAGE, action) for action in (A, B, C)] == [True, False, False]
    grant(alice, own, 1, 2)
    assert [runs(alice, USAGE, action) for action in (A, B, C)] == [True, True, False]
    grant(alice, own, 3)
    assert [runs(alice, USAGE, action) for action in (A, B, C)] == [True, True, True]


def test_a_group_that_does_not_exist_permits_nothing(alice: Actor, own: int) -> None:
    grant(alice, own, 1, 404)
    alice.send("removeGroup", own, 1)
    assert not runs(alice, USAGE, A)
    assert not uses(alice, USAGE, A, W1)


def test_a_wildcard_key_runs_registered_and_unregistered_actions(alice: Actor, own: int) -> None:
    grant(alice, own, 0)
    assert runs(alice, USAGE, C)
    assert runs(alice, USAGE, 2**256 - 1)


def test_master_and_alias_can_run_every_action(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    for key in (own, world.hash_of(bob)):
        assert runs(alice, key, C)
        assert uses(alice, key, C, W2)
        assert not uses(alice, key, C, W3), "a wallet that is not in the account is nobody's to use"


def test_one_group_must_contain_the_action_and_the_wallet(alice: Actor, own: int) -> None:
    grant(alice, own, 1, 2)
    assert uses(alice, USAGE, A, W1)
    assert uses(alice, USAGE, B, W2)
    assert not uses(alice, USAGE, A, W2)
    assert not uses(alice, USAGE, B, W1)


def test_wildcards_in_a_group_permit_any_action_and_any_wallet(alice: Actor, own: int) -> None:
    grant(alice, own, 3)
    assert [uses(alice, USAGE, C, wallet) for wallet in (W1, W2)] == [True, False]
    grant(alice, own, 4)
    assert [uses(alice, USAGE, A, wallet) for wallet in (W1, W2, W3)] == [True, True, False]
    assert not uses(alice, USAGE, B, W1)


def test_a_wildcard_key_uses_any_wallet_of_the_account_unless_strict(alice: Actor, own: int) -> None:
    grant(alice, own, 0)
    assert [uses(alice, USAGE, C, wallet) for wallet in (W1, W2, W3)] == [True, True, False]
    strictly = [alice.ask("canUseWalletInActionStrict", USAGE, C, wallet) for wallet in (W1, W2, W3)]
    assert strictly == [True, False, False]  # group 3 permits any action with wallet 1
    assert alice.ask("canUseWalletInActionStrict", USAGE, B, W2) is True
    assert alice.ask("canUseWalletInActionStrict", own, C, W2) is True


def test_a_removed_wallet_can_no_longer_be_used(alice: Actor, own: int) -> None:
    grant(alice, own, 1)
    alice.send("removeWalletDerivation", own, W1)
    assert not uses(alice, USAGE, A, W1)


def test_a_removed_action_can_no_longer_run(alice: Actor, own: int) -> None:
    grant(alice, own, 1)
    alice.send("addAction", own, "", "", A)
    alice.send("removeAction", own, A)
    assert not runs(alice, USAGE, A)


def test_a_key_expires_at_the_exact_second_and_with_zero_never(world: World, alice: Actor, own: int) -> None:
    grant(alice, own, 0, expiration=T0 + 50)
    world.clock.freeze(T0 + 49)
    assert runs(alice, USAGE, A)
    assert uses(alice, USAGE, A, W1)
    assert alice.ask("apiKeyCanExecuteForAnyGroup", USAGE, [1])
    world.clock.freeze(T0 + 50)
    assert not runs(alice, USAGE, A)
    assert not uses(alice, USAGE, A, W1)
    assert not alice.ask("apiKeyCanExecuteForAnyGroup", USAGE, [1])
    assert not alice.ask("canUseWalletInActionStrict", USAGE, A, W1)
    grant(alice, own, 0, expiration=0)
    world.clock.freeze(T0 + 10**9)
    assert runs(alice, USAGE, A)


def test_the_master_is_exempt_from_expiration(world: World, alice: Actor, own: int) -> None:
    world.clock.freeze(T0 + 20 * 365 * 24 * 3600)
    assert runs(alice, own, A)


def test_any_group_of_a_list_is_enough(alice: Actor, own: int) -> None:
    grant(alice, own, 2, 404)
    assert alice.ask("apiKeyCanExecuteForAnyGroup", USAGE, [1, 2]) is True
    assert alice.ask("apiKeyCanExecuteForAnyGroup", USAGE, [1, 3, 404]) is False
    assert alice.ask("apiKeyCanExecuteForAnyGroup", USAGE, []) is False
    assert alice.ask("apiKeyCanExecuteForAnyGroup", own, [1]) is True


def test_groups_are_found_by_action_and_by_both(alice: Actor, own: int) -> None:
    grant(alice, own)
    for key in (own, USAGE):
        assert alice.ask("groupIdsForAction", key, A) == [1, 3, 4]
        assert alice.ask("groupIdsForAction", key, B) == [2, 3]
        assert alice.ask("groupIdsForAction", key, C) == [3]
        assert alice.ask("groupIdsForActionAndWallet", key, A, W1) == [1, 3, 4]
        assert alice.ask("groupIdsForActionAndWallet", key, A, W2) == [4]
        assert alice.ask("groupIdsForActionAndWallet", key, C, W2) == []


def test_one_view_returns_all_relevant_permissions(world: World, alice: Actor, own: int) -> None:
    grant(alice, own, 0, expiration=T0 + 50)
    world.clock.freeze(T0 + 50)
    # account, usage key, expired, runs, registered, uses, uses strictly: the last four without the expiration
    assert alice.ask("checkPermission", USAGE, C, W2) == (own, True, True, True, True, True, False)
    assert alice.ask("checkPermission", own, C, W3) == (own, False, False, True, False, False, False)
    assert alice.ask("checkPermission", 404, C, W1) == (0, False, False, False, False, False, False)
