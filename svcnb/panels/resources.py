"""Base class of panels that create wallets, groups and usage keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.models.explanation import Explanation
from svcnb.client.models.wallets import Wallet
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.client.secret import Secret
from svcnb.panels.base import Panel, command
from svcnb.panels.session import Session
from svcnb.panels.wire import field
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import api_key_hash, uint256_hex, usage_key_bytes, usage_key_hash


class ResourcePanel(Panel):
    """Base class of panels that show and create wallets, groups and usage keys of the open account.

    In ChainSecured mode, each creation needs transactions of the owner's wallet. The panel shows each transaction
    before the wallet signs it.
    """

    @command
    async def resources(self) -> dict[str, Any]:
        """Returns the wallets, the groups, the usage keys, and the key that runs actions. The calls are free."""
        resources = self.session.resources
        wallets, groups, keys = await asyncio.gather(
            resources.wallets.list(), resources.groups.list(), resources.usage_keys.list()
        )
        usable, master = self.session.usable_keys, master_wallet_of(wallets)
        own = _hashes(self.client.config.api_key)
        return {
            "mode": self.session.mode,
            "wallets": [
                {
                    "address": each.wallet_address,
                    "name": wallet_title(each, number, master),
                    "master": each.wallet_address == master,
                }
                for number, each in enumerate(wallets)
            ],
            "groups": [{"id": each.id, "name": each.name} for each in groups],
            "keys": [
                {"hash": each.api_key_hash, "name": each.name, "usable": each.api_key_hash in usable} for each in keys
            ],
            "run_key": self.session.run_key,
            "client_key": next((each.name for each in keys if each.api_key_hash in own), ""),
        }

    @command
    async def new_wallet(self, name: str = "") -> dict[str, str]:
        """Creates a wallet whose private key the service derives, and returns the address of the wallet.

        Args:
            name: Name of the wallet on the chain. In API mode, wallets have no name.
        """
        session = self.session
        on_chain = session.account is not None
        self.channel.progress("Creating the wallet")
        with field("name"), _announced(session):
            given = (_named(name, "wallet"),) if on_chain else ()
            made = await session.resources.wallets.create(*given)
        variable = session.name("wallet", made.wallet_address)
        self.record(f"{variable} = {session.subject}.wallets.create({', '.join(map(repr, given))})")
        session.changed("resources")
        return {"address": made.wallet_address}

    @command
    async def new_group(self, name: str) -> dict[str, Any]:
        """Creates an empty group, and returns its id."""
        session = self.session
        self.channel.progress("Creating the group")
        with field("name"):
            made = await session.resources.groups.create(_named(name, "group"))
        variable = session.name("group", made.id)
        self.record(f"{variable} = {session.subject}.groups.create({name!r})")
        session.changed("resources")
        return {"id": made.id}

    @command
    async def new_usage_key(self, name: str, groups: list[int]) -> dict[str, str]:
        """Creates a usage key that can run the actions of given groups, and returns its secret and its hash."""
        session = self.session
        if not groups:
            raise InvalidArgument(
                "no group is chosen for the usage key", hint="Choose the group whose actions the key can run."
            )
        self.channel.progress("Creating the usage key")
        with field("name"), _announced(session):
            made = await session.resources.usage_keys.create(_named(name, "usage key"), execute_in_groups=groups)
        variable = session.name("key", made.api_key_hash)
        chosen = ", ".join(session.named("group", group) for group in groups)
        self.record(f"{variable} = {session.subject}.usage_keys.create({name!r}, execute_in_groups=[{chosen}])")
        session.granted()
        session.add_key(made)
        session.changed("resources")
        return {"secret": made.usage_api_key.reveal() if made.usage_api_key else "", "hash": made.api_key_hash}

    @command
    def choose_key(self, which: str) -> None:
        """Chooses the key that runs actions, by its hash. An empty string chooses the client's key."""
        self.session.choose_key(which)

    @command
    async def allow(self, source: str, group: int, wallet: str = "") -> None:
        """Permits an action and optionally a wallet in a group. Existing permissions stay unchanged."""
        session = self.session
        with field("source"):
            action = Action(source)
        contents = await session.resources.groups.contents(group)
        where = session.named("group", group)
        if not contents.any_action and action.hashed_cid not in {each.hashed_cid for each in contents.actions}:
            self.channel.progress("Permitting the action in the group")
            await session.resources.groups.add_action(group, action)
            self.record(f"{session.subject}.groups.add_action({where}, {self.action_code(action)})")
        held = {each.wallet_address.lower() for each in contents.wallets}
        if wallet and not contents.any_wallet and wallet.lower() not in held:
            self.channel.progress("Permitting the wallet in the group")
            await session.resources.groups.add_wallet(group, wallet)
            self.record(f"{session.subject}.groups.add_wallet({where}, {session.named('wallet', wallet)})")
        session.granted()
        session.changed("resources")

    def action_code(self, action: Action) -> str:
        """Returns the action as an expression of the recorded Python."""
        return repr(action.cid)


@contextmanager
def _announced(session: Session) -> Iterator[None]:
    """Context manager that announces a failed creation to all panels. The account panel lists incomplete objects."""
    try:
        yield
    except SvcnbError:
        if session.account is not None:
            session.changed("resources")
        raise


def repairs(found: Explanation) -> dict[str, Any]:
    """Returns the calls that add a missing permission, and the warnings of an explanation, as JSON values."""
    return {
        "repairs": [{"says": way.says, "code": way.code, "cost_cents": way.cost_cents} for way in found.repairs],
        "warnings": [each.text for each in found.warnings],
    }


def _hashes(key: Secret | None) -> set[str]:
    """Returns the hashes under which the account can list a key.

    In API mode, the account lists the hash of the key's text. In ChainSecured mode, the account lists the hash of the
    key's bytes.
    """
    if key is None:
        return set()
    text = key.reveal()
    raw = usage_key_bytes(text)
    return {api_key_hash(text)} | ({uint256_hex(usage_key_hash(raw))} if raw else set())


def _named(name: str, what: str) -> str:
    if not name.strip():
        raise InvalidArgument(f"the {what} name is empty", hint=f"Enter a name for the {what}.")
    return name.strip()


def wallet_title(wallet: Wallet, number: int, master: str | None) -> str:
    """Returns the displayed name of a wallet.

    In API mode, all wallets have the same name, so the panel numbers them.
    """
    if wallet.wallet_address == master:
        return "master wallet"
    return f"wallet {number}" if wallet.name in {"", "Wallet"} else wallet.name
