"""Diagnosis of whether a key can run an action with a wallet, and of the changes that permit the run.

This module performs no input or output. The client fills a `PermissionSnapshot` from HTTP lists (API mode) or from
the contract's views (ChainSecured), and calls `diagnose`.

Source: docs/service/index.md#what-the-service-does, docs/service/permissions.md#running-an-action,
    docs/service/http.md#authentication, docs/service/permissions.md#using-a-wallet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from svcnb.client.models.explanation import Explanation, GroupLink, Missing, Repair
from svcnb.client.models.groups import GroupContents
from svcnb.client.models.usage_keys import describe_groups
from svcnb.client.permission_snapshot import (
    PermissionSnapshot,
    contents_of,
    executes,
    expired,
    key_label,
    links,
    named,
    reaches_master,
    unbound,
    warnings,
)
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS, MAX_GROUP_ENTRIES, MAX_KEY_GROUPS, MIN_PAYMENT_CENTS

MAX_REPAIRS: Final = 3
_AFTER_GROUPS: Final = 2**63
"""Rank that sorts a new group after all other repairs of equal value."""


@dataclass(frozen=True)
class _Candidate:
    """A repair, with the number of unneeded permissions that it grants."""

    says: str
    lines: tuple[str, ...]
    calls: int
    widens: int
    reveals: bool = field(default=False, kw_only=True)
    """Whether the group of the repair permits the master wallet, whose private key is the account key.

    Such repairs come last in the list.
    """

    order: int

    def repair(self, price_cents: int) -> Repair:
        return Repair(says=self.says, code="\n".join(self.lines), cost_cents=self.calls * price_cents)


@dataclass
class _Found:
    missing: Missing = ""
    reason: str = ""
    candidates: list[_Candidate] = field(default_factory=list)


def diagnose(snapshot: PermissionSnapshot) -> Explanation:
    """Returns whether the key can run the action, the missing permission, and the calls that grant this permission."""
    found = _Diagnosis(snapshot).find()
    # An owner's writes to the contract cost gas, but no credit (docs/service/billing.md#prices).
    price = MANAGEMENT_COST_CENTS if snapshot.subject == "svc" else 0
    candidates = sorted(
        found.candidates, key=lambda candidate: (candidate.reveals, candidate.calls, candidate.widens, candidate.order)
    )[:MAX_REPAIRS]
    return Explanation(
        allowed=not found.missing,
        missing=found.missing,
        reason=found.reason,
        key=key_label(snapshot),
        action=named(snapshot.action_name, snapshot.action_hash),
        wallet=snapshot.wallet,
        every_group=unbound(snapshot),
        groups=tuple(link for link in links(snapshot) if link.action or link.wallet or link.key),
        repairs=tuple(candidate.repair(price) for candidate in candidates),
        warnings=tuple(warnings(snapshot)),
    )


class _Diagnosis:
    """Diagnosis of one snapshot."""

    def __init__(self, snapshot: PermissionSnapshot) -> None:
        self.snapshot = snapshot
        self.links = links(snapshot)
        self.live = {link.id for link in self.links}

    def find(self) -> _Found:
        """Returns the first cause of a rejection, in the order of the service's checks, and the repairs that remove it.

        If the service permits the run, the result contains only the reason.
        """
        snapshot = self.snapshot
        if snapshot.kind == "unknown":
            reason = "the key does not exist: it was deleted, never created, or mistyped"
            return _Found("key_unknown", reason, [self._new_key()])
        if snapshot.kind == "elsewhere":
            return _Found("key_of_another_account", "the key belongs to another account", [self._new_key()])
        if snapshot.key and expired(snapshot.key, snapshot.now):
            reason = f"the key expired at {snapshot.key.expires_at:%Y-%m-%d %H:%M} UTC"
            return _Found("key_expired", reason, [self._renew()])
        found = self._missing_group() or self._missing_wallet()
        if found:
            return found
        if snapshot.available_cents is not None and snapshot.available_cents < 1:
            lines = (f"{snapshot.subject}.billing.top_up({MIN_PAYMENT_CENTS})",)
            return _Found(
                "credit", "the account has no credit", [_Candidate("adds credit to the account", lines, 0, 0, 0)]
            )
        return _Found(reason=self._why_allowed())

    # --- missing permission -----------------------------------------------------------------------------------------

    def _missing_group(self) -> _Found | None:
        snapshot, key = self.snapshot, self.snapshot.key
        if unbound(snapshot) or key is None or any(link.key and link.action for link in self.links):
            return None
        if not key.execute_in_groups:
            return _Found("key_executes_nowhere", "the key cannot execute in any group", self._candidates())
        named = describe_groups(key.execute_in_groups)
        if not any(number in self.live for number in key.execute_in_groups):
            reason = f"the key can execute only in {named}, which the account does not have"
            return _Found("groups_removed", reason, self._candidates())
        there = [link.id for link in self.links if link.action]
        if not there:
            return _Found("action_in_no_group", "no group permits the action", self._candidates())
        reason = f"the action is permitted in {describe_groups(there)}, but the key can execute only in {named}"
        return _Found("key_not_in_group", reason, self._candidates())

    def _missing_wallet(self) -> _Found | None:
        snapshot = self.snapshot
        if snapshot.wallet is None:
            return None
        if snapshot.wallet not in snapshot.wallets:
            reason = f"the account has no wallet {snapshot.wallet}"
            return _Found("wallet_not_registered", reason, self._candidates(new_wallet=True))
        if unbound(snapshot) or any(link.connects for link in self.links):
            return None
        there = [link.id for link in self.links if link.wallet]
        if not there:
            return _Found("wallet_in_no_group", "no group permits the wallet", self._candidates())
        shared = [link.id for link in self.links if link.key and link.action]
        reason = (
            f"the wallet is permitted in {describe_groups(there)}, but key and action are both in "
            f"{describe_groups(shared)}: one group must permit all three"
        )
        return _Found("wallet_in_another_group", reason, self._candidates())

    def _why_allowed(self) -> str:
        snapshot = self.snapshot
        if snapshot.kind == "master":
            return "the account key has all permissions in its account"
        if unbound(snapshot):
            return "the key can execute in every group"
        link = next(link for link in self.links if link.connects)
        what = "key and action" if snapshot.wallet is None else "key, action and wallet"
        return f"group {link.id} {link.name!r} permits {what}; a new permission can take a few seconds to take effect"

    # --- repairs ----------------------------------------------------------------------------------------------------

    def _candidates(self, *, new_wallet: bool = False) -> list[_Candidate]:
        """Returns one repair for each group, which adds the missing permissions, and one that creates a new group.

        If the key can execute in every group, the only repair creates a wallet.
        """
        if unbound(self.snapshot):
            return [_Candidate("creates a wallet in this account to use instead", (self._create_wallet(),), 1, 0, 0)]
        candidates = [candidate for link in self.links if (candidate := self._complete(link, new_wallet=new_wallet))]
        fresh = self._new_group(new_wallet=new_wallet)
        return [*candidates, fresh] if fresh else candidates

    def _create_wallet(self) -> str:
        return f"wallet = {self.snapshot.subject}.wallets.create()"

    def _create_group(self, wallets: str) -> str:
        snapshot = self.snapshot
        name, action = snapshot.action_name or "explained", snapshot.cid or snapshot.action_hash
        return f'group = {snapshot.subject}.groups.create({name!r}, actions=["{action}"]{wallets})'

    def _complete(self, link: GroupLink, *, new_wallet: bool) -> _Candidate | None:
        """Returns a repair that adds the missing permissions for one group. None if the repair is not possible."""
        snapshot, contents = self.snapshot, contents_of(self.snapshot, link.id)
        lines: list[str] = []
        says: list[str] = []
        widens = 0
        if new_wallet:
            lines.append(self._create_wallet())
            says.append("creates a wallet")
        if not link.action:
            if (line := self._add_action(link.id, contents)) is None:
                return None
            lines.append(line)
            says.append("permits the action")
            widens += sum(executes(key, link.id) for key in snapshot.other_keys) + len(contents.wallets)
        if snapshot.wallet is not None and (new_wallet or not link.wallet) and not contents.any_wallet:
            value = "wallet" if new_wallet else f'"{snapshot.wallet}"'
            lines.append(f"{snapshot.subject}.groups.add_wallet({link.id}, {value})")
            says.append("permits the wallet")
            widens += len(contents.actions)
        if not link.key:
            if (line := self._extend_key(str(link.id))) is None:
                return None
            lines.append(line)
            says.append("permits the key to execute")
            widens += len(contents.actions) + len(contents.wallets)
        title = f"{' and '.join(says)} in group {link.id} {link.name!r}"
        reveals = reaches_master(snapshot, contents)
        return _Candidate(title, tuple(lines), len(lines), widens, link.id, reveals=reveals)

    def _new_group(self, *, new_wallet: bool) -> _Candidate | None:
        """Returns a repair that creates a group for exactly this key, action and wallet."""
        snapshot = self.snapshot
        key = self._extend_key("group")
        if key is None:
            return None
        lines = [self._create_wallet()] if new_wallet else []
        value = "wallet" if new_wallet else f'"{snapshot.wallet}"'
        lines.append(self._create_group("" if snapshot.wallet is None else f", wallets=[{value}]"))
        says = "creates a group for this action only and permits the key to execute in the group"
        return _Candidate(says, (*lines, key), len(lines) + 1, 0, _AFTER_GROUPS)

    def _add_action(self, number: int, contents: GroupContents) -> str | None:
        snapshot = self.snapshot
        if snapshot.cid:
            return f'{snapshot.subject}.groups.add_action({number}, "{snapshot.cid}")'
        # Adding an entry needs the raw CID. If only the hash is known, the repair rewrites the whole list, unless the
        # rewrite loses entries.
        hashes = [action.hashed_cid for action in contents.actions]
        if None in hashes or len(hashes) >= MAX_GROUP_ENTRIES or len(contents.wallets) > MAX_GROUP_ENTRIES:
            return None
        listed = ", ".join(f'"{hashed}"' for hashed in [*hashes, snapshot.action_hash])
        return f"{snapshot.subject}.groups.update({number}, actions=[{listed}])"

    def _extend_key(self, group: str) -> str | None:
        """Returns the code that adds a group to the key's list and removes deleted groups. None if the list is full."""
        key = self.snapshot.key
        if key is None:
            return None
        kept = [str(number) for number in key.execute_in_groups if number in self.live]
        if len(kept) >= MAX_KEY_GROUPS:
            return None
        listed = ", ".join([*kept, group])
        return f'{self.snapshot.subject}.usage_keys.update("{self.snapshot.key_hash}", execute_in_groups=[{listed}])'

    def _renew(self) -> _Candidate:
        snapshot = self.snapshot
        term = "" if snapshot.subject == "svc" else ', expires_in="365d"'
        line = f'{snapshot.subject}.usage_keys.update("{snapshot.key_hash}"{term})'
        return _Candidate("updates the key with a new expiration", (line,), 1, 0, 0)

    def _new_key(self) -> _Candidate:
        """Returns a repair that creates a key for a group that permits the action and the wallet.

        If there is no such group, the repair also creates a group.
        """
        snapshot = self.snapshot
        ready = [link for link in self.links if link.action and link.wallet is not False]
        lines: list[str] = []
        number = str(ready[0].id) if ready else "group"
        if not ready:
            wallets = f', wallets=["{snapshot.wallet}"]' if snapshot.wallet in snapshot.wallets else ""
            lines.append(self._create_group(wallets))
        lines.append(f'key = {snapshot.subject}.usage_keys.create("explained", execute_in_groups=[{number}])')
        runs = f"the actions of group {ready[0].id} {ready[0].name!r}" if ready else "only this action"
        return _Candidate(f"creates a usage key that can run {runs}", tuple(lines), len(lines), 0, 0)
