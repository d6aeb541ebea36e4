"""Permissions in one account, computed from its events.

Events contain neither names nor the initial entries of groups (docs/service/contract.md#events), but the call data of
their transactions contains both. Logs and transactions therefore determine the complete state at any block. Most nodes
store logs and transactions, so an archive node is rarely needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from svcnb.client.chain.events import Log
from svcnb.client.chain.names import Names, permissions, sentence, short
from svcnb.protocol.hashes import checksum_address


@dataclass
class GroupRights:
    """Actions and wallets that a group permits.

    Attributes:
        name: Name from the last call that created or updated the group. Empty if unknown.
        actions: Hashed CIDs of the permitted actions, as numbers. 0 means all actions.
        wallets: Addresses of the permitted wallets in lowercase. The zero address means all wallets.
    """

    name: str
    actions: set[int] = field(default_factory=set)
    wallets: set[str] = field(default_factory=set)


@dataclass
class KeyRights:
    """Permissions of a usage key.

    Attributes:
        name: Name from the last call of setUsageApiKey.
        arguments: Arguments of setUsageApiKey by name, or None if the arguments are unknown.
        expiration: Time at which the key expires, in Unix seconds. 0 means that the key never expires.
    """

    name: str
    arguments: Mapping[str, Any] | None
    expiration: int = 0


@dataclass
class Rights:
    """An account's permissions at a point in time.

    Attributes:
        admin: Address of the wallet that owns the account. Empty before the first event of the account.
        managed: Whether the account is in API mode.
        groups: Permissions of each group, by number.
        keys: Permissions of each usage key, by hash.
        names: Names of the account's objects at that point in time.
    """

    admin: str = ""
    managed: bool = False
    groups: dict[int, GroupRights] = field(default_factory=dict)
    keys: dict[int, KeyRights] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def apply(self, log: Log, call: Mapping[str, Any] | None) -> str:
        """Changes the permissions as one event describes, and returns a description of the change.

        Args:
            log: Event of the account, later than all events that were applied before.
            call: Arguments of the contract call that caused the event, or None if they are unknown.
        """
        handler = _HANDLERS.get(log.event)
        return handler(self, log.args, call) if handler else log.event

    def statements(self) -> set[tuple[str, str]]:
        """Returns all permissions as pairs: an object, such as a group or a usage key, and a permission."""
        names = self.names
        said = {("account", f"is {'in API mode' if self.managed else 'ChainSecured'}")}
        if self.admin:
            said.add(("account", f"belongs to {checksum_address(self.admin)}"))
        said |= {("wallet", f"{names.wallet(address)} is registered") for address in names.wallets}
        for number, group in self.groups.items():
            subject = names.group(number)
            said.add((subject, "exists"))
            said |= {(subject, f"permits {names.action(hashed)}") for hashed in group.actions}
            said |= {(subject, f"permits {names.wallet(address)}") for address in group.wallets}
        for hashed, key in self.keys.items():
            subject = names.key(hashed)
            until = "without expiration" if not key.expiration else f"until {_moment(key.expiration)}"
            said.add((subject, f"is valid {until}"))
            if key.arguments is not None:
                said |= {(subject, f"can {part}") for part in permissions(key.arguments, names).split("; ")}
        return said


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return str(seconds)  # ``datetime`` does not support years after 9999


# --- events -------------------------------------------------------------------------------------------------------


def _created(rights: Rights, a: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
    rights.admin, rights.managed = a["admin"], a["managed"]
    name = f" {call['accountName']!r}" if call else ""
    return f"create the account{name} {'in API mode' if a['managed'] else 'as ChainSecured'}, admin {short(a['admin'])}"


def _converted(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    rights.admin, rights.managed = a["newAdminWalletAddress"], False
    return f"convert to ChainSecured, admin {short(rights.admin)}"


def _transferred(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    rights.admin = a["newAdminWalletAddress"]
    return f"transfer the account from {short(a['previousAdminWalletAddress'])} to {short(rights.admin)}"


def _group_filled(function: str) -> Any:
    def handle(rights: Rights, a: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
        number = a["groupId"]
        known = rights.names.groups.get(number, "")
        group = GroupRights(known)
        if call is None:
            rights.groups[number] = group
            return f"{function}: {rights.names.group(number)}, contents unknown"
        group.name = call["name"]
        group.actions, group.wallets = set(call["cidHashes"]), {item.lower() for item in call["pkpIds"]}
        said = sentence(function, {"groupId": number, **call}, rights.names)
        rights.groups[number] = group
        rights.names.groups[number] = group.name
        return said

    return handle


def _group_removed(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    rights.groups.pop(a["groupId"], None)
    return sentence("removeGroup", a, rights.names)


def _action_added(rights: Rights, a: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
    if call is None:
        return f"register action {short(a['actionHash'])}"
    said = sentence("addAction", call, rights.names)
    rights.names.actions[a["actionHash"]] = call["name"]
    return said


def _action_removed(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    for group in rights.groups.values():
        group.actions.discard(a["actionHash"])
    return sentence("removeAction", a, rights.names)


def _member(function: str, kind: str, *, comes: bool) -> Any:
    def handle(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
        group = rights.groups.setdefault(a["groupId"], GroupRights(rights.names.groups.get(a["groupId"], "")))
        members: set[Any] = group.actions if kind == "action" else group.wallets
        entry = a["action"] if kind == "action" else a["pkpId"].lower()
        if comes:
            members.add(entry)
        else:
            members.discard(entry)
        return sentence(function, a, rights.names)

    return handle


def _key_set(rights: Rights, a: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
    hashed = a["usageApiKeyHash"]
    if call is None:
        rights.keys[hashed] = KeyRights(rights.names.keys.get(hashed, ""), None)
        return f"set {rights.names.key(hashed)}, permissions unknown"
    rights.names.keys[hashed] = call["name"]
    rights.keys[hashed] = KeyRights(call["name"], call, call["expiration"])
    return sentence("setUsageApiKey", call, rights.names)


def _key_removed(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    rights.keys.pop(a["usageApiKeyHash"], None)
    return sentence("removeUsageApiKey", a, rights.names)


def _wallet_registered(rights: Rights, a: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
    name = call["name"] if call else ""
    rights.names.wallets[a["pkpId"].lower()] = name
    return sentence("registerWalletDerivation", {"name": name, "pkpId": a["pkpId"]}, rights.names)


def _wallet_removed(rights: Rights, a: Mapping[str, Any], _call: Mapping[str, Any] | None) -> str:
    said = sentence("removeWalletDerivation", a, rights.names)
    rights.names.wallets.pop(a["pkpId"].lower(), None)
    return said


_HANDLERS: Final[dict[str, Any]] = {
    "AccountCreated": _created,
    "AccountConvertedToChainSecured": _converted,
    "ChainSecuredAccountOwnershipTransferred": _transferred,
    "GroupAdded": _group_filled("addGroup"),
    "GroupUpdated": _group_filled("updateGroup"),
    "GroupRemoved": _group_removed,
    "ActionAdded": _action_added,
    "ActionRemoved": _action_removed,
    "ActionAddedToGroup": _member("addActionToGroup", "action", comes=True),
    "ActionRemovedFromGroup": _member("removeActionFromGroup", "action", comes=False),
    "PkpAddedToGroup": _member("addPkpToGroup", "wallet", comes=True),
    "PkpRemovedFromGroup": _member("removePkpFromGroup", "wallet", comes=False),
    "UsageApiKeySet": _key_set,
    "UsageApiKeyRemoved": _key_removed,
    "WalletDerivationRegistered": _wallet_registered,
    "WalletDerivationRemoved": _wallet_removed,
}

CAUSES: Final[dict[str, tuple[str, ...]]] = {
    "AccountCreated": ("newChainSecuredAccount", "newAccount"),
    "GroupAdded": ("addGroup",),
    "GroupUpdated": ("updateGroup",),
    "ActionAdded": ("addAction",),
    "UsageApiKeySet": ("setUsageApiKey",),
    "WalletDerivationRegistered": ("registerWalletDerivation",),
}
"""Names of the functions that emit an event, with the name of the event as key.

The table contains only events that have less information than the call data of their functions.
"""
