"""Audit of an account's usage keys and groups, with findings about permissions that can be too broad.

Source: docs/service/index.md#derived-actions, docs/service/index.md#what-the-service-does,
    docs/service/resources.md#usage-key, docs/service/permissions.md#permission-of-each-endpoint,
    docs/service/permissions.md#using-a-wallet, docs/service/keys.md#derivation-of-keys.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from svcnb.checked import checked
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey, describe_groups
from svcnb.client.models.wallets import Wallet
from svcnb.client.permission_snapshot import executes, expired, master_wallet_of
from svcnb.protocol.durations import seconds
from svcnb.renamed import renamed

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.chain_secured.account import ChainSecuredAccount

Severity = Literal["danger", "warning", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("danger", "warning", "note")
"""Severities of findings, most severe first."""


class Finding(Model):
    """Finding about an account's permissions, for example that a permission is too broad."""

    severity: Severity
    """``danger``: anyone who has the key, or the author of any permitted action, can take assets of the account.
    ``warning``: a permission is broader than most accounts need, or a key expires soon. ``note``: the key, group or
    permission has no effect at this time."""

    code: str
    """Code of the kind of problem, for example ``wildcard_key``."""

    subject: str
    """Key or group that has the problem, for example ``key 'backup'``."""

    text: str
    """Description of the finding, in one sentence."""

    @property
    def weight(self) -> Severity:
        """Deprecated name of `severity`."""
        renamed("Finding.weight", "Finding.severity")
        return self.severity


class KeyRights(Model):
    """Permissions of one usage key."""

    key: str
    """Name of the key, or its shortened hash if the key has no name."""
    key_hash: str
    """Hash of the usage key, ``0x`` and 64 hex digits."""
    execute: str
    """Groups whose actions the key can run, as text. Empty if there are none."""

    manage: str
    """Other permissions, as text."""

    expires: str
    """Date on which the key expires (UTC), or ``never``."""

    quiet: ClassVar[frozenset[str]] = frozenset({"key_hash"})


