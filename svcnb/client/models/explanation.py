"""Explanation of why a key can run an action with a wallet, or of the missing permission and the calls that add it."""

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
"""Code of the first missing permission or other cause of a rejection, in the order of the service's checks.

Empty if the service permits the run or call.
"""

WarningCode: TypeAlias = Literal[
    "master_key",
    "master_wallet",
    "wildcard_key",
    "wildcard_action",
    "wildcard_wallet",
    "removed_groups",
    "hidden_actions",
]
"""Code of a warning, for example ``wildcard_key`` for a key that can execute in every group."""


class GroupLink(Model):
    """Permissions in one group: whether the key can execute in it, and whether the group permits action and wallet."""

    id: int
    """Number of the group; see `svcnb.client.models.groups.Group.id`."""

    name: str = ""
    """Name of the group, which the drawing shows. Empty if the group has no name."""

    key: bool
    """Whether the key can execute in this group."""

    action: bool
    """Whether the group permits the action."""

    wallet: bool | None = None
    """Whether the group permits the wallet. None if the caller passed no wallet."""

    by_wildcard: tuple[Literal["key", "action", "wallet"], ...] = ()
    """Which of ``key``, ``action`` and ``wallet`` are True only because of a wildcard entry."""

    @property
    def connects(self) -> bool:
        """True if ``key`` and ``action`` are True, and ``wallet`` is True or None."""
        return self.key and self.action and self.wallet is not False


class Repair(Model):
    """Change to the account that permits the rejected run or call."""

    says: str
    """Description of the change in English."""

    code: str
    """Python code that makes the change, with one call per line.

    ``svc`` is a client with the account key. ``mine`` is a ChainSecured account that its owner opened."""

    cost_cents: int
    """Cost of the calls in ``code``, in US cents. 0 for transactions, which cost gas instead of credit."""


class ExplanationWarning(Model):
    """Warning about the account's permissions. A permitted run can also have warnings."""

    code: WarningCode
    """Code of the warning, for programs."""

    text: str
    """Description of the warning in English."""

    def __str__(self) -> str:
        return self.text


class Explanation(Model):
    """Explanation of a permitted or rejected run or call: the reason, the missing permission, and possible repairs."""

    allowed: bool
    """True if the service permits the run, and the use of the wallet if the caller passed a wallet."""

    missing: Missing = ""
    """Code of the missing permission or other cause, for programs. An empty string if ``allowed`` is True."""

    reason: str
    """One sentence that says why the service permits or rejects the run or call."""

    key: str
    """Name and hash of the key. The text never contains the secret of the key."""

    action: str
    """Name and hash of the action. Empty for the explanation of a rejected management call."""

    call: str = ""
    """The rejected management call. Empty for the explanation of a run."""

    wallet: str | None = None
    """Address of the wallet, or None if the caller passed no wallet."""

    every_group: bool = False
    """True if the key can execute in every group, because the key has the wildcard or is the account key."""

    groups: tuple[GroupLink, ...] = ()
    """All groups in which the key can execute, and all groups that permit the action or the wallet.

    Empty for the explanation of a rejected management call.
    """

    repairs: tuple[Repair, ...] = ()
    """Possible repairs, at most three, with the fewest calls first. Empty if no repair is needed or possible.

    Repairs that use a group with the master wallet always come after all other repairs.
    """

    warnings: tuple[ExplanationWarning, ...] = ()
    """Warnings about the key, the action, the wallet and their groups."""

    @property
    def repair(self) -> Repair | None:
        """The first entry of `repairs`, or None if no repair is needed or possible."""
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
        """Returns the result, the reason, the code of the first repair, and the warnings, by name."""
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
