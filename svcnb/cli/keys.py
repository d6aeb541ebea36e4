"""Command ``svcnb keys``, which manages usage keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._parameters import KeyHash
from svcnb.cli._service import new_key_file, print_usage_key, save_option, with_service

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.models.usage_keys import UsageKey

_GROUPS = "number of a group, or 0 for all groups; repeatable"


@click.group("keys", cls=CommandGroup)
def command() -> None:
    """Manage usage keys: restricted API keys.

    These commands need the account key. Use the hash of a usage key to identify it. `svcnb keys list` shows the hashes.
    """


@command.command("list")
@output_options
@with_service
def list_(service: Client, as_json: bool) -> None:
    """List the account's usage keys, without their secrets. The command is free."""
    keys = service.usage_keys.list()
    show(keys if as_json else list(map(_brief, keys)), as_json=as_json)


def _brief(key: UsageKey) -> dict[str, Any]:
    return {"hash": key.api_key_hash, "name": key.name, "groups": list(key.execute_in_groups)}


_LISTS = {
    "execute_in_groups": ("--execute-in-group", "groups in which the key can run actions"),
    "manage_ipfs_ids_in_groups": ("--manage-actions-in-group", "groups in which the key can add and remove actions"),
    "add_pkp_to_groups": ("--add-wallets-to-group", "groups to which the key can add wallets"),
    "remove_pkp_from_groups": ("--remove-wallets-from-group", "groups from which the key can remove wallets"),
}
"""Options and meanings of the permissions that are lists of groups."""
_FLAGS = {
    "can_create_groups": ("create-groups", "create groups"),
    "can_delete_groups": ("delete-groups", "delete groups"),
    "can_create_pkps": ("create-wallets", "create wallets"),
}
"""Options of the command line and descriptions of the boolean permissions."""


def _permission_options(*, update: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, (ending, meaning) in reversed(_FLAGS.items()):
            if update:
                text, default = f"Whether the key can {meaning}.", None
                option = f"--can-{ending}/--cannot-{ending}"
            else:
                text, default, option = f"Permit the key to {meaning}.", False, f"--can-{ending}"
            function = click.option(option, name, is_flag=True, default=default, help=text)(function)
        for name, (option, meaning) in reversed(_LISTS.items()):
            text = f"Complete new list of {meaning}" if update else meaning.capitalize()
            function = click.option(option, name, multiple=True, help=f"{text}: {_GROUPS}.")(function)
        return function

    return decorate


@command.command("create", epilog=examples("svcnb keys create runner --execute-in-group 1 --save runner.key"))
@click.argument("name")
@click.option("--description", default="", help="Description of the usage key.")
@_permission_options(update=False)
@save_option
@output_options
@with_service
def create(
    service: Client, name: str, *, description: str, save: Path | None, as_json: bool, **permissions: Any
) -> None:
    """Create a usage key with the name NAME, and print the key.

    The command costs one cent, and shows the key only once.
    """
    with new_key_file(save) as into:
        key = service.usage_keys.create(name, description=description, **permissions)
        print_usage_key(key, as_json=as_json, into=into)


@command.command("update", epilog=examples("svcnb keys update 0x5d1c... --execute-in-group 1 --execute-in-group 2"))
@click.argument("key_hash", metavar="HASH", type=KeyHash())
@click.option("--name", help="The new name.")
@click.option("--description", help="The new description.")
@_permission_options(update=True)
@output_options
@with_service
def update(
    service: Client, key_hash: str, *, name: str | None, description: str | None, as_json: bool, **permissions: Any
) -> None:
    """Change a usage key, by its hash. Omitted settings stay unchanged. The command costs one cent.

    If you pass groups for a permission, they replace all previous groups of the permission. The validity period starts
    again as for a new key, unless only the name or the description changes.
    """
    # An omitted list is an empty tuple, and an omitted flag is None.
    changes = {permission: value for permission, value in permissions.items() if value not in (None, ())}
    if changes:
        key = service.usage_keys.update(key_hash, name=name, description=description, **changes)
    elif name is not None or description is not None:
        key = service.usage_keys.update_metadata(key_hash, name=name, description=description)
    else:
        raise click.UsageError("nothing to change: pass at least one option, for example --name")
    show(key if as_json else _brief(key), as_json=as_json)


@command.command("delete")
@click.argument("key_hash", metavar="HASH", type=KeyHash())
@with_service
def delete(service: Client, key_hash: str) -> None:
    """Delete a usage key permanently, by its hash. The command costs one cent."""
    service.usage_keys.delete(key_hash)


command.rename("remove", delete)
