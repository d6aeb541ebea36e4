"""Usage keys on chain.

Source: docs/service/contract.md#writes, docs/service/contract.md#access-and-aliases,
    docs/service/permissions.md#permission-of-each-endpoint.
"""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

T0 = 1_750_000_000
USAGE = 0xBEEF


def key(
    usage: int = USAGE,
    *,
    expiration: int = 0,
    flags: tuple[bool, bool, bool] = (False, False, False),
    manage: tuple[int, ...] = (),
    add: tuple[int, ...] = (),
    remove: tuple[int, ...] = (),
    execute: tuple[int, ...] = (),
) -> tuple[Any, ...]:
    """Arguments of setUsageApiKey after the account's hash."""
    return (usage, expiration, 5, "runner", "text", *flags, list(manage), list(add), list(remove), list(execute))


@pytest.fixture
def own(world: World, alice: Actor) -> int:
    return world.hash_of(alice)


def test_a_usage_key_is_created_replaced_and_listed(world: World, alice: Actor, own: int) -> None:
    receipt = alice.send(
        "setUsageApiKey", own, *key(expiration=9, flags=(True, False, True), execute=(0,), manage=(1, 2))
    )
    (event,) = world.contract.events.UsageApiKeySet().process_receipt(receipt)
    assert dict(event["args"]) == {"accountApiKeyHash": own, "usageApiKeyHash": USAGE}
    (listed,) = alice.ask("listApiKeys", own, 0, 10)
    assert listed == ((USAGE, "runner", "text"), USAGE, 9, 5, [0], True, False, True, [1, 2], [], [])
    alice.send("setUsageApiKey", own, *key(flags=(False, True, False), add=(3,), remove=(4,)))
    (listed,) = alice.ask("listApiKeys", own, 0, 10)
    assert listed == ((USAGE, "runner", "text"), USAGE, 0, 5, [], False, True, False, [], [3], [4])


