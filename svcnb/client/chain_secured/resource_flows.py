"""Flows for wallets, groups and actions of a ChainSecured account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from svcnb.client.calls import Flow
from svcnb.client.chain_secured import mint
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.wallets import Wallet
from svcnb.client.references import (
    ActionRef,
    GroupRef,
    WalletRef,
    action_hash,
    group_id,
    one_action_hash,
    one_wallet_address,
    wallet_addresses,
)
from svcnb.client.resources.actions import registration
from svcnb.client.resources.reading import absent, texts
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import uint256_hex
from svcnb.protocol.limits import MAX_GROUP_ENTRIES

# --- wallets ------------------------------------------------------------------------------------------------------


def create_wallet(account: Ownership, name: str, description: str) -> Flow[Wallet]:
    """Requests a new wallet from the service, registers the wallet on chain, and returns the wallet."""
    record = yield from mint.begin(account, "wallet", name, description=description)
    return cast("Wallet", (yield from mint.finish(account, record)))


def wallets(account: Ownership, group: GroupRef | None) -> Flow[Listing[Wallet]]:
    """Reads and returns all wallets of the account, or the wallets that a group permits."""
    name, arguments = ("listPkps", ()) if group is None else ("listWalletsInGroup", (group_id(group),))
    found = [
        Wallet(wallet_address=address, id=str(number), name=label, description=text)
        for number, address, label, text in (yield from account.every(name, *arguments))
    ]
    return Listing(found, of="wallets", kind=Wallet)


def get_wallet(account: Ownership, wallet: WalletRef) -> Flow[Wallet]:
    """Reads and returns one wallet of the account."""
    address = one_wallet_address(wallet, "mine")
    for item in (yield from wallets(account, None)):
        if item.wallet_address.lower() == address:
            return item
    raise absent(f"wallet {address}", "To list the wallets, call mine.wallets.list().")


# --- groups -------------------------------------------------------------------------------------------------------


def create_group(
    account: Ownership,
    name: str,
    description: str,
    actions: Iterable[ActionRef] | ActionRef,
    permitted: Iterable[WalletRef] | WalletRef,
) -> Flow[Group]:
    """Creates a group with the first ten entries of each kind, adds other entries one by one, and returns the group."""
    if not name.strip():
        raise InvalidArgument("the group name is empty", hint='Pass a name: mine.groups.create("signers").')
    hashes, addresses = _hashes(actions), wallet_addresses(permitted)
    written = yield from account.write(
        "addGroup", name, description, hashes[:MAX_GROUP_ENTRIES], addresses[:MAX_GROUP_ENTRIES]
    )
    group = Group(id=int(written.value), name=name, description=description)
    yield from _add_rest(account, group.id, hashes[MAX_GROUP_ENTRIES:], addresses[MAX_GROUP_ENTRIES:])
    return group


def groups(account: Ownership) -> Flow[Listing[Group]]:
    """Reads and returns all groups of the account."""
    entries = yield from account.every("listGroups")
    return Listing(
        [Group(id=number, name=name, description=text) for number, name, text in entries], of="groups", kind=Group
    )


def get_group(account: Ownership, group: GroupRef) -> Flow[Group]:
    """Reads and returns one group of the account."""
    number = group_id(group)
    for item in (yield from groups(account)):
        if item.id == number:
            return item
    raise absent(f"group {number}", "To list the groups, call mine.groups.list().")


def update_group(
    account: Ownership,
    group: GroupRef,
    name: str | None,
    description: str | None,
    actions: Iterable[ActionRef] | ActionRef | None,
    *,
    permitted: Iterable[WalletRef] | WalletRef | None,
) -> Flow[Group]:
    """Changes the given values of a group, and returns the group. All other values stay unchanged."""
    number = group_id(group)
    (_, old_name, old_text), old_hashes, old_addresses = yield from account.view("listGroupContents", number)
    old = Group(id=number, name=old_name, description=old_text)
    merged = old.model_copy(update=texts(old, name, description))
    if actions is None and permitted is None:
        yield from account.write("updateGroupMetadata", number, merged.name, merged.description)
        return merged
    hashes = list(old_hashes) if actions is None else _hashes(actions)
    addresses = list(old_addresses) if permitted is None else wallet_addresses(permitted)
    if len(hashes) <= MAX_GROUP_ENTRIES and len(addresses) <= MAX_GROUP_ENTRIES:
        yield from account.write("updateGroup", number, merged.name, merged.description, hashes, addresses)
        return merged
    # One call accepts ten entries of each kind. Add entries before removing others, so that the group always permits
    # the entries in both lists.
    yield from _add_rest(
        account,
        number,
        [item for item in hashes if item not in old_hashes],
        [item for item in addresses if item not in old_addresses],
    )
    for hashed in (item for item in old_hashes if item not in hashes):
        yield from account.write("removeActionFromGroup", number, hashed)
    for address in (item for item in old_addresses if item not in addresses):
        yield from account.write("removePkpFromGroup", number, address)
    if merged != old:
        yield from account.write("updateGroupMetadata", number, merged.name, merged.description)
    return merged


def contents(account: Ownership, group: GroupRef) -> Flow[GroupContents]:
    """Reads and returns the actions and the wallets that a group permits."""
    number = group_id(group)
    permitted = yield from wallets(account, number)
    actions = yield from actions_of(account, number)
    return GroupContents(group_id=number, actions=tuple(actions), wallets=tuple(permitted))


def _hashes(actions: Iterable[ActionRef] | ActionRef) -> list[int]:
    several = [actions] if isinstance(actions, (Action, RegisteredAction, str, int)) else actions
    return list(dict.fromkeys(int(action_hash(item), 16) for item in several))


def _add_rest(account: Ownership, number: int, hashes: Sequence[int], addresses: Sequence[str]) -> Flow[None]:
    steps: list[tuple[str, int | str]] = [("addActionToGroup", hashed) for hashed in hashes]
    steps += [("addPkpToGroup", address) for address in addresses]
    for done, (function, entry) in enumerate(steps):
        try:
            yield from account.write(function, number, entry)
        except SvcnbError as error:
            error.add_note(
                f"{done} of {len(steps)} additional entries of group {number} were added. To list the entries of the "
                f"group, call mine.groups.contents({number})."
            )
            raise


# --- actions ------------------------------------------------------------------------------------------------------


def register(
    account: Ownership, action: ActionRef, name: str | None, description: str | None
) -> Flow[RegisteredAction]:
    """Registers an action under a name, and returns the registration."""
    made = registration(action, name, description, "mine")
    yield from account.write("addAction", made.name, made.description, int(made.hashed_cid or "", 16))
    return made


def get_action(account: Ownership, action: ActionRef) -> Flow[RegisteredAction]:
    """Reads and returns one registered action."""
    hashed = one_action_hash(action, "mine")
    for item in (yield from actions_of(account, None)):
        if item.hashed_cid == hashed:
            return item
    raise absent(
        f"action with the hash {hashed}",
        "To list the registered actions, call mine.actions.list(). To register an action, call "
        "mine.actions.register(action, name=name).",
    )


def update_action(
    account: Ownership, action: ActionRef, name: str | None, description: str | None
) -> Flow[RegisteredAction]:
    """Changes the name or the description of a registered action, and returns the registration."""
    hashed = one_action_hash(action, "mine")
    old = yield from get_action(account, hashed)
    merged = texts(old, name, description)
    yield from account.write("updateActionMetadata", int(hashed, 16), 0, merged["name"], merged["description"])
    return old.model_copy(update=merged)


def actions_of(account: Ownership, group: GroupRef | None) -> Flow[Listing[RegisteredAction]]:
    """Reads and returns all actions of the account, or the actions that a group permits."""
    name, arguments = ("listActions", ()) if group is None else ("listActionsInGroup", (group_id(group),))
    found = [
        RegisteredAction(hashed_cid=uint256_hex(hashed), name=label, description=text)
        for hashed, label, text in (yield from account.every(name, *arguments))
    ]
    return Listing(found, of="actions", kind=RegisteredAction)
