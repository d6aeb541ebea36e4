"""Usage keys: API keys with restricted permissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import PERMISSION_FLAGS, PERMISSION_LISTS, UsageKey
from svcnb.client.references import GroupRef, KeyRef, group_ids, is_name, key_hash, key_reference
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, nothing, page_of, texts
from svcnb.protocol.hashes import api_key_hash
from svcnb.protocol.wire.values import looks_like_hash
from svcnb.renamed import renamed

Groups: TypeAlias = Iterable[GroupRef] | GroupRef

_NOTHING: Final[dict[str, Any]] = {name: [] for name in PERMISSION_LISTS} | dict.fromkeys(PERMISSION_FLAGS, False)
"""Members of the request for a key without permissions. The live service requires all members."""


def create(name: str, description: str, **permissions: Any) -> Flow[UsageKey]:
    """Creates a usage key, and returns the key with its secret."""
    if not is_name(name):
        raise InvalidArgument("the usage key name is empty", hint='Pass a name: svc.usage_keys.create("runner").')
    body: dict[str, Any] = {"name": name, "description": description} | _NOTHING | with_numbers(permissions)

    def parse(answer: Any, _headers: Answer) -> UsageKey:
        secret = answer["usage_api_key"]
        return UsageKey(api_key_hash=api_key_hash(secret), usage_api_key=secret, **body)

    return ask(
        Call(
            "POST",
            "/add_usage_api_key",
            parse,
            body,
            in_doubt=f"Check whether svc.usage_keys.list() contains {name!r}. If the list contains this key, delete "
            f"the key and create another key, because the secret did not arrive.",
        )
    )


def update(key: KeyRef, **changes: Any) -> Flow[UsageKey]:
    """Reads a key's record, applies the changes, and writes and returns the whole record."""
    old = yield from get(key)
    given = {name: value for name, value in changes.items() if value is not None}
    merged: dict[str, Any] = (
        {"name": old.name, "description": old.description} | old.permissions() | with_numbers(given)
    )
    yield from ask(
        Call("POST", "/update_usage_api_key", nothing, {"usage_api_key": key_reference(key), **merged}, repeatable=True)
    )
    return UsageKey(api_key_hash=old.api_key_hash, **merged)


def update_metadata(key: KeyRef, name: str | None, description: str | None) -> Flow[UsageKey]:
    """Reads a key's record, replaces only the name and the description, and returns the record."""
    old = yield from get(key)
    merged = texts(old, name, description)
    path = "/update_usage_api_key_metadata"
    yield from ask(Call("POST", path, nothing, {"usage_api_key": key_reference(key), **merged}, repeatable=True))
    return old.model_copy(update=merged)


def page(number: int, size: int = PAGE_SIZE) -> Call[list[UsageKey]]:
    """Returns the call for one page of the account's usage keys."""
    return page_of("/list_api_keys", UsageKey, number, size)


def listing() -> Flow[Listing[UsageKey]]:
    """Reads and returns all usage keys of the account, without their secrets."""
    return every(page, "usage keys", UsageKey)


def get(key: KeyRef) -> Flow[UsageKey]:
    """Reads and returns one usage key of the account, without its secret."""
    hashed = key_hash(key)
    if isinstance(key, UsageKey) or looks_like_hash(key_reference(key)):
        what = f"usage key with the hash {hashed}"
    else:
        what = f"usage key with the text that was passed (its hash is {hashed})"
    missing = absent(what, "Use a key from svc.usage_keys.list(). A deleted key cannot be restored.")
    return find(page, lambda item: item.api_key_hash == hashed, missing)


def with_numbers(permissions: dict[str, Any]) -> dict[str, Any]:
    """Replaces the groups in a key's permissions by their numbers, and returns the permissions."""
    return {name: group_ids(value, name) if name in PERMISSION_LISTS else value for name, value in permissions.items()}


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
        takes effect after a few seconds. ``run(..., until_effective=60)`` waits for this, for up to 60 seconds.

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
            create(
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
        return self._do(listing())

    def get(self, key: KeyRef) -> UsageKey:
        """Returns the current record of one usage key, without its secret. This call is free.

        Args:
            key: The key, its text, or its hash from a listing.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(get(key))

    def iter(self) -> Iterator[UsageKey]:
        """Iterates over the usage keys of the account. Each request reads one page. The requests are free."""
        return self._iterate(page)

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
        values. The service also sets a new expiration, 3,650 days after the update. To change only the name or the
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
            update(
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
        return self._do(update_metadata(key, name, description))

    def delete(self, key: KeyRef) -> None:
        """Deletes a usage key permanently. Calls with the key then fail with 401. This call costs one cent.

        Args:
            key: The key, its text, or its hash from a listing.
        """
        self._do(
            ask(
                Call(
                    "POST",
                    "/remove_usage_api_key",
                    nothing,
                    {"usage_api_key": key_reference(key)},  # not in a variable, because tracebacks show variables
                    in_doubt="Check svc.usage_keys.list(), because the service may have deleted the key.",
                )
            )
        )

    def remove(self, key: KeyRef) -> None:
        """Deprecated name of `delete`."""
        renamed("usage_keys.remove", "usage_keys.delete")
        self.delete(key)
