"""Groups, actions and wallets on chain.

Source: docs/service/contract.md#writes, docs/service/contract.md#events, docs/service/keys.md#owners-of-wallets.
"""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from eth_utils.address import to_checksum_address

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

W1, W2, W3 = ("0x" + digit * 40 for digit in "123")
ZERO = "0x" + "0" * 40


@pytest.fixture
def own(world: World, alice: Actor) -> int:
    return world.hash_of(alice)


def contents(actor: Actor, own: int, group: int) -> tuple[Any, ...]:
    metadata, cids, wallets = actor.ask("listGroupContents", own, group)
    return tuple(metadata), cids, wallets


def the_event(world: World, receipt: Any, name: str) -> dict[str, Any]:
    (event,) = world.contract.events[name]().process_receipt(receipt)
    return dict(event["args"])


# --- groups -----------------------------------------------------------------------------------------------------------


def test_groups_count_from_one_and_ids_are_never_used_again(world: World, alice: Actor, own: int) -> None:
    assert alice.ask("addGroup", own, "a", "", [], []) == 1
    receipt = alice.send("addGroup", own, "a", "", [], [])
    assert the_event(world, receipt, "GroupAdded") == {"apiKeyHash": own, "groupId": 1}
    alice.send("addGroup", own, "b", "", [], [])
    receipt = alice.send("removeGroup", own, 2)
    assert the_event(world, receipt, "GroupRemoved") == {"apiKeyHash": own, "groupId": 2}
    assert alice.ask("addGroup", own, "c", "", [], []) == 3
    assert alice.refused("removeGroup", own, 2) == ("GroupDoesNotExist", own, 2)


def test_initial_members_of_a_group_have_no_events(alice: Actor, own: int) -> None:
    receipt = alice.send("addGroup", own, "g", "text", [7, 0, 7], [W1, ZERO])
    assert len(receipt["logs"]) == 1
    assert contents(alice, own, 1) == ((1, "g", "text"), [7, 0], [W1, ZERO])


def test_ten_members_fit_and_eleven_do_not(alice: Actor, own: int) -> None:
    ten = [to_checksum_address(f"0x{n:040x}") for n in range(10)]
    alice.send("addGroup", own, "g", "", list(range(10)), ten)
    eleven = [to_checksum_address(f"0x{n:040x}") for n in range(11)]
    for function, first in (("addGroup", (own,)), ("updateGroup", (own, 1))):
        assert alice.refused(function, *first, "", "", list(range(11)), [])[0] == "InvalidRequest"
        assert alice.refused(function, *first, "", "", [], eleven)[0] == "InvalidRequest"


def test_single_additions_go_beyond_ten(alice: Actor, own: int) -> None:
    alice.send("addGroup", own, "g", "", list(range(1, 11)), [])
    alice.send("addActionToGroup", own, 1, 11)
    assert contents(alice, own, 1)[1] == list(range(1, 12))


def test_updating_replaces_everything(world: World, alice: Actor, own: int) -> None:
    alice.send("addGroup", own, "g", "", [1, 2], [W1])
    alice.send("addActionToGroup", own, 1, 3)
    receipt = alice.send("updateGroup", own, 1, "new", "text", [2, 9], [W2])
    assert the_event(world, receipt, "GroupUpdated") == {"accountApiKeyHash": own, "groupId": 1}
    assert contents(alice, own, 1) == ((1, "new", "text"), [2, 9], [W2])


def test_renaming_a_group_keeps_its_members_and_emits_no_event(alice: Actor, own: int) -> None:
    alice.send("addGroup", own, "g", "", [1], [W1])
    assert not alice.send("updateGroupMetadata", own, 1, "new", "text")["logs"]
    assert contents(alice, own, 1) == ((1, "new", "text"), [1], [W1])


