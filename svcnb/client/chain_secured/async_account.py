"""The asynchronous twin of `svcnb.client.chain_secured.account`: the same flows, awaited.

A wallet in the browser is asked while Python goes on, so it needs this one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from svcnb.client.calls import Flow
from svcnb.client.chain.history import AuditEntry, Change, Permission
from svcnb.client.chain_secured import account_flows, explain_flow
from svcnb.client.chain_secured.account import ChainSecuredAccount, KnownAccount, audit, diff, permissions
from svcnb.client.chain_secured.async_resources import (
    AsyncOnChainActions,
    AsyncOnChainGroups,
    AsyncOnChainUsageKeys,
    AsyncOnChainWallets,
)
from svcnb.client.chain_secured.models import OnChain, Transfer
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.listing import Listing
from svcnb.client.resources.base import mirrors
from svcnb.client.resources.billing import AsyncBilling
from svcnb.client.session import AsyncSession

if TYPE_CHECKING:
    from svcnb.client.chain_secured.wallet_auth import WalletAuth
    from svcnb.client.models.explanation import Explanation
    from svcnb.client.references import ActionRef, KeyRef, WalletRef
    from svcnb.client.signing.eth import AnySigner

T = TypeVar("T")


@mirrors(ChainSecuredAccount)
class AsyncChainSecuredAccount(KnownAccount):
    """The asynchronous twin of `ChainSecuredAccount`."""

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    @cached_property
    def wallets(self) -> AsyncOnChainWallets:
        """See `ChainSecuredAccount.wallets`."""
        return AsyncOnChainWallets(self._session, self._account)

    @cached_property
    def usage_keys(self) -> AsyncOnChainUsageKeys:
        """See `ChainSecuredAccount.usage_keys`."""
        return AsyncOnChainUsageKeys(self._session, self._account)

    @cached_property
    def groups(self) -> AsyncOnChainGroups:
        """See `ChainSecuredAccount.groups`."""
        return AsyncOnChainGroups(self._session, self._account)

    @cached_property
    def actions(self) -> AsyncOnChainActions:
        """See `ChainSecuredAccount.actions`."""
        return AsyncOnChainActions(self._session, self._account)

    @cached_property
    def billing(self) -> AsyncBilling:
        """See `ChainSecuredAccount.billing`."""
        return AsyncWalletBilling(self._session, self._account)

    async def describe(self) -> OnChain:
        """See `ChainSecuredAccount.describe`."""
        return await self._do(account_flows.describe(self._account))

    async def explain(self, key: KeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """See `ChainSecuredAccount.explain`."""
        return await self._do(explain_flow.explain(self._account, key, action, wallet))

    async def transfer_ownership(self, to: AnySigner | str, *, confirm: bool = False) -> Transfer:
        """See `ChainSecuredAccount.transfer_ownership`."""
        return await self._do(account_flows.transfer(self._account, to, confirm=confirm))

    async def audit(self, *, until_block: int | None = None) -> Listing[AuditEntry]:
        """See `ChainSecuredAccount.audit`."""
        return await self._do(audit(self._account, until_block))

    async def permissions(self, *, until_block: int | None = None) -> Listing[Permission]:
        """See `ChainSecuredAccount.permissions`."""
        return await self._do(permissions(self._account, until_block))

    async def diff(self, first: int, last: int | None = None) -> Listing[Change]:
        """See `ChainSecuredAccount.diff`."""
        return await self._do(diff(self._account, first, last))


class AsyncWalletBilling(AsyncBilling):
    """The asynchronous twin of `svcnb.client.chain_secured.account.WalletBilling`."""

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        from svcnb.client.chain_secured.wallet_auth import WalletAuth

        self._auth: WalletAuth = WalletAuth(account.writer)
        config = session.config.replace(api_key=None, master_key=False, wallet_auth=self._auth.headers)
        super().__init__(AsyncSession(session.transport, config, session.listeners))

    async def _do(self, flow: Flow[T]) -> T:
        await self._session.drive(self._auth.refresh())
        return await super()._do(flow)
