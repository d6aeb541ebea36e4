"""Why a key may run an action with a wallet, or which link is missing and what would repair it."""

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
"""The one link that is looked for first when something is refused; empty when nothing is missing."""

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
    """What one group connects: the key, the action and the wallet that were asked about."""

    id: int
    name: str = ""

    key: bool
    """The key may execute in this group."""

    action: bool
    """The group permits the action."""

    wallet: bool | None = None
    """The group permits the wallet; None when no wallet was asked about."""

    by_wildcard: tuple[Literal["key", "action", "wallet"], ...] = ()
    """Which of the links stand only because an entry means everything."""

    @property
    def connects(self) -> bool:
        """True when all that was asked about meets in this group."""
        return self.key and self.action and self.wallet is not False


class Repair(Model):
    """One way to make it work."""

    says: str
    """What it does, in words."""

    code: str
    """Python that does it, one call a line. ``svc`` is a client with the account's master key; ``mine`` stands for a
    ChainSecured account that its owner opened."""

    cost_cents: int
    """What the calls cost, in cents; 0 where they are transactions, which cost gas."""


class ExplanationWarning(Model):
    """What to know although it works, or before it is repaired."""

    code: WarningCode
    text: str

    def __str__(self) -> str:
        return self.text


class Explanation(Model):
    """How a key, an action and a wallet are connected; what is missing, and the calls that would repair it."""

    allowed: bool
    """True when the service permits the run, and the use of the wallet if one was asked about."""

    missing: Missing = ""
    """The missing link by a fixed name; empty when nothing is missing."""

    reason: str
    """The same in one sentence."""

    key: str
    """The key, by name and hash; never its text."""

    action: str
    """The action, by name and hash; empty when a management call was refused."""

    call: str = ""
    """The management call that was refused; empty for an execution."""

    wallet: str | None = None
    """The wallet's address; None when none was asked about."""

    every_group: bool = False
    """True when the key may execute in every group: by its wildcard, or because it is the master key."""

    groups: tuple[GroupLink, ...] = ()
    """Every group of the account that links at least one of them."""

    repairs: tuple[Repair, ...] = ()
    """Ways to make it work, the one that grants least first; empty when allowed or when nothing can."""

    warnings: tuple[ExplanationWarning, ...] = ()

    @property
    def repair(self) -> Repair | None:
        """The way that grants least; None when there is nothing to repair, or no way."""
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
            title = "repair" if number == 0 else "or"
            lines.append(f"{title}, {dollars(way.cost_cents)}: {way.says}")
            lines += [f"    {line}" for line in way.code.splitlines()]
        lines += [f"warning: {warning.text}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from svcnb.client.explanation_graph import draw

        return draw(self)

    def summary(self) -> dict[str, object]:
        """Returns the explanation in few words."""
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
