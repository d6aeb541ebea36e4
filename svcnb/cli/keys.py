"""``svcnb keys``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import Noun, json_option, show
from svcnb.cli._service import new_key_file, save_option, tell_secret, with_service

if TYPE_CHECKING:
    from svcnb.client import Client

_GROUPS = "a group's number, 0 for all; may be repeated"


@click.group("keys", cls=Noun)
def command() -> None:
    """Usage keys: credentials that may do little.

    They need the account key. A key is named by its hash, which `svcnb keys list` shows.
    """


@command.command("list")
@json_option
@with_service
def list_(service: Client, as_json: bool) -> None:
    """List the account's usage keys, without their secrets. Free."""
    keys = service.usage_keys.list()
    short = [{"hash": key.api_key_hash, "name": key.name, "groups": list(key.execute_in_groups)} for key in keys]
    show(keys if as_json else short, as_json=as_json)


@command.command("create", epilog=examples("svcnb keys create runner --execute-in-group 1 --save runner.key"))
@click.argument("name")
@click.option("--description", default="", help="What it is for.")
@click.option("--execute-in-group", "execute", multiple=True, help=f"Where it may run actions: {_GROUPS}.")
@click.option("--manage-actions-in-group", "manage", multiple=True, help=f"Where it may change actions: {_GROUPS}.")
@click.option("--add-wallets-to-group", "add", multiple=True, help=f"Where it may add wallets: {_GROUPS}.")
@click.option("--remove-wallets-from-group", "take", multiple=True, help=f"Where it may remove wallets: {_GROUPS}.")
@click.option("--can-create-groups", is_flag=True, help="It may make groups.")
@click.option("--can-delete-groups", is_flag=True, help="It may remove groups.")
@click.option("--can-create-wallets", is_flag=True, help="It may make wallets.")
@save_option
@json_option
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
    """Make a usage key called NAME and print it, this once. Costs one cent."""
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
        tell_secret("usage_api_key", secret, as_json=as_json, beside={"api_key_hash": key.api_key_hash}, into=into)


@command.command("remove")
@click.argument("key_hash")
@with_service
def remove(service: Client, key_hash: str) -> None:
    """Remove a usage key for ever, by its hash. Costs one cent."""
    service.usage_keys.remove(key_hash)
