"""Permissions panel, an editable matrix of groups with a preview of the cost and risks of each change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.models.chain import Preview, ether
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.client.signing import Signer, as_signer
from svcnb.errors import ExtraMissing
from svcnb.panels.base import command
from svcnb.panels.owned import OWNER_LINE, Owned, connected, do
from svcnb.panels.resources import ResourcePanel, repairs, wallet_title
from svcnb.panels.wallet_panel import written
from svcnb.protocol.action import Action
from svcnb.protocol.limits import MAX_GROUP_ENTRIES
from svcnb.toolkit.permissions import EVERY, EVERY_GROUP, Change, Edit, Kind, Matrix, cost_of

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner

AT_ONCE: Final = 8
"""Number of groups that the panel reads at the same time."""

_NOTHING: Final[dict[str, Any]] = {
    "ready": False, "managed": True, "creates": False, "owner": "", "groups": [], "rows": [], "on": [], "warnings": [],
}  # fmt: skip


class PermissionsPanel(ResourcePanel, bundle="permissions"):
    """Matrix of groups with actions, wallets and usage keys.

    The panel collects changes and applies all changes together. Before that, the panel shows the necessary calls, their
    cost, and warnings. A graph below the matrix shows why a key can run an action with a wallet, or which permission is
    missing.

    The panel shows the account of the client's key. With ``owner``, the panel shows the on-chain account that this
    wallet owns. Without ``owner``, it shows the ChainSecured account that another panel of the client has opened, if
    any. Each change of a ChainSecured account is a transaction. The panel first simulates the transaction. Before the
    wallet signs, the panel shows the decoded transaction and its gas.

    Args:
        client: Client of the service. Changes need the account key. Any key of the account can view the
            matrix.
        actions: Additional actions for the matrix, for example actions that the account has not registered. Also pass
            registered actions if you have their sources: the service lists only the hashes of CIDs. In API mode, a
            panel that has only the hash of an action must rewrite the complete group to permit the action.
        owner: The wallet of a ChainSecured account: a `svcnb.LocalSigner`, a `svcnb.BrowserSigner` or a
            `svcnb.ContractWallet`. The wallet pays the gas.

    Attributes:
        state: Displayed values: names, numbers, hashes and addresses.
    """

    title = "Permissions"
    state = traitlets.Dict(_NOTHING).tag(sync=True)

    def __init__(self, client: Client, actions: Iterable[Action] = (), *, owner: AnySigner | None = None) -> None:
        given: list[Any] = list(actions)
        if wrong := [each for each in given if not isinstance(each, Action)]:
            raise InvalidArgument(
                f"invalid argument actions of PermissionsPanel: expected svcnb.Action objects, got "
                f"{type(wrong[0]).__name__}",
                hint="Pass a list of actions: PermissionsPanel(svc, [svcnb.Action(source)]).",
            )
        self._extra = {action.hashed_cid: action for action in given}
        self._matrix = Matrix((), {}, {}, {})
        self._given_owner = None if owner is None else as_signer(owner)
        self._owned: Owned | None = None
        super().__init__(client)

    def session_changed(self, what: frozenset[str]) -> None:
        """Discards the loaded ChainSecured account after another account was opened in the session."""
        if "account" in what and self._given_owner is None:
            self._owned = None

    @property
    def _owner(self) -> Signer | None:
        """Owner of the displayed ChainSecured account: the given wallet, or the owner in the session."""
        session = self.session
        return self._given_owner or (session.owner if session.account is not None else None)

    @command
    async def read(self) -> None:
        """Reads the account, and shows its matrix."""
        resources = await self._resources()
        groups, registered, wallets, keys, managed = await asyncio.gather(
            resources.groups.list(),
            resources.actions.list(),
            resources.wallets.list(),
            resources.usage_keys.list(),
            self._is_managed(),
        )
        turns = asyncio.Semaphore(AT_ONCE)

        async def inside(group: Group) -> tuple[Group, GroupContents]:
            async with turns:
                return group, await resources.groups.contents(group)

        held = sorted(await asyncio.gather(*(inside(group) for group in groups)), key=lambda each: each[0].id)
        master = master_wallet_of(wallets)
        cids = {hashed: action.cid for hashed, action in self._extra.items()}
        names = {each.hashed_cid: each.name for _, contents in held for each in contents.actions if each.hashed_cid}
        names |= {each.hashed_cid: each.name for each in registered if each.hashed_cid}
        names |= {hashed: action.name or names.get(hashed, "") for hashed, action in self._extra.items()}
        # The contract accepts hashes, but the service needs the CID of an action to permit it.
        takes = cids if self._owned is None else {hashed: hashed for hashed in names} | cids
        self._matrix = Matrix.of(held, keys, cids=takes, master_wallet=master)
        rows = [
            *_action_rows(names, cids),
            _row(
                "wallet", EVERY, "every wallet", "including the master wallet" if master else "including future wallets"
            ),
            *(
                _row("wallet", each.wallet_address, wallet_title(each, number, master), each.wallet_address)
                for number, each in enumerate(wallets)
            ),
            *(_row("key", key.api_key_hash, key.name or "(no name)", key.api_key_hash) for key in keys),
        ]
        self.state = {
            "ready": True,
            "managed": managed,
            "creates": managed or self.session.account is not None,
            "owner": self._owned.account.owner.address if self._owned and self._owned.account.owner else "",
            "groups": [{"id": group.id, "name": group.name} for group, _ in held],
            "rows": rows,
            "on": _ticked(self._matrix, rows, keys),
            "warnings": self._matrix.warnings(),
        }

    @command
    async def preview(self, changes: list[dict[str, Any]]) -> dict[str, Any]:
        """Returns the calls and the cost of changes, and the warnings that these changes add."""
        wanted = _changes(changes)
        edits = self._matrix.edits(wanted)
        now = self._matrix.warnings()
        rehearsed = [] if self._owned is None else [(edit, await self._owned.rehearse(edit)) for edit in edits]
        return {
            "calls": [self._code(edit) for edit in edits],
            "cost": "nothing" if not edits else _gas(rehearsed) or str(cost_of(edits)).partition(":")[0],
            "writes": [written(preview) | {"first_of_several": _is_several(edit)} for edit, preview in rehearsed],
            "warnings": [text for text in self._matrix.with_changes(wanted).warnings() if text not in now],
        }

    @command
    async def apply(self, changes: list[dict[str, Any]], calls: list[str]) -> None:
        """Applies changes, one call at a time, and then reads the account again, even after a failure.

        Args:
            changes: Changed cells, each with the fields ``kind``, ``id``, ``group`` and ``on``.
            calls: The calls that the panel showed for these changes. If the account now requires other calls, the
                method makes no changes.
        """
        wanted = _changes(changes)
        self.channel.progress("Checking whether the account has changed")
        await self.read()
        edits = self._matrix.edits(wanted)
        if [self._code(edit) for edit in edits] != calls:
            raise InvalidArgument(
                "the account changed after these calls were shown; the panel did not make any change",
                hint="Check the matrix and the calls again, then apply the changes.",
            )
        try:
            for number, edit in enumerate(edits, start=1):
                self.channel.progress(f"{number} of {len(edits)}: {edit.verb}")
                await self._do(edit, done=number - 1, of=len(edits))
        finally:
            await self.read()
            self.session.granted()
            self.session.changed("resources")

    async def _do(self, edit: Edit, *, done: int, of: int) -> None:
        try:
            await do(await self._resources(), edit)
        except SvcnbError as error:
            error.add_note(f"{done} of {of} calls succeeded before this call. The matrix shows the current state.")
            raise
        self.record(self._code(edit))

    @command
    async def explain(self, key: str, action: str, wallet: str) -> dict[str, Any]:
        """Returns whether a key can run an action with a wallet, why, a graph, and the calls that add the permission.

        Args:
            key: Hash of the key.
            action: Hashed CID.
            wallet: Address of the wallet. An empty string explains a run without a wallet.
        """
        found = await (await self._resources()).explain(key, self._extra.get(action, action), wallet or None)
        self.record(f"{self._subject}.explain({', '.join(repr(each) for each in (key, action, wallet) if each)})")
        return {
            "allowed": found.allowed,
            "reason": found.reason,
            "graph": await asyncio.to_thread(_graph, found),
            **repairs(found),
        }

    # --- account ------------------------------------------------------------------------------------------------

    async def _resources(self) -> Any:
        """Returns the client or the ChainSecured account. Both provide groups, actions, wallets, keys and `explain`."""
        if self._owner is None:
            return self.service
        if self._owned is None:
            self._owned = await Owned.open(self.service, await connected(self._owner, self.channel))
            if self.session.account is None:  # otherwise, a panel recorded this line when it opened the account
                self.record(f"{OWNER_LINE}\nmine = svc.chain_secured.open(owner)")
        return self._owned.account

    async def _is_managed(self) -> bool:
        return self._owner is None and await self.service.accounts.exists()

    @property
    def _subject(self) -> str:
        return "svc" if self._owner is None else "mine"

    def _code(self, edit: Edit) -> str:
        return edit.code_of(self._subject)


def _gas(rehearsed: Sequence[tuple[Edit, Preview]]) -> str:
    most = ether(sum(preview.max_cost_wei for _, preview in rehearsed))
    if not rehearsed:
        return ""
    return f"{most} of gas or more" if any(_is_several(edit) for edit, _ in rehearsed) else f"at most {most} of gas"


def _is_several(edit: Edit) -> bool:
    """Returns whether a change rewrites a group with more entries than one transaction can contain."""
    return any(len(edit.options.get(kind, ())) > MAX_GROUP_ENTRIES for kind in ("actions", "wallets"))


def _graph(found: Any) -> str:
    from svcnb import charts

    try:
        # The text next to the drawing already contains the title.
        return charts.svg(charts.permission_graph(found).properties(title=""), theme="auto")
    except ExtraMissing:  # the text contains the information without a drawing
        return ""


def _row(kind: Kind, which: str, name: str, note: str) -> dict[str, str]:
    return {"kind": kind, "id": which, "name": name, "note": note}


def _action_rows(names: Mapping[str, str], cids: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns a row for all actions, and a row for each action. Actions with a name come first, by name."""
    return [
        _row("action", EVERY, "every action", "including actions of other accounts"),
        *(
            _row("action", hashed, name or "(no name)", cids.get(hashed) or hashed)
            for hashed, name in sorted(names.items(), key=lambda each: (each[1] == "", each[1], each[0]))
            if hashed.strip("0x")
        ),
    ]


def _ticked(matrix: Matrix, rows: Sequence[Mapping[str, str]], keys: Sequence[UsageKey]) -> list[list[Any]]:
    """Returns the kind, row and group of every selected cell."""
    columns = [EVERY_GROUP, *matrix.groups] if keys else list(matrix.groups)
    return [
        [row["kind"], row["id"], group]
        for row in rows
        for group in columns
        if matrix.has(row["kind"], row["id"], group)  # type: ignore[arg-type]  # rows have the three kinds
    ]


def _changes(told: list[dict[str, Any]]) -> list[Change]:
    try:
        return [Change(each["kind"], str(each["id"]), int(each["group"]), bool(each["on"])) for each in told]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgument(f"the changes from the page cannot be read: {error!r}", hint="Reload the page.") from None
