"""Endpoints for lists. Any key can read all resources of its account, but no secrets (docs/service/http.md#lists)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.access.guards import KEY_PRESENT, Access
from svcnb.emulator.accounts.contract_calls import ContractCalls
from svcnb.emulator.accounts.creation_order import CreationOrder, in_order
from svcnb.emulator.http.routing import API, Call, Endpoint
from svcnb.emulator.settings import Settings
from svcnb.protocol.limits import MAX_U64
from svcnb.protocol.wire.actions import ActionItem
from svcnb.protocol.wire.groups import GroupItem
from svcnb.protocol.wire.paging import ActionsQuery, GroupWalletsQuery, PageQuery
from svcnb.protocol.wire.usage_keys import ApiKeyItem
from svcnb.protocol.wire.values import WILDCARD_ADDRESS
from svcnb.protocol.wire.wallets import WalletItem

_ANY: Final = "Any"
_ANY_ACTION: Final = "Any action"
_ANY_WALLET: Final = "Any wallet"


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Endpoints that list resources, free of charge.

    Attributes:
        contract: Client of the contract.
        creation_order: Reader of the creation order of list entries.
        access: Authentication, which finds the account of a key.
        settings: Settings with the default and maximum page size.
    """

    contract: ContractCalls
    creation_order: CreationOrder
    access: Access
    settings: Settings

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that list usage keys, groups, wallets and actions."""
        rows = (
            ("list_api_keys", self.list_api_keys, PageQuery, list[ApiKeyItem], "Usage API keys", ()),
            ("list_groups", self.list_groups, PageQuery, list[GroupItem], "Groups", ()),
            ("list_wallets", self.list_wallets, PageQuery, list[WalletItem], "Wallets", ()),
            (
                "list_wallets_in_group",
                self.list_wallets_in_group,
                GroupWalletsQuery,
                list[WalletItem],
                "Wallets",
                (404,),
            ),
            ("list_actions", self.list_actions, ActionsQuery, list[ActionItem], "Actions", (404,)),
        )
        return [
            Endpoint(
                "GET",
                f"{API}/{name}",
                handler,
                query=query,
                response=response,
                # The handler resolves the key, because the service checks the query first
                # (docs/service/http.md#order-of-checks).
                guards=(KEY_PRESENT,),
                answers_for=(self.access.key,),
                errors=frozenset(errors),
                tag=tag,
            )
            for name, handler, query, response, tag, errors in rows
        ]

    async def list_api_keys(self, call: Call, query: PageQuery) -> list[ApiKeyItem]:
        """Lists the usage keys of the account with their permissions, without the keys themselves."""
        rows = await self._page(call, query, "listApiKeys")
        return [_api_key(row) for row in rows]

    async def list_groups(self, call: Call, query: PageQuery) -> list[GroupItem]:
        """Lists the groups of the account."""
        rows = await self._page(call, query, "listGroups")
        return [GroupItem(id=_hex(row[0]), name=row[1], description=row[2]) for row in rows]

    async def list_wallets(self, call: Call, query: PageQuery) -> list[WalletItem]:
        """Lists the wallets of the account in order of registration.

        The first wallet of an account from new_account is the Account Master Wallet.
        """
        rows = await self._page(call, query, "listPkps")
        positions = await self._positions(call, rows)
        return [_wallet(row, positions) for row in rows]

    async def list_wallets_in_group(self, call: Call, query: GroupWalletsQuery) -> list[WalletItem]:
        """Lists the wallets that a group permits, including wallets that are not registered in the account."""
        rows = await self._page(call, query, "listWalletsInGroup", query.group_id)
        positions = await self._positions(call, rows)
        return [_wallet(row, positions) for row in rows]

    async def list_actions(self, call: Call, query: ActionsQuery) -> list[ActionItem]:
        """Lists the registered actions of the account, or the actions that a group permits.

        The list of a group also contains actions that are not registered in the account.
        """
        if query.group_id:
            rows = await self._page(call, query, "listActionsInGroup", query.group_id)
        else:
            rows = await self._page(call, query, "listActions")
        return [_action(row) for row in rows]

    async def _page(self, call: Call, query: PageQuery, function: str, *arguments: int) -> Sequence[Any]:
        """Returns one page in creation order.

        If the page size exceeds the length of the list, the page is the whole list (docs/service/http.md#paging).
        """
        caller = await self.access.identify(call)
        settings = self.settings
        size = settings.default_page_size if query.page_size is None else query.page_size
        if settings.max_page_size is not None:
            size = min(size, settings.max_page_size)
        rows: Sequence[Any] = await self._ordered(
            caller.master_hash, function, *arguments, page=(query.page_number, size)
        )
        if settings.strict_paging and query.page_number and 0 < len(rows) < size:
            # A page that is not full is the last page, or the whole list if the list is shorter than a page. The length
            # of the first page shows which case applies.
            first: Sequence[Any] = await self.contract.view(function, caller.master_hash, *arguments, 0, size)
            if len(first) < size:
                return []
        return rows

    async def _ordered(self, master_hash: int, function: str, *arguments: int, page: tuple[int, int]) -> Sequence[Any]:
        number, size = page
        order = await self.creation_order.of(function, master_hash, *arguments) if size else {}
        if not order:
            rows: Sequence[Any] = await self.contract.view(function, master_hash, *arguments, number, size)
            return rows
        everything = in_order(await self.contract.view(function, master_hash, *arguments, 0, MAX_U64), order, function)
        return everything if size > len(everything) else everything[number * size : (number + 1) * size]

    async def _positions(self, call: Call, rows: Sequence[Any]) -> dict[str, int]:
        """Returns each wallet's position in the order of registration. The contract does not store this order."""
        if not rows:
            return {}
        everything = await self._ordered(call.caller.master_hash, "listPkps", page=(0, MAX_U64))
        return {entry[1].lower(): position for position, entry in enumerate(everything)}


def _api_key(row: Any) -> ApiKeyItem:
    metadata, hashed, expiration, balance, execute, create_groups, delete_groups, create_pkps, manage, add, remove = row
    return ApiKeyItem(
        id=_hex(metadata[0]),
        api_key_hash=_hex(hashed),
        name=metadata[1],
        description=metadata[2],
        expiration=str(expiration),
        balance=min(balance, MAX_U64),
        can_create_groups=create_groups,
        can_delete_groups=delete_groups,
        can_create_pkps=create_pkps,
        can_manage_ipfs_ids_in_groups=list(manage),
        can_add_pkp_to_groups=list(add),
        can_remove_pkp_from_groups=list(remove),
        can_execute_in_groups=list(execute),
    )


def _wallet(row: Any, positions: dict[str, int]) -> WalletItem:
    _, address, name, description = row
    address = address.lower()
    if address == WILDCARD_ADDRESS:
        return WalletItem(id="", name=_ANY, description=_ANY_WALLET, wallet_address=address)
    position = positions.get(address)
    return WalletItem(
        id="" if position is None else str(position), name=name, description=description, wallet_address=address
    )


def _action(row: Any) -> ActionItem:
    number, name, description = row
    if not number:
        name, description = _ANY, _ANY_ACTION
    return ActionItem(id=_hex(number), hashed_cid=_hex(number), name=name, description=description)


def _hex(number: int) -> str:
    return f"0x{number:064x}"
