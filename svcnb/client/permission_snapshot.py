"""Snapshot of an account's permissions for one key, one action and one wallet, with warnings about the permissions.

Source: docs/service/permissions.md#running-an-action, docs/service/permissions.md#using-a-wallet,
    docs/service/keys.md#derivation-of-keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from svcnb.client.models.explanation import ExplanationWarning, GroupLink, WarningCode
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey, describe_groups
from svcnb.client.models.wallets import Wallet

MASTER_NAME: Final = "the account key"

Kind = Literal["usage", "master", "unknown", "elsewhere"]

_TEXTS: Final[dict[WarningCode, str]] = {
    "master_key": (
        "the key is the account key: anyone who has the account key controls the account. Instead, use a usage key "
        "with only execute_in_groups."
    ),
    "wildcard_key": (
        "the key has a wildcard (0): the key can run any action with any wallet of the account, including the master "
        "wallet. The private key of the master wallet is the account key. Some services still require a group that "
        "permits the wallet."
    ),
    "wildcard_action": "{} has a wildcard (0) that permits every action, including actions of other accounts",
    "wildcard_wallet": "{} has a wildcard that permits every wallet of the account",
    "master_wallet": (
        "{} permits the account's master wallet: an action that reads the private key of this wallet receives the "
        "account key"
    ),
    "removed_groups": (
        "the key lists groups that do not exist: {}. If the account gets a new group with one of these numbers, "
        "the key has access to the new group."
    ),
    "hidden_actions": "the service hides unregistered actions of {}, so this result can be wrong: register the action",
}


@dataclass(frozen=True)
class PermissionSnapshot:
    """Snapshot of an account's permissions for one key, one action and one wallet.

    Attributes:
        kind: Kind of the key: ``usage`` for a usage key of the account, or ``master`` for the account key. A key of
            another account has the kind ``elsewhere``. A key that does not exist has the kind ``unknown``.
        key_hash: The key's hash, ``0x`` followed by 64 hex digits.
        key: The usage key with its permissions, or None for other kinds of key.
        action_hash: The action's hashed CID.
        cid: The action's raw CID, or None if only the hash is available.
        action_name: Name under which the account registered the action. If the action is not registered, the name of
            the `Action` object, or an empty string.
        wallet: Address of the wallet, or None for a run without a wallet.
        wallets: All wallets of the account.
        master_wallet: The wallet whose private key is the account key, or None if the account never had one.
        groups: All groups, with their actions and wallets.
        other_keys: The account's other usage keys.
        now: Time of the service in Unix seconds.
        available_cents: Credit in US cents, or None if unknown or not needed.
        subject: Name of the variable in the code of repairs: ``svc`` for a client, ``mine`` for a ChainSecured account.
    """

    kind: Kind
    key_hash: str
    key: UsageKey | None
    action_hash: str
    cid: str | None
    action_name: str
    wallet: str | None
    wallets: Sequence[str]
    master_wallet: str | None
    groups: Sequence[tuple[Group, GroupContents]]
    other_keys: Sequence[UsageKey] = ()
    now: float = 0.0
    available_cents: int | None = None
    subject: str = "svc"


def links(snapshot: PermissionSnapshot) -> list[GroupLink]:
    """Returns one `GroupLink` for each group of the account."""
    return [_link(snapshot, group, contents) for group, contents in snapshot.groups]


def _link(snapshot: PermissionSnapshot, group: Group, contents: GroupContents) -> GroupLink:
    named = any(action.hashed_cid == snapshot.action_hash for action in contents.actions)
    held = any(wallet.wallet_address == snapshot.wallet for wallet in contents.wallets)
    wildcards: list[Literal["key", "action", "wallet"]] = []
    if unbound(snapshot):
        wildcards.append("key")
    if contents.any_action and not named:
        wildcards.append("action")
    if snapshot.wallet is not None and contents.any_wallet and not held:
        wildcards.append("wallet")
    return GroupLink(
        id=group.id,
        name=group.name,
        key=unbound(snapshot) or bool(snapshot.key and group.id in snapshot.key.execute_in_groups),
        action=named or contents.any_action,
        wallet=None if snapshot.wallet is None else held or contents.any_wallet,
        by_wildcard=tuple(wildcards),
    )


def contents_of(snapshot: PermissionSnapshot, number: int) -> GroupContents:
    """Returns the actions and the wallets that a group permits."""
    return next(contents for group, contents in snapshot.groups if group.id == number)


def unbound(snapshot: PermissionSnapshot) -> bool:
    """Returns whether the key can execute all actions, independently of groups."""
    return snapshot.kind == "master" or bool(snapshot.key and 0 in snapshot.key.execute_in_groups)


def executes(key: UsageKey, group: int) -> bool:
    """Returns whether a usage key can execute the actions of a group."""
    return 0 in key.execute_in_groups or group in key.execute_in_groups


def reaches_master(snapshot: PermissionSnapshot, contents: GroupContents) -> bool:
    """Returns whether a group permits the account's master wallet, whose private key is the account key."""
    if snapshot.master_wallet is None:
        return False
    return contents.any_wallet or any(each.wallet_address == snapshot.master_wallet for each in contents.wallets)