@pytest.mark.parametrize(
    ("function", "arguments"), [("updateGroup", ("n", "d", [], [])), ("updateGroupMetadata", ("n", "d"))]
)
def test_an_update_checks_the_group_before_the_master(
    alice: Actor, own: int, function: str, arguments: tuple[Any, ...]
) -> None:
    alice.send("setUsageApiKey", own, 77, 0, 0, "", "", False, False, False, [], [], [], [])
    assert alice.refused(function, 77, 404, *arguments) == ("GroupDoesNotExist", 77, 404)


def test_adding_and_removing_members_emits_events(world: World, alice: Actor, own: int) -> None:
    alice.send("addGroup", own, "g", "", [], [])
    group = {"apiKeyHash": own, "groupId": 1}
    receipt = alice.send("addActionToGroup", own, 1, 5)
    assert the_event(world, receipt, "ActionAddedToGroup") == group | {"action": 5}
    receipt = alice.send("addPkpToGroup", own, 1, W1)
    assert the_event(world, receipt, "PkpAddedToGroup") == group | {"pkpId": W1}
    receipt = alice.send("removeActionFromGroup", own, 1, 5)
    assert the_event(world, receipt, "ActionRemovedFromGroup") == group | {"action": 5}
    receipt = alice.send("removePkpFromGroup", own, 1, W1)
    assert the_event(world, receipt, "PkpRemovedFromGroup") == group | {"pkpId": W1}
    assert contents(alice, own, 1)[1:] == ([], [])


def test_errors_contain_missing_members_and_groups(alice: Actor, own: int) -> None:
    alice.send("addGroup", own, "g", "", [], [])
    assert alice.refused("removeActionFromGroup", own, 1, 5) == ("ActionDoesNotExist", own, 1, 5)
    assert alice.refused("removePkpFromGroup", own, 1, W1) == ("PkpDoesNotExist", own, 1, W1)
    for function, what in (
        ("addActionToGroup", 5),
        ("removeActionFromGroup", 5),
        ("addPkpToGroup", W1),
        ("removePkpFromGroup", W1),
    ):
        assert alice.refused(function, own, 2, what) == ("GroupDoesNotExist", own, 2)


# --- actions ----------------------------------------------------------------------------------------------------------


def test_adding_an_action_again_renames_it(world: World, alice: Actor, own: int) -> None:
    receipt = alice.send("addAction", own, "first", "", 5)
    assert the_event(world, receipt, "ActionAdded") == {"accountApiKeyHash": own, "actionHash": 5}
    alice.send("addAction", own, "second", "text", 5)
    assert alice.ask("listActions", own, 0, 10) == [(5, "second", "text")]


def test_removing_an_action_removes_it_from_all_groups(world: World, alice: Actor, own: int) -> None:
    alice.send("addAction", own, "a", "", 5)
    for members in ([5, 6], [4, 5], [5]):
        alice.send("addGroup", own, "g", "", members, [])
    receipt = alice.send("removeAction", own, 5)
    assert the_event(world, receipt, "ActionRemoved") == {"accountApiKeyHash": own, "actionHash": 5}
    assert [contents(alice, own, group)[1] for group in (1, 2, 3)] == [[6], [4], []]
    assert alice.ask("groupIdsForAction", own, 5) == []
    assert alice.refused("removeActionFromGroup", own, 1, 5) == ("ActionDoesNotExist", own, 1, 5)
    alice.send("addActionToGroup", own, 1, 5)
    assert contents(alice, own, 1)[1] == [6, 5]


def test_the_cost_of_removing_an_action_is_independent_of_its_groups(alice: Actor, own: int) -> None:
    def removal(groups: int) -> int:
        alice.send("addAction", own, "a", "", 5)
        for _ in range(groups):
            alice.send("addGroup", own, "g", "", [5], [])
        return int(alice.send("removeAction", own, 5)["gasUsed"])

    removal(1)  # the first entry also writes the counter's slot, which costs more
    assert removal(1) == removal(12)


