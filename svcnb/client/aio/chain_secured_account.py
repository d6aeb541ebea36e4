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
    """Account that a wallet owns. All its data is on chain, and every change is a transaction that the wallet signs.

    ``svc.chain_secured.create``, ``open`` and ``look``, and ``svc.accounts.convert`` return this object.
    """

    def __init__(self, session: AsyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    @cached_property
    def wallets(self) -> AsyncOnChainWallets:
        """Wallets of the account. The service derives their private keys."""
        return AsyncOnChainWallets(self._session, self._account)

    @cached_property
    def usage_keys(self) -> AsyncOnChainUsageKeys:
        """Usage keys: restricted API keys that run actions over HTTP."""
        return AsyncOnChainUsageKeys(self._session, self._account)

    @cached_property
    def groups(self) -> AsyncOnChainGroups:
        """Groups, which link actions and wallets."""
        return AsyncOnChainGroups(self._session, self._account)

    @cached_property
    def actions(self) -> AsyncOnChainActions:
        """Actions that the account has registered under a name."""
        return AsyncOnChainActions(self._session, self._account)

    @cached_property
    def billing(self) -> AsyncBilling:
        """Credit and payments, authenticated by the owner's signature instead of a key. All calls are free."""
        return AsyncWalletBilling(self._session, self._account)

    async def describe(self) -> OnChain:
        """Returns the on-chain state of the account: its owner, the wallet that pays, and the number of its objects."""
        return await self._do(account_flows.describe(self._account))

    async def explain(self, key: KeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """Explains why a usage key can run an action with a wallet, or which permission is missing and how to grant it.

        The method only reads the contract, so it is free and needs no key. The suggested repairs are transactions of
        the owner.

        Args:
            key: A usage key, its text or its hash.
            action: The action, its source, CID or hashed CID.
            wallet: The wallet that the action uses, or None for a run without a wallet.

        Raises:
            InvalidArgument: An argument does not identify exactly one object.
        """
        return await self._do(explain_flow.explain(self._account, key, action, wallet))

    async def transfer_ownership(self, to: AnySigner | str, *, confirm: bool = False) -> Transfer:
        """Transfers the account to another wallet, irreversibly. The account keeps all its contents and its credit.

        Afterwards, this object is read-only. To change the account, open it with the new owner.

        Args:
            to: The new owner, or its address. The contract rejects a wallet that is or was the admin of an account.
            confirm: Must be True. Otherwise, the client does not send anything, and the error lists the consequences.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            ChainError: The contract rejected the transfer; docs/service/signatures.md#transfer lists its checks.
        """
        return await self._do(account_flows.transfer(self._account, to, confirm=confirm))

    async def audit(self, *, until_block: int | None = None) -> Listing[AuditEntry]:
        """Returns the history of the account, oldest first. ``.to_frame()`` converts it to a pandas DataFrame.

        Names and initial contents come from the call data of the transactions, because events contain neither. Renaming
        a group, an action or a key emits no event, so the history does not list renames.

        Args:
            until_block: Number of the last block to read, or None for all blocks.
        """
        return await self._do(audit(self._account, until_block))

    async def permissions(self, *, until_block: int | None = None) -> Listing[Permission]:
        """Returns all permissions at the end of a block, computed from the events.

        Args:
            until_block: Block number. None means the latest block.
        """
        return await self._do(permissions(self._account, until_block))

    async def diff(self, first: int, last: int | None = None) -> Listing[Change]:
        """Returns the permissions that were added or removed between the ends of two blocks.

        Args:
            first: Number of the earlier block.
            last: Number of the later block. None means the latest block.
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
