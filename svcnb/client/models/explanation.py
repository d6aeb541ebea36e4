"""Explanation of why a key can run an action with a wallet, or of the missing permission and its repairs."""

from __future__ import annotations

from typing import Literal, TypeAlias

from svcnb.client import display
from svcnb.client.models.base import Model
from svcnb.client.models.billing import dollars

Missing: TypeAlias = Literal[
    "",
    "key_unknown",
    "key_of_another_account",
    "key_expired",
    "key_executes_nowhere",
    "groups_removed",
    "action_in_no_group",
    "key_not_in_group",
    "wallet_not_registered",
    "wallet_in_no_group",
    "wallet_in_another_group",
    "credit",
    "permission",
    "master_only",
    "owner_only",
]
"""The first missing link, in the order of the service's checks. Empty if no link is missing."""

WarningCode: TypeAlias = Literal[
    "master_key",
    "master_wallet",
    "wildcard_key",
    "wildcard_action",
    "wildcard_wallet",
    "removed_groups",
    "hidden_actions",
]


class GroupLink(Model):
    """Links between one group and the key, the action and the wallet of the explanation."""

    id: int
    name: str = ""

    key: bool
    """Whether the key can execute in this group."""

    action: bool
    """Whether the group permits the action."""

    wallet: bool | None = None
    """Whether the group permits the wallet. None if no wallet was given."""

    by_wildcard: tuple[Literal["key", "action", "wallet"], ...] = ()
    """Links that exist only because of a wildcard entry."""

    @property
    def connects(self) -> bool:
        """True if this group has all required links."""
        return self.key and self.action and self.wallet is not False


class Repair(Model):
    """Change that permits the run or the call."""

    says: str
    """Description of the change."""

    code: str
    """Python code of the change, one call per line.

    ``svc`` is a client with the account's master key. ``mine`` is a ChainSecured account that its owner opened."""

    cost_cents: int
    """Cost of the calls in US cents. 0 for transactions, which cost gas instead."""


class ExplanationWarning(Model):
    """Warning that does not depend on whether the run is permitted."""

    code: WarningCode
    text: str

    def __str__(self) -> str:
        return self.text


class Explanation(Model):
    """Links between a key, an action and a wallet, with the missing link and the calls that add it."""

    allowed: bool
    """True if the service permits the run, and the use of the wallet if one was given."""

    missing: Missing = ""
    """Code of the missing link, for programs. Empty if no link is missing."""

    reason: str
    """The result in one sentence."""

    key: str
    """Name and hash of the key, but never its secret."""

    action: str
    """Name and hash of the action. Empty for a rejected management call."""

    call: str = ""
    """The rejected management call. Empty for an execution."""

    wallet: str | None = None
    """Address of the wallet, or None if no wallet was given."""

    every_group: bool = False
    """True if the key can execute in every group, because it has the wildcard or is the master key."""

    groups: tuple[GroupLink, ...] = ()
    """All groups of the account with at least one of the links."""

    repairs: tuple[Repair, ...] = ()
    """Possible repairs. The repairs with the fewest calls come first.

    Empty if no repair is needed or possible.
    """

    warnings: tuple[ExplanationWarning, ...] = ()

    @property
    def repair(self) -> Repair | None:
        """The first of the possible repairs, or None if no repair is needed or possible."""
        return self.repairs[0] if self.repairs else None

    def __bool__(self) -> bool:
        return self.allowed

    def __repr__(self) -> str:
        lines = [f"{'allowed' if self.allowed else 'refused'}: {self.reason}", f"  key     {self.key}"]
        lines.append(f"  call    {self.call}" if self.call else f"  action  {self.action}")
        if self.wallet:
            lines.append(f"  wallet  {self.wallet}")
        lines += [f"  group {link.id} {link.name!r}: {_said(link)}" for link in self.groups]
        for number, way in enumerate(self.repairs):
            title = "fix" if number == 0 else "or"
            lines.append(f"{title} ({dollars(way.cost_cents)}): {way.says}")
            lines += [f"    {line}" for line in way.code.splitlines()]
        lines += [f"warning: {warning.text}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from svcnb.client.explanation_graph import draw

        return draw(self)

    def summary(self) -> dict[str, object]:
        """Returns a short form of the explanation."""
        return {
            "allowed": self.allowed,
            "reason": self.reason,
            "repair": self.repair.code if self.repair else None,
            "warnings": tuple(display.shorten(warning.text) for warning in self.warnings),
        }


def _said(link: GroupLink) -> str:
    parts = {"key": link.key, "action": link.action, "wallet": link.wallet}
    return ", ".join(
        f"{what} {'yes' if there else 'NO'}{' (everything)' if what in link.by_wildcard else ''}"
        for what, there in parts.items()
        if there is not None
    )
