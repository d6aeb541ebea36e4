"""Permissions: who may what in which group, changed by ticking, with its cost and its dangers shown first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.picture import master_wallet_of
from svcnb.panels.base import Panel, command
from svcnb.protocol.action import Action
from svcnb.toolkit.permissions import EVERY, EVERY_GROUP, Change, Edit, Kind, Matrix, cost_of

AT_ONCE: Final = 8
"""Groups that are read at the same time."""

_NOTHING: Final[dict[str, Any]] = {
    "ready": False, "managed": True, "groups": [], "rows": [], "on": [], "warnings": [],
}  # fmt: skip


class PermissionsPanel(Panel, bundle="permissions"):
    """A matrix of groups by actions, wallets and usage keys.

    Ticks are collected, shown with the calls they need, their cost and what to beware of, and done together. Below:
    why a key may run an action with a wallet, or which link is missing, as a graph.

    Args:
        client: The service, with the account's master key to change something; any key of the account can look.
        actions: Actions to have in the matrix although the account does not know them yet. The service lists hashes
            alone, and an action known only so can be permitted only by writing its group anew.

    Attributes:
        state: What the panel shows; names, numbers, hashes and addresses.
    """

    title = "Permissions"
    state = traitlets.Dict(_NOTHING).tag(sync=True)

    def __init__(self, client: Client, actions: Iterable[Action] = ()) -> None:
        given = list(actions)
        if not all(isinstance(each, Action) for each in given):
            raise InvalidArgument("actions are svcnb.Action objects", hint="PermissionsPanel(svc, [svcnb.Action(...)])")
        self._extra = {action.hashed_cid: action for action in given}
        self._matrix = Matrix((), {}, {}, {})
        super().__init__(client)

    def about(self) -> dict[str, object]:
        """Nothing: what an account holds is read when the panel is displayed."""
        return {}

    @command
    async def read(self) -> None:
        """Reads the account."""
        service = self.service
        groups, registered, wallets, keys, managed = await asyncio.gather(
            service.groups.list(),
            service.actions.list(),
            service.wallets.list(),
            service.usage_keys.list(),
            service.accounts.exists(),
        )
        turns = asyncio.Semaphore(AT_ONCE)

        async def inside(group: Group) -> tuple[Group, GroupContents]:
            async with turns:
                return group, await service.groups.contents(group)

        held = sorted(await asyncio.gather(*(inside(group) for group in groups)), key=lambda each: each[0].id)
        master = master_wallet_of(wallets)
        cids = {hashed: action.cid for hashed, action in self._extra.items()}
        self._matrix = Matrix.of(held, keys, cids=cids, master_wallet=master)
        names = {each.hashed_cid: each.name for _, contents in held for each in contents.actions if each.hashed_cid}
        names |= {each.hashed_cid: each.name for each in registered if each.hashed_cid}
        names |= {hashed: action.name or names.get(hashed, "") for hashed, action in self._extra.items()}
        rows = [_row("action", EVERY, "every action", "also one written by a stranger")]
        rows += [
            _row("action", hashed, name or "(no name)", cids.get(hashed) or hashed)
            for hashed, name in sorted(names.items(), key=lambda each: (each[1] == "", each[1], each[0]))
            if hashed.strip("0x")
        ]
        rows.append(_row("wallet", EVERY, "every wallet", "the master wallet included"))
        rows += [
            _row(
                "wallet",
                each.wallet_address,
                _wallet_name(each.name, each.wallet_address == master),
                each.wallet_address,
            )
            for each in wallets
        ]
        rows += [_row("key", key.api_key_hash, key.name or "(no name)", key.api_key_hash) for key in keys]
        self.state = {
            "ready": True,
            "managed": managed,
            "groups": [{"id": group.id, "name": group.name} for group, _ in held],
            "rows": rows,
            "on": _ticked(self._matrix, rows, keys),
            "warnings": self._matrix.warnings(),
        }

    @command
    async def preview(self, changes: list[dict[str, Any]]) -> dict[str, Any]:
        """Says what changes need: calls, cost, and what to beware of afterwards that is not so now."""
        wanted = _changes(changes)
        edits = self._matrix.edits(wanted)
        now = self._matrix.warnings()
        cost = cost_of(edits)
        return {
            "calls": [edit.code for edit in edits],
            "cost": "nothing" if not edits else str(cost).partition(":")[0],
            "warnings": [text for text in self._matrix.with_changes(wanted).warnings() if text not in now],
        }

    @command
    async def apply(self, changes: list[dict[str, Any]], calls: list[str]) -> None:
        """Makes changes, call by call, and reads the account again, also after a failure.

        Args:
            changes: The cells.
            calls: The calls that were shown for them; others are not made.
        """
        wanted = _changes(changes)
        self.channel.progress("Looking whether the account is still the same")
        await self.read()
        edits = self._matrix.edits(wanted)
        if [edit.code for edit in edits] != calls:
            raise InvalidArgument(
                "the account has changed since these calls were shown, and nothing was sent",
                hint="Look at the matrix and at the calls again, then apply.",
            )
        try:
            for number, edit in enumerate(edits, start=1):
                self.channel.progress(f"{number} of {len(edits)}: {edit.verb}")
                await self._do(edit, done=number - 1, of=len(edits))
        finally:
            await self.read()

    async def _do(self, edit: Edit, *, done: int, of: int) -> None:
        noun, _, verb = edit.verb.partition(".")
        try:
            await getattr(getattr(self.service, noun), verb)(*edit.args, **edit.options)
        except SvcnbError as error:
            error.add_note(f"{done} of {of} calls were made before this one; the matrix shows what holds now.")
            raise
        self.record(edit.code)

    @command
    async def explain(self, key: str, action: str, wallet: str) -> dict[str, Any]:
        """Explains why a key may run an action with a wallet, or not.

        Args:
            key: Hash of the key.
            action: Hashed CID.
            wallet: Address; empty for the run alone.
        """
        found = await self.service.explain(key, self._extra.get(action, action), wallet or None)
        self.record(f"svc.explain({', '.join(repr(each) for each in (key, action, wallet) if each)})")
        return {
            "allowed": found.allowed,
            "reason": found.reason,
            "graph": await asyncio.to_thread(_graph, found),
            "repairs": [{"says": way.says, "code": way.code, "cost_cents": way.cost_cents} for way in found.repairs],
            "warnings": [each.text for each in found.warnings],
        }


def _graph(found: Any) -> str:
    from svcnb import charts

    # What a title would say stands beside it already.
    return charts.svg(charts.permission_graph(found).properties(title=""), theme="auto")


def _row(kind: Kind, which: str, name: str, note: str) -> dict[str, str]:
    return {"kind": kind, "id": which, "name": name, "note": note}


def _wallet_name(name: str, is_master: bool) -> str:  # noqa: FBT001 - one caller, beside it
    return "master wallet" if is_master else name or "(no name)"


def _ticked(matrix: Matrix, rows: Sequence[Mapping[str, str]], keys: Sequence[UsageKey]) -> list[list[Any]]:
    """Kind, row and group of every ticked cell."""
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
        raise InvalidArgument(f"this is no list of changes: {error!r}", hint="Reload the page.") from None