def test_removing_an_unknown_action_succeeds_and_zero_is_refused(world: World, alice: Actor, own: int) -> None:
    receipt = alice.send("removeAction", own, 404)
    assert the_event(world, receipt, "ActionRemoved")["actionHash"] == 404
    assert alice.refused("removeAction", own, 0)[0] == "InvalidRequest"


def test_renaming_needs_a_registered_action_and_emits_no_event(alice: Actor, own: int) -> None:
    assert alice.refused("updateActionMetadata", own, 5, 3, "n", "d") == ("ActionDoesNotExist", own, 3, 5)
    alice.send("addAction", own, "a", "", 5)
    assert not alice.send("updateActionMetadata", own, 5, 3, "n", "d")["logs"]
    assert alice.ask("listActions", own, 0, 10) == [(5, "n", "d")]


# --- wallets ----------------------------------------------------------------------------------------------------------


def test_a_wallet_is_registered_with_its_path(world: World, alice: Actor, own: int) -> None:
    assert alice.ask("getWalletDerivation", own, W1) == 0
    receipt = alice.send("registerWalletDerivation", own, W1, 99, "ops", "text")
    expected = {"apiKeyHash": own, "pkpId": W1, "derivationPath": 99}
    assert the_event(world, receipt, "WalletDerivationRegistered") == expected
    assert alice.ask("getWalletDerivation", own, W1) == 99
    assert alice.ask("listPkps", own, 0, 10) == [(0, W1, "ops", "text")]
    assert (alice.ask("getPkpOwnerMaster", W1), alice.ask("getPathOwnerMaster", 99)) == (own, own)
    assert (alice.ask("pkpCount"), alice.ask("allPkpIdsAt", 1)) == (1, W1)
    assert alice.ask("allPkpIdsAt", 0) == alice.ask("allPkpIdsAt", 2) == ZERO


def test_path_zero_wallet_zero_and_a_second_registration_are_refused(alice: Actor, own: int) -> None:
    assert alice.refused("registerWalletDerivation", own, W1, 0, "", "")[0] == "InvalidRequest"
    assert alice.refused("registerWalletDerivation", own, ZERO, 1, "", "")[0] == "InvalidRequest"
    alice.send("registerWalletDerivation", own, W1, 1, "", "")
    assert alice.refused("registerWalletDerivation", own, W1, 2, "", "")[0] == "InvalidRequest"


