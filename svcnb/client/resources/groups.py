"""Groups: sets of actions and wallets that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from svcnb.client.listing import Listing
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.references import ActionRef, GroupRef, WalletRef
from svcnb.client.resources import group_flows as flows
from svcnb.client.resources.base import Resource
from svcnb.renamed import renamed


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
        accepts ten actions and ten wallets in one call. The client adds the other entries one by one. The client does
        not retry a request that may have arrived.

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
        return self._do(flows.create(name, description, actions, wallets))

    def list(self) -> Listing[Group]:
        """Returns all groups of the account. This call is free."""
        return self._do(flows.listing())

    def get(self, group: GroupRef) -> Group:
        """Returns one group with its current name and description. This call is free.

        Args:
            group: The group, its number, or the number as a string such as ``"7"`` or ``"0x7"``.

        Raises:
            InvalidArgument: The value is not a group id, or is 0, the wildcard.
            NotFound: The account does not contain the group.
        """
        return self._do(flows.get(group))

    def iter(self) -> Iterator[Group]:
        """Iterates over the groups of the account. Each request reads one page. The requests are free."""
        return self._iterate(flows.page)

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

        The change costs one cent, plus one cent for each entry of a list beyond ten. The service replaces a group as a
        whole, so this method reads the group first and then writes all of its values. Of two simultaneous updates, the
        later update can therefore undo the earlier update. ``add_action`` and similar methods do not have this problem.

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
        return self._do(flows.update(group, name, description, actions, wallets))

    def delete(self, group: GroupRef) -> None:
        """Deletes a group. Keys can then no longer execute in the group. This call costs one cent.

        Usage keys keep the number of the deleted group in their lists. The service never reuses the number.

        Raises:
            Forbidden: The key is a usage key without ``can_delete_groups``.
            NotFound: The group does not exist.
        """
        self._do(flows.delete(group))

    def remove(self, group: GroupRef) -> None:
        """Deprecated name of `delete`."""
        renamed("groups.remove", "groups.delete")
        self.delete(group)

    def contents(self, group: GroupRef) -> GroupContents:
        """Returns the actions and the wallets that a group permits. This call is free."""
        return self._do(flows.contents(group))

    def add_action(self, group: GroupRef, action: ActionRef) -> None:
        """Permits an action in a group. This call costs one cent. Permitting the action again has no effect.

        Args:
            group: A `Group`, its number, or its number as a string.
            action: An action, a source or a raw CID. The action does not have to be registered.

        Raises:
            InvalidArgument: The action is a hashed CID, but the service needs a raw CID.
            Forbidden: The key is a usage key whose ``manage_ipfs_ids_in_groups`` does not contain the group.
        """
        self._do(flows.add_action(group, action))

    def remove_action(self, group: GroupRef, action: ActionRef) -> None:
        """Removes an action from a group. This call costs one cent.

        Args:
            group: A `Group`, its number, or its number as a string.
            action: An action, a source, a CID or a hashed CID.

        Raises:
            NotFound: The group does not permit the action.
        """
        self._do(flows.remove_action(group, action))

    def add_wallet(self, group: GroupRef, wallet: WalletRef) -> None:
        """Permits a wallet in a group. This call costs one cent. Permitting the wallet again has no effect.

        Args:
            group: A `Group`, its number, or its number as a string.
            wallet: The wallet or its address. ``svcnb.everything`` (0) permits every wallet of the account.

        Raises:
            Forbidden: The key is a usage key whose ``add_pkp_to_groups`` does not contain the group.
        """
        self._do(flows.add_wallet(group, wallet))

    def remove_wallet(self, group: GroupRef, wallet: WalletRef) -> None:
        """Removes a wallet from a group. This call costs one cent.

        Args:
            group: A `Group`, its number, or its number as a string.
            wallet: The wallet or its address.

        Raises:
            NotFound: The group does not permit the wallet.
        """
        self._do(flows.remove_wallet(group, wallet))