@dataclass(frozen=True)
class Permissions:
    """Snapshot of all permissions of an account.

    Attributes:
        keys: The usage keys.
        groups: The groups and their permissions.
        wallets: The wallets.
        now: Time of the service in Unix seconds.
    """

    keys: Sequence[UsageKey]
    groups: Sequence[tuple[Group, GroupContents]]
    wallets: Sequence[Wallet]
    now: float

    def table(self) -> Listing[KeyRights]:
        """Returns a table of permissions with one row for each key."""
        return Listing((_row(key) for key in self.keys), of="usage keys", kind=KeyRights)

    def findings(self, *, expires_within: float | str | timedelta = "30d") -> Listing[Finding]:
        """Returns the findings, most severe first.

        Args:
            expires_within: Time from now: seconds, text such as ``"30d"``, or a ``timedelta``. The result contains a
                warning for each key that expires within this time.

        Raises:
            ValueError: `expires_within` is not a valid duration.
        """
        soon = seconds(expires_within)
        found = [
            *(finding for key in self.keys for finding in self._of_key(key, soon)),
            *(finding for group, contents in self.groups for finding in self._of_group(group, contents)),
        ]
        return Listing(sorted(found, key=lambda each: SEVERITIES.index(each.severity)), of="findings", kind=Finding)

    def _of_key(self, key: UsageKey, soon: float) -> Iterator[Finding]:
        who = _key(key)
        if expired(key, self.now):
            text = f"the key expired at {key.expires_at:%Y-%m-%d %H:%M} UTC: delete the key"
            yield _finding("note", "expired", who, text)
            return
        if key.expiration and key.expiration - self.now < soon:
            yield _finding("warning", "expires_soon", who, f"the key expires at {key.expires_at:%Y-%m-%d %H:%M} UTC")
        if 0 in key.execute_in_groups:
            text = "the key can run any action with any wallet of the account (execute_in_groups contains 0)"
            yield _finding("danger" if self._master else "warning", "wildcard_key", who, text)
        if own := self._grants_itself(key):
            where = describe_groups(own)
            text = f"the key can add actions to {where} and run them there, so anyone who has the key can run any code"
            yield _finding("danger", "self_granting", who, text)
        elif not key.execute_only and key.execute_in_groups:
            text = f"the key can run actions and change the account: {key.may}"
            yield _finding("warning", "runs_and_manages", who, text)
        live = {group.id for group, _ in self.groups}
        named = {*key.execute_in_groups, *key.manage_ipfs_ids_in_groups}
        named |= {*key.add_pkp_to_groups, *key.remove_pkp_from_groups}
        if dead := sorted(named - live - {0}):
            # The service assigns numbers in order. If a listed number is not in use yet, a future group gets this
            # number, and the key then has access to that group.
            text = (
                f"the key lists groups that do not exist: {describe_groups(dead)}. If the account gets a new group "
                "with one of these numbers, the key has access to the new group."
            )
            yield _finding("note", "removed_groups", who, text)
        if key.may == "only read":
            yield _finding("note", "powerless", who, "the key can only read")

    def _of_group(self, group: Group, contents: GroupContents) -> Iterator[Finding]:
        who = f"group {group.id} {group.name!r}"
        users = [key for key in self.keys if executes(key, group.id) and not expired(key, self.now)]
        if contents.any_action and users:
            text = "the group permits every action, including actions of other accounts"
            yield _finding("danger", "wildcard_action", who, text)
        if contents.any_wallet:
            text = "the group permits every wallet of the account, including new wallets"
            yield _finding("warning", "wildcard_wallet", who, text)
        master = self._master
        if master and (contents.any_wallet or any(each.wallet_address == master for each in contents.wallets)):
            text = "the group permits the account's master wallet, and the key of that wallet is the account key"
            yield _finding("danger", "master_wallet", who, text)
        if not users:
            yield _finding("note", "unused_group", who, "no usage key can execute in the group")
        elif not contents.actions and not contents.any_action:
            yield _finding("note", "empty_group", who, "the group does not permit any action")

    @property
    def _master(self) -> str | None:
        return master_wallet_of(self.wallets)

    def _grants_itself(self, key: UsageKey) -> list[int]:
        """Returns the ids of the groups in which a key can both permit an action and run this action."""
        return [
            group.id
            for group, _ in self.groups
            if executes(key, group.id)
            and (0 in key.manage_ipfs_ids_in_groups or group.id in key.manage_ipfs_ids_in_groups)
        ]


@checked
def read_permissions(account: Client | ChainSecuredAccount, *, now: float | None = None) -> Permissions:
    """Returns the permissions of an account. This call is free in API mode and in ChainSecured mode.

    Args:
        account: A client with any key of the account, or a ChainSecured account opened by its owner.
        now: Time of the service in Unix seconds. None means the estimated time of the service for a client, and the
            time of this machine for a ChainSecured account.
    """
    groups = account.groups.list()
    return Permissions(
        keys=account.usage_keys.list(),
        groups=[(group, account.groups.contents(group)) for group in groups],
        wallets=account.wallets.list(),
        now=getattr(account, "now", time.time)() if now is None else now,
    )


def _row(key: UsageKey) -> KeyRights:
    manage = [right for right in key.may.split("; ") if not right.startswith("execute in ")]
    return KeyRights(
        key=key.name or _short(key.api_key_hash),
        key_hash=key.api_key_hash,
        execute=describe_groups(key.execute_in_groups) if key.execute_in_groups else "",
        manage="; ".join(manage),
        expires=f"{key.expires_at:%Y-%m-%d}" if key.expires_at else "never",
    )


def _finding(severity: Severity, code: str, subject: str, text: str) -> Finding:
    return Finding(severity=severity, code=code, subject=subject, text=text)


def _key(key: UsageKey) -> str:
    return f"key {key.name!r}" if key.name else f"key {_short(key.api_key_hash)}"


def _short(hashed: str) -> str:
    return f"{hashed[:10]}…{hashed[-4:]}"