def test_wallet_and_path_belong_to_the_first_account_permanently(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    bob.send("newChainSecuredAccount", "", "")
    his = world.hash_of(bob)
    alice.send("registerWalletDerivation", own, W1, 1, "", "")
    assert bob.refused("registerWalletDerivation", his, W1, 2, "", "")[0] == "InvalidRequest"
    assert bob.refused("registerWalletDerivation", his, W2, 1, "", "")[0] == "InvalidRequest"
    assert bob.refused("getWalletDerivation", his, W1)[0] == "InvalidRequest"
    receipt = alice.send("removeWalletDerivation", own, W1)
    assert the_event(world, receipt, "WalletDerivationRemoved") == {"apiKeyHash": own, "pkpId": W1}
    assert alice.ask("getWalletDerivation", own, W1) == 0
    assert bob.refused("registerWalletDerivation", his, W1, 2, "", "")[0] == "InvalidRequest"
    alice.send("registerWalletDerivation", own, W1, 1, "back", "")
    assert alice.ask("pkpCount") == 1


def test_a_wallet_that_is_not_registered_cannot_be_removed(alice: Actor, own: int) -> None:
    assert alice.refused("removeWalletDerivation", own, W1)[0] == "InvalidRequest"


def test_a_wallet_keeps_its_number_after_the_removal_of_others(alice: Actor, own: int) -> None:
    for path, wallet in enumerate((W1, W2, W3), 1):
        alice.send("registerWalletDerivation", own, wallet, path, "", "")
    alice.send("removeWalletDerivation", own, W1)
    assert sorted(entry[:2] for entry in alice.ask("listPkps", own, 0, 10)) == [(1, W2), (2, W3)]


# --- lists ------------------------------------------------------------------------------------------------------------


PAGES: tuple[tuple[int, int, list[int]], ...] = (
    # page, size, and the expected part of 1 to 5
    (0, 2, [1, 2]),
    (1, 2, [3, 4]),
    (2, 2, [5]),
    (3, 2, []),
    (0, 5, [1, 2, 3, 4, 5]),
    (1, 5, []),
    (0, 6, [1, 2, 3, 4, 5]),
    (9, 6, [1, 2, 3, 4, 5]),
    (0, 0, []),
    (2**256 - 1, 2, []),
    (2**255, 2**256 - 1, [1, 2, 3, 4, 5]),
)


def test_pages_follow_the_rule_of_the_reference_in_every_list(alice: Actor, own: int) -> None:
    wallets = [to_checksum_address(f"0x{n:040x}") for n in range(1, 6)]
    alice.send("addGroup", own, "g", "", [1, 2, 3, 4, 5], wallets)
    for number in range(1, 6):
        if number > 1:
            alice.send("addGroup", own, "g", "", [], [])
        alice.send("addAction", own, "", "", number)
        alice.send("registerWalletDerivation", own, wallets[number - 1], number, "", "")
        alice.send("setUsageApiKey", own, number, 0, 0, "", "", False, False, False, [], [], [], [])
    for page, size, expected in PAGES:
        assert [entry[0] for entry in alice.ask("listGroups", own, page, size)] == expected
        assert [entry[0] for entry in alice.ask("listActions", own, page, size)] == expected
        assert [entry[0] for entry in alice.ask("listActionsInGroup", own, 1, page, size)] == expected
        assert [entry[1] for entry in alice.ask("listApiKeys", own, page, size)] == expected
        for found in (alice.ask("listWalletsInGroup", own, 1, page, size), alice.ask("listPkps", own, page, size)):
            assert [int(entry[1], 16) for entry in found] == expected


def test_removing_moves_the_last_element_into_the_gap(alice: Actor, own: int) -> None:
    for number in range(1, 5):
        alice.send("addAction", own, "", "", number)
    alice.send("removeAction", own, 2)
    assert [entry[0] for entry in alice.ask("listActions", own, 0, 10)] == [1, 4, 3]


def test_members_that_are_not_registered_are_listed_without_texts(alice: Actor, own: int) -> None:
    alice.send("addAction", own, "known", "text", 5)
    alice.send("registerWalletDerivation", own, W1, 1, "ops", "text")
    alice.send("addGroup", own, "g", "", [5, 6, 0], [W1, W2, ZERO])
    assert alice.ask("listActionsInGroup", own, 1, 0, 10) == [(5, "known", "text"), (6, "", ""), (0, "", "")]
    listed = [(0, W1, "ops", "text"), (0, W2, "", ""), (0, ZERO, "", "")]
    assert alice.ask("listWalletsInGroup", own, 1, 0, 10) == listed


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("listActionsInGroup", (0, 10)), ("listWalletsInGroup", (0, 10)), ("listGroupContents", ())],
)
def test_lists_of_a_missing_group_are_refused(
    alice: Actor, own: int, function: str, arguments: tuple[int, ...]
) -> None:
    assert alice.refused(function, own, 404, *arguments) == ("GroupDoesNotExist", own, 404)


def test_accounts_do_not_see_each_other(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    bob.send("newChainSecuredAccount", "", "")
    alice.send("addGroup", own, "hers", "", [5], [W1])
    assert bob.ask("listGroups", world.hash_of(bob), 0, 10) == []
    assert bob.refused("listGroupContents", world.hash_of(bob), 1) == ("GroupDoesNotExist", world.hash_of(bob), 1)