def test_every_hash_of_the_account_may_read(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    alice.send("setUsageApiKey", own, *key())
    alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    for known in (own, USAGE, world.hash_of(bob)):
        assert bob.ask("listApiKeys", known, 0, 10)[0][1] == USAGE


def test_a_usage_key_resolves_to_its_account_with_its_expiration(alice: Actor, own: int) -> None:
    alice.send("setUsageApiKey", own, *key(expiration=T0 + 60))
    assert alice.ask("resolveApiKeyHash", USAGE) == [own, alice.address, alice.address, False, False, False, T0 + 60]


def test_an_alias_can_set_usage_keys_of_its_account(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    receipt = bob.send("setUsageApiKey", world.hash_of(bob), *key())
    (event,) = world.contract.events.UsageApiKeySet().process_receipt(receipt)
    assert event["args"]["accountApiKeyHash"] == own


def test_setting_a_key_is_refused_for_strangers_usage_keys_and_hash_zero(world: World, alice: Actor, own: int) -> None:
    stranger = world.wallet()
    assert stranger.refused("setUsageApiKey", own, *key()) == ("NoAccountAccess", own, stranger.address.lower())
    alice.send("setUsageApiKey", own, *key(flags=(True, True, True), execute=(0,)))
    assert alice.refused("setUsageApiKey", USAGE, *key(1)) == ("NotMasterAccount", USAGE)
    assert alice.refused("setUsageApiKey", own, *key(0))[0] == "InvalidRequest"


@pytest.mark.parametrize("field", ["manage", "add", "remove", "execute"])
def test_each_permission_list_contains_at_most_fifty_groups(alice: Actor, own: int, field: str) -> None:
    alice.send("setUsageApiKey", own, *key(**{field: tuple(range(50))}))  # type: ignore[arg-type]
    assert alice.refused("setUsageApiKey", own, *key(**{field: tuple(range(51))}))[0] == "InvalidRequest"  # type: ignore[arg-type]


def test_a_hash_that_is_already_used_is_rejected(world: World, alice: Actor, own: int) -> None:
    bob = world.wallet()
    bob.send("newChainSecuredAccount", "", "")
    bob.send("setUsageApiKey", world.hash_of(bob), *key(USAGE))
    for taken in (own, world.hash_of(bob), USAGE):
        assert alice.refused("setUsageApiKey", own, *key(taken)) == ("AccountAlreadyExists", taken)
    assert world.payer().refused("newAccount", USAGE, True, "", "", "0x" + "11" * 20) == ("AccountAlreadyExists", USAGE)


def test_renaming_and_removing_need_an_existing_key_first_and_the_master_second(alice: Actor, own: int) -> None:
    alice.send("setUsageApiKey", own, *key())
    for function, rest in (("updateUsageApiKeyMetadata", ("n", "d")), ("removeUsageApiKey", ())):
        assert alice.refused(function, own, 404, *rest) == ("UsageApiKeyDoesNotExist", own, 404)
        assert alice.refused(function, USAGE, 404, *rest) == ("UsageApiKeyDoesNotExist", USAGE, 404)
        assert alice.refused(function, USAGE, USAGE, *rest) == ("NotMasterAccount", USAGE)


def test_renaming_keeps_permissions_and_emits_no_event(alice: Actor, own: int) -> None:
    alice.send("setUsageApiKey", own, *key(execute=(7,)))
    receipt = alice.send("updateUsageApiKeyMetadata", own, USAGE, "new name", "new text")
    assert not receipt["logs"]
    (listed,) = alice.ask("listApiKeys", own, 0, 10)
    assert listed[0] == (USAGE, "new name", "new text")
    assert listed[4] == [7]


def test_a_removed_key_is_unknown_and_can_be_created_again(world: World, alice: Actor, own: int) -> None:
    alice.send("setUsageApiKey", own, *key(execute=(0,)))
    receipt = alice.send("removeUsageApiKey", own, USAGE)
    (event,) = world.contract.events.UsageApiKeyRemoved().process_receipt(receipt)
    assert dict(event["args"]) == {"accountApiKeyHash": own, "usageApiKeyHash": USAGE}
    assert alice.ask("resolveApiKeyHash", USAGE)[0] == 0
    assert alice.ask("listApiKeys", own, 0, 10) == []
    alice.send("setUsageApiKey", own, *key())
    assert alice.ask("canExecuteAction", USAGE, 1) is False


# --- writes with a usage key -----------------------------------------------------------------------------------------

SCOPED: dict[str, tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = {
    # function: arguments after the hash, the required permission, and the error without it
    "addGroup": (("g", "", [], []), {"flags": (True, False, False)}, ("NotAllowedToCreateGroup", USAGE)),
    "removeGroup": ((1,), {"flags": (False, True, False)}, ("NotAllowedToDeleteGroup", USAGE)),
    "registerWalletDerivation": (
        ("0x" + "77" * 20, 1, "", ""),
        {"flags": (False, False, True)},
        ("NotAllowedToCreatePkp", USAGE),
    ),
    "addPkpToGroup": ((1, "0x" + "77" * 20), {"add": (1,)}, ("NotAllowedToAddPkpToGroup", USAGE, 1)),
    "removePkpFromGroup": ((1, "0x" + "66" * 20), {"remove": (1,)}, ("NotAllowedToRemovePkpFromGroup", USAGE, 1)),
    "addActionToGroup": ((1, 9), {"manage": (1,)}, ("NotAllowedToManageIPFSIdsInGroup", USAGE, 1)),
    "removeActionFromGroup": ((1, 5), {"manage": (1,)}, ("NotAllowedToManageIPFSIdsInGroup", USAGE, 1)),
}


def all_groups(permission: dict[str, Any], group: int) -> dict[str, Any]:
    """Returns the same permission lists with another group."""
    return dict.fromkeys(permission, (group,))


@pytest.fixture
def grouped(alice: Actor, own: int) -> Actor:
    """Account with a group 1 (action 5 and wallet 0x6666...), and an empty group 2."""
    alice.send("addGroup", own, "one", "", [5], ["0x" + "66" * 20])
    alice.send("addGroup", own, "two", "", [], [])
    return alice


@pytest.mark.parametrize("function", SCOPED)
def test_a_usage_key_can_write_according_to_its_permissions(grouped: Actor, own: int, function: str) -> None:
    arguments, permission, refusal = SCOPED[function]
    grouped.send("setUsageApiKey", own, *key(execute=(0,)))
    assert grouped.refused(function, USAGE, *arguments) == refusal
    grouped.send("setUsageApiKey", own, *key(**permission))
    receipt = grouped.send(function, USAGE, *arguments)
    assert int(receipt["logs"][0]["topics"][1].hex(), 16) == own, "events name the account, not the key"


@pytest.mark.parametrize("function", [name for name, row in SCOPED.items() if "flags" not in row[1]])
def test_zero_in_a_list_means_all_groups(grouped: Actor, own: int, function: str) -> None:
    arguments, permission, _ = SCOPED[function]
    grouped.send("setUsageApiKey", own, *key(**all_groups(permission, 0)))
    grouped.send(function, USAGE, *arguments)


@pytest.mark.parametrize("function", [name for name, row in SCOPED.items() if "flags" not in row[1]])
def test_the_permission_is_checked_before_existence(grouped: Actor, own: int, function: str) -> None:
    arguments, permission, refusal = SCOPED[function]
    grouped.send("setUsageApiKey", own, *key(**all_groups(permission, 2)))
    assert grouped.refused(function, USAGE, 404, *arguments[1:]) == (refusal[0], USAGE, 404)
    grouped.send("setUsageApiKey", own, *key(**all_groups(permission, 404)))
    assert grouped.refused(function, USAGE, 404, *arguments[1:]) == ("GroupDoesNotExist", USAGE, 404)


def test_a_key_gains_no_rights_in_the_group_it_creates(grouped: Actor, own: int) -> None:
    grouped.send("setUsageApiKey", own, *key(flags=(True, True, True)))
    grouped.send("addGroup", USAGE, "its own", "", [], [])
    assert grouped.refused("addActionToGroup", USAGE, 3, 9) == ("NotAllowedToManageIPFSIdsInGroup", USAGE, 3)
    assert grouped.refused("addPkpToGroup", USAGE, 3, "0x" + "77" * 20) == ("NotAllowedToAddPkpToGroup", USAGE, 3)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("updateGroup", (1, "n", "d", [], [])),
        ("updateGroupMetadata", (1, "n", "d")),
        ("addAction", ("n", "d", 5)),
        ("removeAction", (5,)),
        ("updateActionMetadata", (5, 1, "n", "d")),
        ("removeWalletDerivation", ("0x" + "66" * 20,)),
    ],
)
def test_all_other_writes_require_the_master(
    grouped: Actor, own: int, function: str, arguments: tuple[Any, ...]
) -> None:
    grouped.send("addAction", own, "registered", "", 5)
    everything = key(flags=(True, True, True), manage=(0,), add=(0,), remove=(0,), execute=(0,))
    grouped.send("setUsageApiKey", own, *everything)
    assert grouped.refused(function, USAGE, *arguments) == ("NotMasterAccount", USAGE)


@pytest.mark.parametrize("function", SCOPED)
def test_a_key_can_no_longer_write_at_the_second_of_its_expiration(
    world: World, grouped: Actor, own: int, function: str
) -> None:
    arguments, permission, _ = SCOPED[function]
    grouped.send("setUsageApiKey", own, *key(expiration=T0 + 100, **permission))
    world.clock.freeze(T0 + 99)
    grouped.ask(function, USAGE, *arguments)
    world.clock.freeze(T0 + 100)
    assert grouped.refused(function, USAGE, *arguments) == ("UsageApiKeyExpired", USAGE)
    assert grouped.ask("listGroups", USAGE, 0, 1)[0][1] == "one", "reads still work"


def test_expiration_is_checked_before_permissions(world: World, grouped: Actor, own: int) -> None:
    grouped.send("setUsageApiKey", own, *key(expiration=T0 - 1))
    assert grouped.refused("addGroup", USAGE, "", "", [], []) == ("UsageApiKeyExpired", USAGE)
    # The contract first checks whether the sender may act for the account at all.
    stranger = world.wallet()
    assert stranger.refused("addGroup", USAGE, "", "", [], []) == ("NoAccountAccess", USAGE, stranger.address.lower())
