"""Names for the hashes, numbers and addresses of one account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_SHORT: Final = 10


@dataclass
class Names:
    """Names of an account's objects.

    Attributes:
        groups: Names by number.
        actions: Names by action hash.
        wallets: Names by lowercase address.
        keys: Names by usage-key hash.
    """

    groups: dict[int, str] = field(default_factory=dict)
    actions: dict[int, str] = field(default_factory=dict)
    wallets: dict[str, str] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)

    def merged(self, older: Names) -> Names:
        """Returns these names, plus older names of groups, actions and keys that no longer have a name.

        The names of wallets are only from ``older``, because `Rights` also uses them as the list of registered wallets.
        """
        return Names(
            groups=older.groups | self.groups,
            actions=older.actions | self.actions,
            wallets=older.wallets,
            keys=older.keys | self.keys,
        )

    def group(self, number: int) -> str:
        """Returns the number and the name of a group, as text for descriptions. 0 means every group."""
        if number == 0:
            return "every group"
        name = self.groups.get(number)
        return f"group {number} {name!r}" if name else f"group {number}"

    def action(self, hashed: int) -> str:
        """Returns the name of an action, or the start of its hash, as text for descriptions. 0 means every action."""
        if hashed == 0:
            return "every action"
        name = self.actions.get(hashed)
        return f"action {name!r}" if name else f"action {short(hashed)}"

    def wallet(self, address: str) -> str:
        """Returns a wallet's name and the start of its address, as text. The zero address means every wallet."""
        if not address.removeprefix("0x").strip("0"):
            return "every wallet"
        name = self.wallets.get(address.lower())
        return f"wallet {name!r} {short(address)}" if name else f"wallet {short(address)}"

    def key(self, hashed: int) -> str:
        """Returns the name of a usage key, or the start of its hash, as text for descriptions."""
        name = self.keys.get(hashed)
        return f"usage key {name!r}" if name else f"usage key {short(hashed)}"


def short(value: int | str) -> str:
    """Returns the start of a hash or an address, which is enough to distinguish the objects of an account."""
    text = f"0x{value:064x}" if isinstance(value, int) else value.lower()
    return text[:_SHORT] + "…"


def sentence(function: str, a: Mapping[str, Any], names: Names) -> str:
    """Returns a description of a call to the contract.

    Args:
        function: Name of the function.
        a: Arguments of the call by name.
        names: Names of the account's objects.
    """
    writer = _SENTENCES.get(function)
    return writer(a, names) if writer else f"call {function}"


def _in_group(verb: str, preposition: str) -> Any:
    def write(a: Mapping[str, Any], names: Names) -> str:
        member = names.wallet(a["pkpId"]) if "pkpId" in a else names.action(a["action"])
        return f"{verb} {member} {preposition} {names.group(a['groupId'])}"

    return write


def _members(a: Mapping[str, Any], names: Names) -> str:
    listed = [names.action(item) for item in a["cidHashes"]] + [names.wallet(item) for item in a["pkpIds"]]
    return ", ".join(listed) or "nothing"


def permissions(a: Mapping[str, Any], names: Names) -> str:
    """Returns a description of a usage key's permissions."""
    lists = {
        "execute in": a["executeInGroups"],
        "manage actions in": a["manageIPFSIdsInGroups"],
        "add wallets to": a["addPkpToGroups"],
        "remove wallets from": a["removePkpFromGroups"],
    }
    flags = {
        "create groups": a["createGroups"],
        "delete groups": a["deleteGroups"],
        "create wallets": a["createPKPs"],
    }
    said = [f"{verb} {', '.join(names.group(group) for group in groups)}" for verb, groups in lists.items() if groups]
    return "; ".join(said + [verb for verb, allowed in flags.items() if allowed]) or "only read"


_SENTENCES: Final[dict[str, Any]] = {
    "newChainSecuredAccount": lambda a, _: f"create the account {a['accountName']!r}, owned by this wallet",
    "transferChainSecuredAccountOwnership": lambda a, _: (
        f"transfer the account to {short(a['newAdminWalletAddress'])}, irreversibly"
    ),
    "setUsageApiKey": lambda a, n: f"set usage key {a['name']!r}, which can {permissions(a, n)}",
    "updateUsageApiKeyMetadata": lambda a, n: f"rename {n.key(a['usageApiKeyHash'])} to {a['name']!r}",
    "removeUsageApiKey": lambda a, n: f"remove {n.key(a['usageApiKeyHash'])}, irreversibly",
    "addGroup": lambda a, n: f"create group {a['name']!r}, which permits {_members(a, n)}",
    "updateGroup": lambda a, n: f"replace {n.group(a['groupId'])} with {a['name']!r}, which permits {_members(a, n)}",
    "updateGroupMetadata": lambda a, n: f"rename {n.group(a['groupId'])} to {a['name']!r}",
    "removeGroup": lambda a, n: f"remove {n.group(a['groupId'])}, irreversibly",
    "addPkpToGroup": _in_group("permit", "in"),
    "removePkpFromGroup": _in_group("remove", "from"),
    "addActionToGroup": _in_group("permit", "in"),
    "removeActionFromGroup": _in_group("remove", "from"),
    "addAction": lambda a, _: f"register action {short(a['actionHash'])} as {a['name']!r}",
    "removeAction": lambda a, n: f"delete {n.action(a['actionHash'])} and remove it from every group",
    "updateActionMetadata": lambda a, n: f"rename {n.action(a['actionHash'])} to {a['name']!r}",
    "registerWalletDerivation": lambda a, _: f"register wallet {a['name']!r} {short(a['pkpId'])}",
    "removeWalletDerivation": lambda a, n: f"remove {n.wallet(a['pkpId'])} from the account",
}
