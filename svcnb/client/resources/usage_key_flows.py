"""Flows of `svc.usage_keys`: creation, listing, and updates that keep all other values."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import KeyRef, group_ids, is_name, key_hash, key_reference
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, models, nothing
from svcnb.protocol.hashes import api_key_hash
from svcnb.protocol.wire.values import looks_like_hash

_LISTS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")

_NOTHING: Final[dict[str, Any]] = {
    "execute_in_groups": [],
    "manage_ipfs_ids_in_groups": [],
    "add_pkp_to_groups": [],
    "remove_pkp_from_groups": [],
    "can_create_groups": False,
    "can_delete_groups": False,
    "can_create_pkps": False,
}
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
            in_doubt=(
                f"Check whether svc.usage_keys.list() contains {name!r}. If the list contains this key, delete the "
                f"key and create another key, because the secret did not arrive."
            ),
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
    merged = {
        "name": old.name if name is None else name,
        "description": old.description if description is None else description,
    }
    body = {"usage_api_key": key_reference(key), **merged}
    yield from ask(Call("POST", "/update_usage_api_key_metadata", nothing, body, repeatable=True))
    return old.model_copy(update=merged)


def delete(key: KeyRef) -> Flow[None]:
    """Deletes a usage key permanently. Calls with the key then fail with 401."""
    return ask(
        Call(
            "POST",
            "/remove_usage_api_key",
            nothing,
            {"usage_api_key": key_reference(key)},
            in_doubt="Check svc.usage_keys.list(), because the service may have deleted the key.",
        )
    )


def page(number: int, size: int = PAGE_SIZE) -> Call[list[UsageKey]]:
    """Returns the call for one page of the account's usage keys."""
    query: dict[str, str | int] = {"page_number": number, "page_size": size}
    return Call("GET", "/list_api_keys", models(UsageKey), query=query, timeout_class="read")


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
    missing = absent(
        what,
        "Use a key from svc.usage_keys.list(). A deleted key cannot be restored.",
    )
    return find(page, lambda item: item.api_key_hash == hashed, missing)


def with_numbers(permissions: dict[str, Any]) -> dict[str, Any]:
    """Returns the permissions of a key with the numbers of their groups."""
    return {name: group_ids(value, name) if name in _LISTS else value for name, value in permissions.items()}
