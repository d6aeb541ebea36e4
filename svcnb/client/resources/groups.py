"""Groups: sets of actions and wallets that belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

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
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, member, nothing, page_of, texts
from svcnb.protocol.action import Action
from svcnb.protocol.limits import MAX_GROUP_ENTRIES
from svcnb.protocol.wire.values import WILDCARD_HASH
from svcnb.renamed import renamed


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
    merged = Group(id=number, **texts(old, name, description))
    body = {"group_id": number, "name": merged.name, "description": merged.description}
    yield from ask(Call("POST", "/update_group", nothing, body | _entries(permitted, addresses), repeatable=True))
    yield from _add_rest(merged, rest, addresses[MAX_GROUP_ENTRIES:])
    return merged


def page(number: int, size: int = PAGE_SIZE) -> Call[list[Group]]:
    """Returns the call for one page of the account's groups."""
    return page_of("/list_groups", Group, number, size)


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
    """Permits an action in a group."""
    return _membership("/add_action_to_group", group, {"action_ipfs_cid": raw_cid(action)}, repeatable=True)


def add_wallet(group: GroupRef, wallet: WalletRef) -> Flow[None]:
    """Permits a wallet in a group."""
    return _membership("/add_pkp_to_group", group, {"pkp_id": wallet_address(wallet)}, repeatable=True)


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
    """Returns the hashes for the call that creates or replaces a group, and the raw CIDs to add afterwards.

    To add an action to an existing group, the client needs the raw CID. The first call therefore includes all actions
    of which only the hash is available.
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
            hint="Pass some of these actions as Action objects, sources or CIDs (Qm...) instead. The client adds them "
            "one at a time.",
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
        f"group {number} permits {seen} {what}; an update replaces all entries and accepts at most "
        f"{MAX_GROUP_ENTRIES}, so the client cannot keep all of them",
        hint=f"Pass the complete list: svc.groups.update({number}, {what}={what}). Or change single entries with "
        f"svc.groups.add_{what[:-1]} and svc.groups.remove_{what[:-1]}.",
    )


class Groups(Resource):
    """Groups: sets of actions and wallets that belong together.

    A key that can execute in a group can run the group's actions, and the actions can use the group's wallets. In every
    list of actions, ``svcnb.everything`` (0) means all actions. In every list of wallets, 0 means all wallets.
    """

    def create(
        self,
        name: str,
        *,
        description: str = "",
        actions: Iterable[ActionRef] | ActionRef = (),
        wallets: Iterable[WalletRef] | WalletRef = (),
    ) -> Group:
        """Creates a group, and returns it.

        The creation costs one cent, plus one cent for each action and each wallet beyond the first ten. The service
        accepts ten actions and ten wallets in one call. The client adds the other entries one by one. If the first
        request may have arrived, the client does not retry this request.

        Args:
            name: Name of the group.
            description: Purpose of the group.
            actions: Actions, sources, CIDs or hashed CIDs to permit.
            wallets: Wallets or addresses to permit.

        Raises:
            InvalidArgument: The name is empty, an entry is not an action or a wallet, or more than ten actions are
                hashes.
            Forbidden: The key is a usage key without ``can_create_groups``.
        """
        return self._do(create(name, description, actions, wallets))

    def list(self) -> Listing[Group]:
        """Returns all groups of the account. This call is free."""
        return self._do(listing())

    def get(self, group: GroupRef) -> Group:
        """Returns one group with its current name and description. This call is free.

        Args:
            group: The group, its number, or the number as a string such as ``"7"`` or ``"0x7"``.

        Raises:
            InvalidArgument: The value is not a group id, or is 0, the wildcard.
            NotFound: The account does not contain the group.
        """
        return self._do(get(group))

    def iter(self) -> Iterator[Group]:
        """Iterates over the groups of the account. Each request reads one page. The requests are free."""
        return self._iterate(page)

    def update(
        self,
        group: GroupRef,
        *,
        name: str | None = None,
        description: str | None = None,
        actions: Iterable[ActionRef] | ActionRef | None = None,
        wallets: Iterable[WalletRef] | WalletRef | None = None,
    ) -> Group:
        """Changes a group, and returns the changed group. Omitted values stay unchanged.

        The change costs one cent, plus one cent for each entry of a list beyond the first ten.

        The service replaces a group as a whole, so this method reads the group first and then writes all of its values.
        Of two simultaneous updates, the later update can therefore undo the earlier update. ``add_action`` and similar
        methods do not have this problem.

        Args:
            group: A `Group`, its number, or its number as a string.
            name: New name, or None to keep the current name.
            description: New description, or None to keep the current description.
            actions: The complete new list of permitted actions. An empty list permits none.
            wallets: The complete new list of permitted wallets. An empty list permits none.

        Raises:
            InvalidArgument: An omitted list has more than ten entries, or contains an action whose hash the service
                does not return. The client cannot send such a list unchanged.
            NotFound: The group does not exist.
            Forbidden: The key is not the account key.
        """
        return self._do(update(group, name, description, actions, wallets))

    def delete(self, group: GroupRef) -> None:
        """Deletes a group. Keys can then no longer execute in the group. This call costs one cent.

        Usage keys keep the number of the deleted group in their lists. The service never reuses the number.

        Raises:
            Forbidden: The key is a usage key without ``can_delete_groups``.
            NotFound: The group does not exist.
        """
        number = group_id(group)
        body = {"group_id": str(number)}  # only this endpoint requires a string
        doubt = f"Check whether svc.groups.list() contains {number}, because the service may have deleted the group."
        self._do(ask(Call("POST", "/remove_group", nothing, body, in_doubt=doubt)))

    def remove(self, group: GroupRef) -> None:
        """Deprecated name of `delete`."""
        renamed("groups.remove", "groups.delete")
        self.delete(group)

    def contents(self, group: GroupRef) -> GroupContents:
        """Returns the actions and the wallets that a group permits. This call is free."""
        return self._do(contents(group))

    def add_action(self, group: GroupRef, action: ActionRef) -> None:
        """Permits an action in a group. This call costs one cent. Permitting the action again has no effect.

        Args:
            group: A `Group`, its number, or its number as a string.
            action: An action, a source or a raw CID. The action does not have to be registered.

        Raises:
            InvalidArgument: The action is a hashed CID, but the service needs a raw CID.
            Forbidden: The key is a usage key whose ``manage_ipfs_ids_in_groups`` does not contain the group.
        """
        self._do(add_action(group, action))

    def remove_action(self, group: GroupRef, action: ActionRef) -> None:
        """Removes an action from a group. This call costs one cent.

        Args:
            group: A `Group`, its number, or its number as a string.
            action: An action, a source, a CID or a hashed CID.

        Raises:
            NotFound: The group does not permit the action.
        """
        self._do(_membership("/remove_action_from_group", group, {"hashed_cid": action_hash(action)}))

    def add_wallet(self, group: GroupRef, wallet: WalletRef) -> None:
        """Permits a wallet in a group. This call costs one cent. Permitting the wallet again has no effect.

        Args:
            group: A `Group`, its number, or its number as a string.
            wallet: The wallet or its address. ``svcnb.everything`` (0) permits every wallet of the account.

        Raises:
            Forbidden: The key is a usage key whose ``add_pkp_to_groups`` does not contain the group.
        """
        self._do(add_wallet(group, wallet))

    def remove_wallet(self, group: GroupRef, wallet: WalletRef) -> None:
        """Removes a wallet from a group. This call costs one cent.

        Args:
            group: A `Group`, its number, or its number as a string.
            wallet: The wallet or its address.

        Raises:
            NotFound: The group does not permit the wallet.
        """
        self._do(_membership("/remove_pkp_from_group", group, {"pkp_id": wallet_address(wallet)}))
