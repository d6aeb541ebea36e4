"""Asynchronous versions of the classes of `svcnb.client.chain_secured.account`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from svcnb.client.aio.billing import AsyncBilling
from svcnb.client.aio.chain_secured_resources import (
    AsyncOnChainActions,
    AsyncOnChainGroups,
    AsyncOnChainUsageKeys,
    AsyncOnChainWallets,
)
from svcnb.client.calls import Flow
from svcnb.client.chain.history import AuditEntry, Change, Permission
from svcnb.client.chain_secured import account_flows, explain_flow
from svcnb.client.chain_secured.account import KnownAccount, T, audit, diff, permissions
from svcnb.client.chain_secured.models import OnChain, Transfer
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.listing import Listing
from svcnb.client.session import AsyncSession

if TYPE_CHECKING:
    from svcnb.client.chain_secured.wallet_auth import WalletAuth
    from svcnb.client.models.explanation import Explanation
    from svcnb.client.references import ActionRef, KeyRef, WalletRef
    from svcnb.client.signing.eth import AnySigner


class AsyncChainSecuredAccount(KnownAccount):
    """Account that a wallet owns. All its data is on chain, and every change is a transaction that it signs.

    Returned by ``svc.chain_secured.create``, ``open`` and ``look``, and by ``svc.accounts.convert``.
    """

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    @cached_property
    def wallets(self) -> AsyncOnChainWallets:
        """Wallets whose keys the service keeps."""
        return AsyncOnChainWallets(self._session, self._account)

    @cached_property
    def usage_keys(self) -> AsyncOnChainUsageKeys:
        """Usage keys: restricted API keys that run actions over HTTP."""
        return AsyncOnChainUsageKeys(self._session, self._account)

    @cached_property
    def groups(self) -> AsyncOnChainGroups:
        """Groups: which actions and which wallets belong together."""
        return AsyncOnChainGroups(self._session, self._account)

    @cached_property
    def actions(self) -> AsyncOnChainActions:
        """Actions that are registered in the account under a name."""
        return AsyncOnChainActions(self._session, self._account)

    @cached_property
    def billing(self) -> AsyncBilling:
        """Credit and payments; the owner's signature replaces a key. Free."""
        return AsyncWalletBilling(self._session, self._account)

    async def describe(self) -> OnChain:
        """Returns the account's state on chain: its owner, the wallet that pays, and the number of its objects."""
        return await self._do(account_flows.describe(self._account))

    async def explain(self, key: KeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """Explains why a usage key may run an action with a wallet, or what is missing and how to fix it.

        Reads the contract, so it is free and needs no key. The repairs are transactions of the owner.

        Args:
            key: A usage key, its text or its hash.
            action: The action, its source, CID or hashed CID.
            wallet: The wallet that the action uses; None to explain the run alone.

        Raises:
            InvalidArgument: One of them does not name exactly one object.
        """
        return await self._do(explain_flow.explain(self._account, key, action, wallet))

    async def transfer_ownership(self, to: AnySigner | str, *, confirm: bool = False) -> Transfer:
        """Transfers the account to another wallet. Irreversible. Everything in it stays, including the credit.

        Afterwards this object can only read. Open the account with its new owner to change it.

        Args:
            to: The new owner, or its address. A wallet that was ever admin of an account is rejected.
            confirm: Required. Without it nothing is sent, and the error lists the consequences.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            ChainError: The contract refused, in the order of specification 5.8.
        """
        return await self._do(account_flows.transfer(self._account, to, confirm=confirm))

    async def audit(self, *, until_block: int | None = None) -> Listing[AuditEntry]:
        """Returns the history of the account, oldest first; ``.to_frame()`` returns it as a frame.

        Names and initial contents come from the transactions' call data, since events contain neither. Renaming groups,
        actions and keys emits no event and is not listed.

        Args:
            until_block: The last block to read; all when None.
        """
        return await self._do(audit(self._account, until_block))

    async def permissions(self, *, until_block: int | None = None) -> Listing[Permission]:
        """Returns all permissions, computed from the events; at the end of a block if one is given.

        Args:
            until_block: The last block that counts; all when None.
        """
        return await self._do(permissions(self._account, until_block))

    async def diff(self, first: int, last: int | None = None) -> Listing[Change]:
        """Returns which permissions were added and removed between the ends of two blocks.

        Args:
            first: The earlier block.
            last: The later block; the latest when None.
        """
        return await self._do(diff(self._account, first, last))


class AsyncWalletBilling(AsyncBilling):
    """`svcnb.client.resources.billing.Billing`, authenticated by the owner's signature."""

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        from svcnb.client.chain_secured.wallet_auth import WalletAuth

        self._auth: WalletAuth = WalletAuth(account.writer)
        config = session.config.replace(api_key=None, master_key=False, wallet_auth=self._auth.headers)
        super().__init__(AsyncSession(session.transport, config, session.listeners))

    async def _do(self, flow: Flow[T]) -> T:
        await self._session.drive(self._auth.refresh())
        return await super()._do(flow)
