"""Command ``svcnb keys``, which manages usage keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._parameters import KeyHash
from svcnb.cli._service import new_key_file, print_secret, save_option, with_service

if TYPE_CHECKING:
    from svcnb.client import Client

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
    short = [{"hash": key.api_key_hash, "name": key.name, "groups": list(key.execute_in_groups)} for key in keys]
    show(keys if as_json else short, as_json=as_json)


@command.command("create", epilog=examples("svcnb keys create runner --execute-in-group 1 --save runner.key"))
@click.argument("name")
@click.option("--description", default="", help="Description of the usage key.")
@click.option(
    "--execute-in-group", "execute", multiple=True, help=f"Groups in which the key can run actions: {_GROUPS}."
)
@click.option(
    "--manage-actions-in-group",
    "manage",
    multiple=True,
    help=(f"Groups in which the key can add and remove actions: {_GROUPS}."),
)
@click.option(
    "--add-wallets-to-group", "add", multiple=True, help=f"Groups to which the key can add wallets: {_GROUPS}."
)
@click.option(
    "--remove-wallets-from-group",
    "take",
    multiple=True,
    help=(f"Groups from which the key can remove wallets: {_GROUPS}."),
)
@click.option("--can-create-groups", is_flag=True, help="Permit the key to create groups.")
@click.option("--can-delete-groups", is_flag=True, help="Permit the key to delete groups.")
@click.option("--can-create-wallets", is_flag=True, help="Permit the key to create wallets.")
@save_option
@output_options
@with_service
def create(
    service: Client,
    name: str,
    *,
    description: str,
    execute: tuple[str, ...],
    manage: tuple[str, ...],
    add: tuple[str, ...],
    take: tuple[str, ...],
    can_create_groups: bool,
    can_delete_groups: bool,
    can_create_wallets: bool,
    save: Path | None,
    as_json: bool,
) -> None:
    """Create a usage key with the name NAME, and print the key.

    The command costs one cent, and shows the key only once.
    """
    with new_key_file(save) as into:
        key = service.usage_keys.create(
            name,
            description=description,
            execute_in_groups=list(execute),
            manage_ipfs_ids_in_groups=list(manage),
            add_pkp_to_groups=list(add),
            remove_pkp_from_groups=list(take),
            can_create_groups=can_create_groups,
            can_delete_groups=can_delete_groups,
            can_create_pkps=can_create_wallets,
        )
        secret = key.usage_api_key.reveal() if key.usage_api_key else ""
        print_secret("usage_api_key", secret, as_json=as_json, beside={"api_key_hash": key.api_key_hash}, into=into)


@command.command("update", epilog=examples("svcnb keys update 0x5d1c... --execute-in-group 1 --execute-in-group 2"))
@click.argument("key_hash", metavar="HASH", type=KeyHash())
@click.option("--name", help="The new name.")
@click.option("--description", help="The new description.")
@click.option(
    "--execute-in-group",
    "execute",
    multiple=True,
    help=f"Complete new list of groups in which the key can run actions: {_GROUPS}.",
)
@click.option(
    "--manage-actions-in-group",
    "manage",
    multiple=True,
    help=f"Complete new list of groups in which the key can add and remove actions: {_GROUPS}.",
)
@click.option(
    "--add-wallets-to-group",
    "add",
    multiple=True,
    help=f"Complete new list of groups to which the key can add wallets: {_GROUPS}.",
)
@click.option(
    "--remove-wallets-from-group",
    "take",
    multiple=True,
    help=f"Complete new list of groups from which the key can remove wallets: {_GROUPS}.",
)
@click.option("--can-create-groups/--cannot-create-groups", default=None, help="Whether the key can create groups.")
@click.option("--can-delete-groups/--cannot-delete-groups", default=None, help="Whether the key can delete groups.")
@click.option("--can-create-wallets/--cannot-create-wallets", default=None, help="Whether the key can create wallets.")
@output_options
@with_service
def update(
    service: Client,
    key_hash: str,
    *,
    name: str | None,
    description: str | None,
    execute: tuple[str, ...],
    manage: tuple[str, ...],
    add: tuple[str, ...],
    take: tuple[str, ...],
    can_create_groups: bool | None,
    can_delete_groups: bool | None,
    can_create_wallets: bool | None,
    as_json: bool,
) -> None:
    """Change a usage key, by its hash. Omitted settings stay unchanged. The command costs one cent.

    The groups in an option replace all previous groups of this permission. The validity period starts again as for a
    new key, unless only the name or the description changes.
    """
    rights: dict[str, Any] = {
        "execute_in_groups": list(execute) or None,
        "manage_ipfs_ids_in_groups": list(manage) or None,
        "add_pkp_to_groups": list(add) or None,
        "remove_pkp_from_groups": list(take) or None,
        "can_create_groups": can_create_groups,
        "can_delete_groups": can_delete_groups,
        "can_create_pkps": can_create_wallets,
    }
    if any(value is not None for value in rights.values()):
        key = service.usage_keys.update(key_hash, name=name, description=description, **rights)
    elif name is not None or description is not None:
        key = service.usage_keys.update_metadata(key_hash, name=name, description=description)
    else:
        raise click.UsageError("nothing to change: pass at least one option, for example --name")
    short = {"hash": key.api_key_hash, "name": key.name, "groups": list(key.execute_in_groups)}
    show(key if as_json else short, as_json=as_json)


@command.command("delete")
@click.argument("key_hash", metavar="HASH", type=KeyHash())
@with_service
def delete(service: Client, key_hash: str) -> None:
    """Delete a usage key permanently, by its hash. The command costs one cent."""
    service.usage_keys.delete(key_hash)


command.rename("remove", delete)
