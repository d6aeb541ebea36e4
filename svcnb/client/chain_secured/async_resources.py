"""The asynchronous twins of `svcnb.client.chain_secured.resources`: the same flows, awaited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from svcnb.checked import Checked
from svcnb.client.calls import Flow
from svcnb.client.chain_secured import key_flows, resource_flows as flows
from svcnb.client.chain_secured.key_flows import Groups, Span
from svcnb.client.chain_secured.mint import HashForm
from svcnb.client.chain_secured.models import KeyCheck
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.resources import OnChainActions, OnChainGroups, OnChainUsageKeys, OnChainWallets
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.chain import Receipt
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.references import ActionRef, GroupRef, KeyRef, WalletRef
from svcnb.client.renamed import renamed
from svcnb.client.resources.base import mirrors
from svcnb.client.session import AsyncSession

T = TypeVar("T")


class AsyncOnChainNoun(Checked):
    """One noun of one account."""

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)


@mirrors(OnChainWallets)
class AsyncOnChainWallets(AsyncOnChainNoun):
    """The asynchronous twin of `OnChainWallets`."""

    async def create(self, name: str = "Wallet", *, description: str = "") -> Wallet:
        """See `OnChainWallets.create`."""
        return await self._do(flows.create_wallet(self._account, name, description))

    async def list(self, group: GroupRef | None = None) -> Listing[Wallet]:
        """See `OnChainWallets.list`."""
        return await self._do(flows.wallets(self._account, group))

    async def delete(self, wallet: WalletRef) -> Receipt:
        """See `OnChainWallets.delete`."""
        return await self._do(flows.remove_wallet(self._account, wallet))

    async def remove(self, wallet: WalletRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("wallets.remove", "wallets.delete")
        return await self.delete(wallet)

    async def get(self, wallet: WalletRef) -> Wallet:
        """See `OnChainWallets.get`."""
        return await self._do(flows.get_wallet(self._account, wallet))


@mirrors(OnChainUsageKeys)
class AsyncOnChainUsageKeys(AsyncOnChainNoun):
    """The asynchronous twin of `OnChainUsageKeys`."""

    async def create(
        self,
        name: str,
        *,
        description: str = "",
        execute_in_groups: Groups = (),
        manage_ipfs_ids_in_groups: Groups = (),
        add_pkp_to_groups: Groups = (),
        remove_pkp_from_groups: Groups = (),
        can_create_groups: bool = False,
        can_delete_groups: bool = False,
        can_create_pkps: bool = False,
        expires_in: Span | None = None,
        form: HashForm = "bytes",
        verify: float | None = 30.0,
    ) -> UsageKey:
        """See `OnChainUsageKeys.create`."""
        return await self._do(
            key_flows.create(
                self._account,
                name,
                description,
                expires_in=expires_in,
                form=form,
                verify=verify,
                execute_in_groups=execute_in_groups,
                manage_ipfs_ids_in_groups=manage_ipfs_ids_in_groups,
                add_pkp_to_groups=add_pkp_to_groups,
                remove_pkp_from_groups=remove_pkp_from_groups,
                can_create_groups=can_create_groups,
                can_delete_groups=can_delete_groups,
                can_create_pkps=can_create_pkps,
            )
        )

    async def check(self, key: KeyRef, *, timeout: float = 0.0) -> KeyCheck:  # noqa: ASYNC109 - of the key, not of the call
        """See `OnChainUsageKeys.check`."""
        return await self._do(key_flows.check(self._account, key, timeout))

    async def list(self) -> Listing[UsageKey]:
        """See `OnChainUsageKeys.list`."""
        return await self._do(key_flows.listing(self._account))

    async def update(
        self,
        key: KeyRef,
        *,
        name: str | None = None,
        description: str | None = None,
        execute_in_groups: Groups | None = None,
        manage_ipfs_ids_in_groups: Groups | None = None,
        add_pkp_to_groups: Groups | None = None,
        remove_pkp_from_groups: Groups | None = None,
        can_create_groups: bool | None = None,
        can_delete_groups: bool | None = None,
        can_create_pkps: bool | None = None,
        expires_in: Span | None = None,
        never_expires: bool = False,
    ) -> UsageKey:
        """See `OnChainUsageKeys.update`."""
        return await self._do(
            key_flows.update(
                self._account,
                key,
                expires_in,
                never=never_expires,
                name=name,
                description=description,
                execute_in_groups=execute_in_groups,
                manage_ipfs_ids_in_groups=manage_ipfs_ids_in_groups,
                add_pkp_to_groups=add_pkp_to_groups,
                remove_pkp_from_groups=remove_pkp_from_groups,
                can_create_groups=can_create_groups,
                can_delete_groups=can_delete_groups,
                can_create_pkps=can_create_pkps,
            )
        )

    async def update_metadata(
        self, key: KeyRef, *, name: str | None = None, description: str | None = None
    ) -> UsageKey:
        """See `OnChainUsageKeys.update_metadata`."""
        return await self._do(key_flows.update_metadata(self._account, key, name, description))

    async def delete(self, key: KeyRef) -> Receipt:
        """See `OnChainUsageKeys.delete`."""
        return await self._do(key_flows.delete(self._account, key))

    async def remove(self, key: KeyRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("usage_keys.remove", "usage_keys.delete")
        return await self.delete(key)

    async def get(self, key: KeyRef) -> UsageKey:
        """See `OnChainUsageKeys.get`."""
        return await self._do(key_flows.find(self._account, key))


@mirrors(OnChainGroups)
class AsyncOnChainGroups(AsyncOnChainNoun):
    """The asynchronous twin of `OnChainGroups`."""

    async def create(
        self,
        name: str,
        *,
        description: str = "",
        actions: Iterable[ActionRef] | ActionRef = (),
        wallets: Iterable[WalletRef] | WalletRef = (),
    ) -> Group:
        """See `OnChainGroups.create`."""
        return await self._do(flows.create_group(self._account, name, description, actions, wallets))

    async def list(self) -> Listing[Group]:
        """See `OnChainGroups.list`."""
        return await self._do(flows.groups(self._account))

    async def update(
        self,
        group: GroupRef,
        *,
        name: str | None = None,
        description: str | None = None,
        actions: Iterable[ActionRef] | ActionRef | None = None,
        wallets: Iterable[WalletRef] | WalletRef | None = None,
    ) -> Group:
        """See `OnChainGroups.update`."""
        return await self._do(
            flows.update_group(
                self._account, group, name=name, description=description, actions=actions, permitted=wallets
            )
        )

    async def delete(self, group: GroupRef) -> Receipt:
        """See `OnChainGroups.delete`."""
        return await self._do(flows.remove_group(self._account, group))

    async def remove(self, group: GroupRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("groups.remove", "groups.delete")
        return await self.delete(group)

    async def contents(self, group: GroupRef) -> GroupContents:
        """See `OnChainGroups.contents`."""
        return await self._do(flows.contents(self._account, group))

    async def add_action(self, group: GroupRef, action: ActionRef) -> Receipt:
        """See `OnChainGroups.add_action`."""
        return await self._do(flows.add_action(self._account, group, action))

    async def remove_action(self, group: GroupRef, action: ActionRef) -> Receipt:
        """See `OnChainGroups.remove_action`."""
        return await self._do(flows.remove_action(self._account, group, action))

    async def add_wallet(self, group: GroupRef, wallet: WalletRef) -> Receipt:
        """See `OnChainGroups.add_wallet`."""
        return await self._do(flows.add_wallet(self._account, group, wallet))

    async def remove_wallet(self, group: GroupRef, wallet: WalletRef) -> Receipt:
        """See `OnChainGroups.remove_wallet`."""
        return await self._do(flows.withdraw_wallet(self._account, group, wallet))

    async def get(self, group: GroupRef) -> Group:
        """See `OnChainGroups.get`."""
        return await self._do(flows.get_group(self._account, group))


@mirrors(OnChainActions)
class AsyncOnChainActions(AsyncOnChainNoun):
    """The asynchronous twin of `OnChainActions`."""

    async def register(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """See `OnChainActions.register`."""
        return await self._do(flows.register(self._account, action, name, description))

    async def update(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """See `OnChainActions.update`."""
        return await self._do(flows.update_action(self._account, action, name, description))

    async def delete(self, action: ActionRef) -> Receipt:
        """See `OnChainActions.delete`."""
        return await self._do(flows.delete(self._account, action))

    async def list(self, group: GroupRef | None = None) -> Listing[RegisteredAction]:
        """See `OnChainActions.list`."""
        return await self._do(flows.actions_of(self._account, group))

    async def get(self, action: ActionRef) -> RegisteredAction:
        """See `OnChainActions.get`."""
        return await self._do(flows.get_action(self._account, action))
