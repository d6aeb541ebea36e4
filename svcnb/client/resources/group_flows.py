"""Flows of `svc.groups`: creation with more than ten entries, and updates that keep all other values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from svcnb.client.calls import Call, Flow, ask
from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.references import (
    ActionRef,
    GroupRef,
    WalletRef,
    action_hash,
    group_id,
    is_name,
    raw_cid,
    wallet_address,
    wallet_addresses,
)
from svcnb.client.resources import actions as action_calls, wallets as wallet_calls
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, member, models, nothing
from svcnb.protocol.action import Action
from svcnb.protocol.limits import MAX_GROUP_ENTRIES
from svcnb.protocol.wire.values import WILDCARD_HASH

if TYPE_CHECKING:
    from collections.abc import Callable


def create(
    name: str, description: str, actions: Iterable[ActionRef] | ActionRef, wallets: Iterable[WalletRef] | WalletRef
) -> Flow[Group]:
    """Creates and returns a group with up to ten entries of each kind, and adds the other entries one by one."""
    if not is_name(name):
        raise InvalidArgument("the group name is empty", hint='Pass a name: svc.groups.create("signers").')
    permitted, rest = _split(actions)
    addresses = wallet_addresses(wallets)
    body = {"group_name": name, "group_description": description} | _entries(permitted, addresses)
    number = yield from ask(
        Call(
            "POST",
            "/add_group",
            member("group_id"),
            body,
            in_doubt=f"Check whether svc.groups.list() contains {name!r}, because the group may exist.",
        )
    )
    group = Group(id=int(number), name=name, description=description)
    yield from _add_rest(group, rest, addresses[MAX_GROUP_ENTRIES:])
    return group


def update(
    group: GroupRef,
    name: str | None,
    description: str | None,
    actions: Iterable[ActionRef] | ActionRef | None,
    wallets: Iterable[WalletRef] | WalletRef | None,
) -> Flow[Group]:
    """Reads a group, applies the changes, and writes and returns the whole group."""
    number = group_id(group)
    old = yield from get(number)
    permitted, rest = ([], []) if actions is None else _split(actions)
    if actions is None:
        permitted = _hashes_of_actions(number, (yield from action_calls.listing(number)))
    addresses = (
        [item.wallet_address for item in (yield from wallet_calls.listing(number))]
        if wallets is None
        else wallet_addresses(wallets)
    )
    if wallets is None and len(addresses) > MAX_GROUP_ENTRIES:
        raise _too_many(number, len(addresses), "wallets")
    merged = Group(
        id=number,
        name=old.name if name is None else name,
        description=old.description if description is None else description,
    )
    body = {"group_id": number, "name": merged.name, "description": merged.description}
    yield from ask(Call("POST", "/update_group", nothing, body | _entries(permitted, addresses), repeatable=True))
    yield from _add_rest(merged, rest, addresses[MAX_GROUP_ENTRIES:])
    return merged


def delete(group: GroupRef) -> Flow[None]:
    """Deletes a group, so that keys can no longer execute in the group."""
    number = group_id(group)
    return ask(
        Call(
            "POST",
            "/remove_group",
            nothing,
            {"group_id": str(number)},  # only this endpoint requires a string
            in_doubt=f"Check whether svc.groups.list() contains {number}, because the service may have deleted the "
            "group.",
        )
    )


def page(number: int, size: int = PAGE_SIZE) -> Call[list[Group]]:
    """Returns the call for one page of the account's groups."""
    return Call(
        "GET", "/list_groups", models(Group), query={"page_number": number, "page_size": size}, timeout_class="read"
    )


def listing() -> Flow[Listing[Group]]:
    """Reads and returns all groups of the account."""
    return every(page, "groups", Group)


def get(group: GroupRef) -> Flow[Group]:
    """Reads and returns one group of the account."""
    number = group_id(group)
    return find(
        page, lambda item: item.id == number, absent(f"group {number}", "To list the groups, call svc.groups.list().")
    )


def contents(group: GroupRef) -> Flow[GroupContents]:
    """Reads and returns the actions and the wallets that a group permits."""
    number = group_id(group)
    actions = yield from action_calls.listing(number)
    wallets = yield from wallet_calls.listing(number)
    return GroupContents(group_id=number, actions=tuple(actions), wallets=tuple(wallets))


def add_action(group: GroupRef, action: ActionRef) -> Flow[None]:
    """Permits an action in a group. Permitting the action again has no effect."""
    return _membership("/add_action_to_group", group, {"action_ipfs_cid": raw_cid(action)}, repeatable=True)


