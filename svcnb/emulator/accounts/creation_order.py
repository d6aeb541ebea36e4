"""Reader of the order in which the entries of a list were created, for lists from which an entry was removed.

The contract stores lists in insertion order until the first removal of an entry. The contract then moves the last entry
to the free position, and clients that read the chain receive that order. The HTTP lists stay in creation order
(docs/service/http.md#lists, list_groups). This module reads the order from the contract's events, once for each list
with a removed entry.

Other lists are already in creation order, so the module returns their pages unchanged.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from svcnb.emulator.chain.errors import ChainUnavailable
from svcnb.emulator.chain.events import RESET, ChainEvent
from svcnb.emulator.platform import abi
from svcnb.protocol import contract
from svcnb.protocol.contract import AbiError

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain

_KEPT: Final = 1_000
_SELECTOR_BYTES: Final = 4


class _List(NamedTuple):
    """Names of the events that change the entries of a list.

    Attributes:
        added: Event for a new or changed entry.
        removed: Event for a removed entry.
        field: Field that identifies the entry in these events.
        member: Name of the parameter with the entries in ``addGroup`` and ``updateGroup``. The name is empty for the
            lists of an account.
    """

    added: str
    removed: str
    field: str
    member: str = ""


_LISTS: Final = {
    "listApiKeys": _List("UsageApiKeySet", "UsageApiKeyRemoved", "usageApiKeyHash"),
    "listGroups": _List("GroupAdded", "GroupRemoved", "groupId"),
    "listActions": _List("ActionAdded", "ActionRemoved", "actionHash"),
    "listPkps": _List("WalletDerivationRegistered", "WalletDerivationRemoved", "pkpId"),
    "listActionsInGroup": _List("ActionAddedToGroup", "ActionRemovedFromGroup", "action", "cidHashes"),
    "listWalletsInGroup": _List("PkpAddedToGroup", "PkpRemovedFromGroup", "pkpId", "pkpIds"),
}
_IDENTITY: Final = {"listApiKeys": 1, "listPkps": 1, "listWalletsInGroup": 1}
"""Index of the column that identifies the entry in a row, by contract function. The default is 0."""
_MADE: Final = ("GroupAdded", "GroupUpdated")
"""Events that set all entries of a group. The initial entries of a group have no separate events."""

_Name = tuple[str, int, tuple[Any, ...]]


class CreationOrder:
    """Reader of the creation order of list entries, with a cache.

    Args:
        chain: The chain with the events.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._known: OrderedDict[_Name, dict[Any, int]] = OrderedDict()
        self._version = 0
        chain.on_event(self._changed)

    async def of(self, function: str, master_hash: int, *arguments: int) -> dict[Any, int]:
        """Returns the position of each entry in the order of creation.

        Args:
            function: The contract function that returns the list.
            master_hash: Hash of the account key, which identifies the account.
            *arguments: Additional arguments of the function, such as the group.

        Returns:
            Positions by group id, hash, or lowercase address. The result is empty for a list from which no entry was
            ever removed. The result is also empty if the node does not answer a query over all blocks, for example a
            public node. The caller then uses the contract's order.
        """
        name = (function, master_hash, arguments)
        if (known := self._known.get(name)) is not None:
            return known
        version = self._version
        try:
            found = await self._read(_LISTS[function], master_hash, *arguments)
        except ChainUnavailable:
            return {}
        if version == self._version:
            self._known[name] = found
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    async def _read(self, kind: _List, master_hash: int, *group: int) -> dict[Any, int]:
        removed = await self._chain.events([kind.removed], master_hash, *group)
        if not removed:
            return {}
        names = [kind.added, kind.removed, *(_MADE if group else ())]
        order: dict[Any, None] = {}
        for event in await self._chain.events(names, master_hash, *group):
            if group and event.name in _MADE:
                order = dict.fromkeys(await self._first_entries(kind, event))
                continue
            entry = _plain(event.args[kind.field])
            if event.name == kind.removed:
                order.pop(entry, None)
            else:
                order.setdefault(entry)
        return {entry: place for place, entry in enumerate(order)}

    async def _first_entries(self, kind: _List, event: ChainEvent) -> Iterable[Any]:
        """Returns the initial entries of a group from the event's transaction.

        The result is empty if the transaction does not call the contract directly.
        """
        data = await self._chain.call_data(event.transaction_hash)
        for name in ("addGroup", "updateGroup"):
            function = contract.function(name)
            if data[:_SELECTOR_BYTES] == function.selector:
                try:
                    values = abi.decode(function.inputs, data[_SELECTOR_BYTES:])
                except AbiError:
                    return []
                return [_plain(entry) for entry in values[function.names.index(kind.member)]]
        return []

    def _changed(self, event: ChainEvent) -> None:
        self._version += 1
        if event.name == RESET:
            self._known.clear()
            return
        master_hash = next(iter(event.args.values()), None)
        for name in [name for name in self._known if name[1] == master_hash]:
            del self._known[name]


def in_order(rows: Sequence[Any], order: dict[Any, int], function: str) -> list[Any]:
    """Returns rows in creation order. Rows without a known position come first, in their original order."""
    column = _IDENTITY.get(function, 0)
    return sorted(rows, key=lambda row: order.get(_plain(row[column]), -1))


def _plain(entry: Any) -> Any:
    return entry.lower() if isinstance(entry, str) else entry
