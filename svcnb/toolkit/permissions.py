"""Matrix of an account's permissions, and the shortest list of calls for a change of cells.

Rows are actions, wallets and usage keys. Columns are groups. The module computes the cost and the risks of a change
before the client sends a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from svcnb.checked import Checked, checked
from svcnb.client.errors import InvalidArgument, InvalidType
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.permission_snapshot import warning
from svcnb.client.references import everything
from svcnb.toolkit.cost import Cost, of_call

Kind: TypeAlias = Literal["action", "wallet", "key"]

EVERY: Final = "*"
"""Row that means every action, or every wallet of the account."""

EVERY_GROUP: Final = 0
"""Column that means every group. Only keys have this column."""


class Change(NamedTuple):
    """Change of one cell of the matrix."""

    kind: Kind
    """Kind of the row: ``action``, ``wallet`` or ``key``."""

    id: str
    """Identifier of the row: hashed CID of an action, address of a wallet, or hash of a usage key. `EVERY` means all
    actions or all wallets."""

    group: int
    """Id of the group. `EVERY_GROUP` means the wildcard of a key."""

    on: bool
    """Whether the change grants the permission. False revokes the permission."""


@dataclass(frozen=True)
class Edit:
    """Call that applies one or more changes.

    Attributes:
        verb: Method of a client, for example ``groups.add_action``.
        args: Positional arguments.
        options: Keyword arguments.
        cost: Cost of the call.
    """

    verb: str
    args: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost = field(default_factory=lambda: Cost.exactly(0))

    @property
    def code(self) -> str:
        """The call as Python code, for a client named ``svc``."""
        return self.code_of("svc")

    def code_of(self, subject: str) -> str:
        """Returns the call as Python code.

        Args:
            subject: Name of the object that has the method, for example ``mine`` for an account on the chain.
        """
        given = [repr(value) for value in self.args]
        given += [f"{name}={_shown(value)}" for name, value in self.options.items()]
        return f"{subject}.{self.verb}({', '.join(given)})"

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True)
class Matrix(Checked):
    """Matrix of an account's permissions in each group.

    Attributes:
        groups: Groups, in the order of their ids.
        actions: Actions that each group permits, as hashed CIDs or `EVERY`. The dictionary keys are group ids.
        wallets: Wallets that each group permits, as addresses or `EVERY`. The dictionary keys are group ids.
        keys: Groups whose actions each usage key can run. The dictionary keys are key hashes; `EVERY_GROUP` means all
            groups.
        cids: Raw CIDs, if known, with their hashes as dictionary keys.
        master_wallet: Wallet whose private key is the account key. None for an account without a master wallet.
        names: Names of usage keys for warnings, with their hashes as dictionary keys.
    """

    groups: tuple[int, ...]
    actions: Mapping[int, frozenset[str]]
    wallets: Mapping[int, frozenset[str]]
    keys: Mapping[str, frozenset[int]]
    cids: Mapping[str, str] = field(default_factory=dict)
    master_wallet: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        groups: Iterable[tuple[Group, GroupContents]],
        keys: Iterable[UsageKey],
        *,
        cids: Mapping[str, str],
        master_wallet: str | None,
    ) -> Matrix:
        """Returns the matrix from the lists of a client.

        Args:
            groups: Each group with its contents.
            keys: The usage keys.
            cids: Raw CIDs, with their hashes as dictionary keys.
            master_wallet: Wallet whose private key is the account key. None for an account without a master wallet.
        """
        held = list(groups)
        known = list(keys)
        return cls(
            groups=tuple(group.id for group, _ in held),
            actions={
                group.id: frozenset(
                    EVERY if each.is_wildcard else each.hashed_cid for each in inside.actions if each.hashed_cid
                )
                for group, inside in held
            },
            wallets={
                group.id: frozenset(EVERY if each.is_wildcard else each.wallet_address for each in inside.wallets)
                for group, inside in held
            },
            keys={key.api_key_hash: frozenset(key.execute_in_groups) for key in known},
            cids=cids,
            master_wallet=master_wallet,
            names={key.api_key_hash: key.name for key in known},
        )

    def has(self, kind: Kind, which: str, group: int) -> bool:
        """Returns whether the cell itself is set. The method ignores wildcards in other cells.

        Args:
            kind: Kind of the row, as in `Change`.
            which: Hashed CID, address or key hash of the row, or `EVERY`.
            group: Id of the group, or `EVERY_GROUP`.
        """
        match kind:
            case "action":
                return which in self.actions.get(group, frozenset())
            case "wallet":
                return which in self.wallets.get(group, frozenset())
            case "key":
                return group in self.keys.get(which, frozenset())

    def with_changes(self, changes: Iterable[Change]) -> Matrix:
        """Returns the matrix after the changes.

        Raises:
            InvalidArgument: A change does not refer to a cell of the matrix.
            InvalidType: An item is not a `Change`.
        """
        actions = {group: set(held) for group, held in self.actions.items()}
        wallets = {group: set(held) for group, held in self.wallets.items()}
        keys = {key: set(held) for key, held in self.keys.items()}
        for change in changes:
            if not isinstance(change, Change):
                raise InvalidType(
                    f"invalid change: expected a Change, got {type(change).__name__}",
                    hint="Pass Change(kind, id, group, on).",
                )
            kind, which, group, on = change
            self._check(kind, which, group)
            held, one = {"action": (actions, group), "wallet": (wallets, group), "key": (keys, which)}[kind]
            entries: set[Any] = held[one]  # type: ignore[index]  # groups by number, keys by hash
            entry = group if kind == "key" else which
            (entries.add if on else entries.discard)(entry)
        return replace(
            self,
            actions={group: frozenset(held) for group, held in actions.items()},
            wallets={group: frozenset(held) for group, held in wallets.items()},
            keys={key: frozenset(held) for key, held in keys.items()},
        )

    def _check(self, kind: Kind, which: str, group: int) -> None:
        if kind not in get_args(Kind):
            raise InvalidArgument(f"unknown kind of permissions {kind!r}", hint="Use action, wallet or key.")
        if group not in self.groups and not (kind == "key" and group == EVERY_GROUP):
            raise InvalidArgument(f"the account has no group {group}", hint=f"Correct the group id. {_AGAIN}")
        if kind == "key" and which not in self.keys:
            raise InvalidArgument(
                f"the account has no usage key with the hash {which}", hint=f"Correct the hash. {_AGAIN}"
            )

    def edits(self, changes: Iterable[Change]) -> list[Edit]:
        """Returns the shortest list of calls that applies the changes, first to groups, then to keys.

        The calls for a group add and remove entries one by one. Two cases need a call that replaces the complete list
        of the group's actions or wallets. The cases are a change of a wildcard, and a new action of which only the hash
        is known. A call for a key always sends the key's complete list of groups.

        Raises:
            InvalidArgument: A change does not refer to a cell of the matrix.
            InvalidType: An item is not a `Change`.
        """
        wanted = list(changes)
        after = self.with_changes(wanted)
        made: list[Edit] = []
        for group in self.groups:
            made += self._group_edits(group, after)
        for key, old in self.keys.items():
            if (new := after.keys[key]) != old:
                options = {"execute_in_groups": sorted(new)}
                made.append(_edit("usage_keys.update", key, **options))
        return made

    def _group_edits(self, group: int, after: Matrix) -> Iterator[Edit]:
        whole: dict[str, Any] = {}
        singles: list[Edit] = []
        both = (
            ("action", self.actions[group], after.actions[group]),
            ("wallet", self.wallets[group], after.wallets[group]),
        )
        for kind, old, new in both:
            come, gone = sorted(new - old), sorted(old - new)
            unknown = kind == "action" and any(each not in self.cids for each in come)
            if EVERY in come or EVERY in gone or unknown:
                # Beyond the first ten entries, a call can add only actions with a known raw CID.
                entries = [self.cids.get(each, each) for each in sorted(new - {EVERY})]
                whole[f"{kind}s"] = [everything] * (EVERY in new) + entries
                continue
            singles += [_edit(f"groups.add_{kind}", group, self.cids.get(each, each)) for each in come]
            singles += [_edit(f"groups.remove_{kind}", group, each) for each in gone]
        if whole:
            yield _edit("groups.update", group, **whole)
        yield from singles

    def warnings(self) -> list[str]:
        """Returns warnings about wildcards, and about groups that include the account's master wallet."""
        found: list[str] = []
        for key, groups in self.keys.items():
            if EVERY_GROUP in groups:
                found.append(f"{self.names.get(key) or key}: {warning('wildcard_key').text}")
        codes = (
            ("wildcard_action", lambda group: EVERY in self.actions[group]),
            ("wildcard_wallet", lambda group: EVERY in self.wallets[group]),
            ("master_wallet", self._reaches_master),
        )
        for code, holds in codes:
            if groups_of := [group for group in self.groups if holds(group)]:
                found.append(warning(code, *groups_of).text)  # type: ignore[arg-type]  # each is a WarningCode
        return found

    def _reaches_master(self, group: int) -> bool:
        if self.master_wallet is None:
            return False
        return bool(self.wallets[group] & {EVERY, self.master_wallet})


_AGAIN: Final = "If the account has changed, read its permissions again."


@checked
def cost_of(edits: Sequence[Edit]) -> Cost:
    """Returns the total cost of calls. For an empty list, the cost is zero."""
    return sum((edit.cost for edit in edits), Cost.exactly(0))


def _edit(verb: str, *args: Any, **options: Any) -> Edit:
    members = {name: len(value) for name, value in options.items() if name in {"actions", "wallets"}}
    return Edit(verb, args, options, of_call(verb, **members))


def _shown(value: object) -> str:
    if not isinstance(value, list) or everything not in value:
        return repr(value)
    return "[" + ", ".join("svcnb.everything" if each == everything else repr(each) for each in value) + "]"
