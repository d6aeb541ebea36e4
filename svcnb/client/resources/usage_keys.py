"""Usage keys: API keys with restricted permissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import GroupRef, KeyRef
from svcnb.client.resources import usage_key_flows
from svcnb.client.resources.base import Resource
from svcnb.renamed import renamed

Groups: TypeAlias = Iterable[GroupRef] | GroupRef


class UsageKeys(Resource):
    """Usage keys: API keys with restricted permissions.

    Share a key only if its only permission is to execute in the groups that the recipient needs.

    In every list of groups, ``svcnb.everything`` (0) means all groups.
    """

    def create(
        self,
        name: str,
        *,
        description: str = "",
        execute_in_groups: Groups = (),
        manage_ipfs_ids_in_groups: Groups = (),
        add_pkp_to_groups: Groups = (),
        remove_pkp_from_groups: Groups = (),
        can_create_groups: bool = False,
        can_delete_groups: bool = False,
        can_create_pkps: bool = False,
    ) -> UsageKey:
        """Creates a usage key, and returns the key with its secret. This call costs one cent.

        The service never shows the secret again. The client does not retry a request that may have arrived. A new key
        takes effect after a few seconds. ``run(..., until_effective=60)`` waits until then.

        Args:
            name: Name of the key.
            description: Purpose of the key.
            execute_in_groups: Groups whose actions the key can run.
            manage_ipfs_ids_in_groups: Groups where the key can add and remove actions.
            add_pkp_to_groups: Groups where the key can add wallets.
            remove_pkp_from_groups: Groups where the key can remove wallets.
            can_create_groups: Whether the key can create groups.
            can_delete_groups: Whether the key can delete groups.
            can_create_pkps: Whether the key can create wallets.

        Raises:
            InvalidArgument: The name is empty, a list has more than 50 groups, or an entry is not a group.
            Forbidden: The key in use is not the account key.
        """
        return self._do(
            usage_key_flows.create(
                name,
                description,
                execute_in_groups=execute_in_groups,
                manage_ipfs_ids_in_groups=manage_ipfs_ids_in_groups,
                add_pkp_to_groups=add_pkp_to_groups,
                remove_pkp_from_groups=remove_pkp_from_groups,
                can_create_groups=can_create_groups,
                can_delete_groups=can_delete_groups,
                can_create_pkps=can_create_pkps,
            )
        )

    def list(self) -> Listing[UsageKey]:
        """Returns all usage keys of the account, without their secrets. This call is free."""
        return self._do(usage_key_flows.listing())

    def get(self, key: KeyRef) -> UsageKey:
        """Returns the current record of one usage key, without its secret. This call is free.

        Args:
            key: The key, its text, or its hash from a listing.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(usage_key_flows.get(key))

    def iter(self) -> Iterator[UsageKey]:
        """Iterates over the usage keys of the account. Each request reads one page. The requests are free."""
        return self._iterate(usage_key_flows.page)

    def update(
        self,
        key: KeyRef,
        *,
        name: str | None = None,
        description: str | None = None,
        execute_in_groups: Groups | None = None,
        manage_ipfs_ids_in_groups: Groups | None = None,
        add_pkp_to_groups: Groups | None = None,
        remove_pkp_from_groups: Groups | None = None,
        can_create_groups: bool | None = None,
        can_delete_groups: bool | None = None,
        can_create_pkps: bool | None = None,
    ) -> UsageKey:
        """Changes a usage key, and returns its new record. Omitted values stay unchanged. This call costs one cent.

        The service replaces the whole record. This method therefore reads the record first and then writes all of its
        values. The service also sets the expiration again, as for a new key. To change only the name or the
        description, use `update_metadata`.

        Args:
            key: The key, its text, or its hash from a listing.
            name: New name, or None to keep the current name.
            description: New description, or None to keep the current description.
            execute_in_groups: Complete new list of groups; see `create`.
            manage_ipfs_ids_in_groups: Complete new list of groups.
            add_pkp_to_groups: Complete new list of groups.
            remove_pkp_from_groups: Complete new list of groups.
            can_create_groups: Whether the key can create groups.
            can_delete_groups: Whether the key can delete groups.
            can_create_pkps: Whether the key can create wallets.

        Raises:
            NotFound: The account does not contain the key.
            Forbidden: The key in use is not the account key.
        """
        return self._do(
            usage_key_flows.update(
                key,
                name=name,
                description=description,
                execute_in_groups=execute_in_groups,
                manage_ipfs_ids_in_groups=manage_ipfs_ids_in_groups,
                add_pkp_to_groups=add_pkp_to_groups,
                remove_pkp_from_groups=remove_pkp_from_groups,
                can_create_groups=can_create_groups,
                can_delete_groups=can_delete_groups,
                can_create_pkps=can_create_pkps,
            )
        )

    def update_metadata(self, key: KeyRef, *, name: str | None = None, description: str | None = None) -> UsageKey:
        """Changes only the name and the description of a usage key, and returns the changed record.

        This call costs one cent.

        Args:
            key: The key, its text, or its hash from a listing.
            name: The new name. If omitted, the name stays unchanged.
            description: The new description. If omitted, the description stays unchanged.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(usage_key_flows.update_metadata(key, name, description))

    def delete(self, key: KeyRef) -> None:
        """Deletes a usage key permanently. Calls with the key then fail with 401. This call costs one cent.

        Args:
            key: The key, its text, or its hash from a listing.
        """
        self._do(usage_key_flows.delete(key))

    def remove(self, key: KeyRef) -> None:
        """Deprecated name of `delete`."""
        renamed("usage_keys.remove", "usage_keys.delete")
        self.delete(key)