def remove_action(group: GroupRef, action: ActionRef) -> Flow[None]:
    """Removes an action from a group."""
    return _membership("/remove_action_from_group", group, {"hashed_cid": action_hash(action)})


def add_wallet(group: GroupRef, wallet: WalletRef) -> Flow[None]:
    """Permits a wallet in a group. Permitting the wallet again has no effect."""
    return _membership("/add_pkp_to_group", group, {"pkp_id": wallet_address(wallet)}, repeatable=True)


def remove_wallet(group: GroupRef, wallet: WalletRef) -> Flow[None]:
    """Removes a wallet from a group."""
    return _membership("/remove_pkp_from_group", group, {"pkp_id": wallet_address(wallet)})


def _membership(path: str, group: GroupRef, body: dict[str, Any], *, repeatable: bool = False) -> Flow[None]:
    number = group_id(group)
    doubt = (
        "" if repeatable else f"Check svc.groups.contents({number}), because the service may have removed the entry."
    )
    return ask(Call("POST", path, nothing, {"group_id": number, **body}, repeatable=repeatable, in_doubt=doubt))


def _entries(hashes: Sequence[str], addresses: Sequence[str]) -> dict[str, list[str]]:
    return {
        "cid_hashes_permitted": ["0x0" if item == WILDCARD_HASH else item for item in hashes],
        "pkp_ids_permitted": list(addresses[:MAX_GROUP_ENTRIES]),
    }


def _split(actions: Iterable[ActionRef] | ActionRef) -> tuple[list[str], list[str]]:
    """Returns the hashes for the group's creation, and the raw CIDs to add later.

    Adding a single entry needs its raw CID, so entries with only a hash must be among the first ten.
    """
    several = [actions] if isinstance(actions, (Action, RegisteredAction, str, int)) else actions
    hash_only: list[str] = []
    by_cid: list[tuple[str, str]] = []
    for item in several:
        hashed = action_hash(item)
        try:
            by_cid.append((hashed, raw_cid(item)))
        except InvalidArgument:
            hash_only.append(hashed)
    hash_only = list(dict.fromkeys(hash_only))
    by_cid = [pair for pair in dict.fromkeys(by_cid) if pair[0] not in hash_only]
    room = MAX_GROUP_ENTRIES - len(hash_only)
    if room < 0:
        raise InvalidArgument(
            f"the list contains {len(hash_only)} hashes of actions; a call accepts at most {MAX_GROUP_ENTRIES} hashes",
            hint="Pass the other actions as Action objects, sources or CIDs (Qm...), which can be added one at a time.",
        )
    return hash_only + [hashed for hashed, _ in by_cid[:room]], [cid for _, cid in by_cid[room:]]


def _add_rest(group: Group, cids: Sequence[str], addresses: Sequence[str]) -> Flow[None]:
    steps: list[tuple[Callable[[Any, Any], Flow[None]], str]] = [(add_action, cid) for cid in cids]
    steps += [(add_wallet, address) for address in addresses]
    for done, (step, entry) in enumerate(steps):
        try:
            yield from step(group.id, entry)
        except SvcnbError as error:
            error.add_note(
                f"Group {group.id} exists, but only {done} of {len(steps)} additional entries were added. "
                f"Add the remaining entries, starting with {entry}, with svc.groups.add_action and "
                f"svc.groups.add_wallet."
            )
            raise


def _hashes_of_actions(number: int, kept: Sequence[RegisteredAction]) -> list[str]:
    hashes = [item.hashed_cid for item in kept if item.hashed_cid is not None]
    if len(hashes) < len(kept):
        raise InvalidArgument(
            f"group {number} permits actions whose hashes the service does not return; an update replaces all entries, "
            "so the client cannot keep these actions",
            hint="First register those actions with svc.actions.register. Or pass the complete list: "
            f"svc.groups.update({number}, actions=actions).",
        )
    if len(hashes) > MAX_GROUP_ENTRIES:
        raise _too_many(number, len(hashes), "actions")
    return hashes


def _too_many(number: int, seen: int, what: str) -> InvalidArgument:
    return InvalidArgument(
        (
            f"group {number} permits {seen} {what}; an update replaces all entries and accepts at most "
            f"{MAX_GROUP_ENTRIES}, so the client cannot keep all of them"
        ),
        hint=(
            f"Pass the complete list: svc.groups.update({number}, {what}={what}). Or change single entries with "
            f"svc.groups.add_{what[:-1]} and svc.groups.remove_{what[:-1]}."
        ),
    )