def master_wallet_of(wallets: Sequence[Wallet]) -> str | None:
    """Returns the wallet whose private key is the account key, or None (docs/service/keys.md#derivation-of-keys).

    An account that a wallet created has no master wallet. A converted account still has a master wallet.
    """
    first = wallets[0] if wallets else None
    named = first is not None and (first.name == "AMW" or first.description == "Account Master Wallet")
    return first.wallet_address if first is not None and named else None


def expired(key: UsageKey, now: float) -> bool:
    """Returns whether a usage key has expired at the time ``now``, in Unix seconds."""
    return bool(key.expiration) and now >= (key.expiration or 0)


def named(name: str, hashed: str) -> str:
    """Returns a label that consists of a name and a short hash."""
    short = f"{hashed[:10]}…{hashed[-4:]}"
    return f"{name!r} {short}" if name else short


def key_label(snapshot: PermissionSnapshot) -> str:
    """Returns the name of the key with the start of its hash, or a fixed name for the account key."""
    if snapshot.kind == "master":
        return MASTER_NAME
    return named(snapshot.key.name if snapshot.key else "", snapshot.key_hash)


def warnings(snapshot: PermissionSnapshot) -> Iterator[ExplanationWarning]:
    """Yields the warnings about the key and the groups. A permitted run can also have warnings."""
    if snapshot.kind == "master":
        yield warning("master_key")
    elif unbound(snapshot):
        yield warning("wildcard_key")
    for found in links(snapshot):
        if found.key and found.action:
            yield from _of_group(snapshot, found)
    live = {group.id for group, _ in snapshot.groups}
    named_groups = snapshot.key.execute_in_groups if snapshot.key else ()
    if dead := [number for number in named_groups if number and number not in live]:
        yield warning("removed_groups", *dead)
    hidden = [group.id for group, held in snapshot.groups if any(item.hashed_cid is None for item in held.actions)]
    if hidden:
        yield warning("hidden_actions", *hidden)


def _of_group(snapshot: PermissionSnapshot, found: GroupLink) -> Iterator[ExplanationWarning]:
    contents = contents_of(snapshot, found.id)
    if "action" in found.by_wildcard:
        yield warning("wildcard_action", found.id)
    if "wallet" in found.by_wildcard or (snapshot.wallet is None and contents.any_wallet):
        yield warning("wildcard_wallet", found.id)
    if reaches_master(snapshot, contents):
        yield warning("master_wallet", found.id)


def warning(code: WarningCode, *groups: int) -> ExplanationWarning:
    """Returns a warning, whose text contains the groups.

    Args:
        code: Code of the warning.
        groups: Groups that the warning concerns.
    """
    return ExplanationWarning(code=code, text=_TEXTS[code].format(describe_groups(groups)))
