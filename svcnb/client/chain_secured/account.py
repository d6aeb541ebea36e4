"""Object for one ChainSecured account, with its resources, credit and history. Examples call it ``mine``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from svcnb.checked import Checked
from svcnb.client.calls import Flow
from svcnb.client.chain import history
from svcnb.client.chain.history import AuditEntry, Change, History, Permission
from svcnb.client.chain_secured import account_flows, explain_flow
from svcnb.client.chain_secured.models import OnChain, Transfer
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.resources import OnChainActions, OnChainGroups, OnChainUsageKeys, OnChainWallets
from svcnb.client.listing import Listing
from svcnb.client.models.chain import Preview, Receipt
from svcnb.client.resources.billing import Billing
from svcnb.client.session import SyncSession
from svcnb.protocol.hashes import uint256_hex

if TYPE_CHECKING:
    from svcnb.client.chain_secured.wallet_auth import WalletAuth
    from svcnb.client.models.explanation import Explanation
    from svcnb.client.references import ActionRef, KeyRef, WalletRef
    from svcnb.client.signing import Signer
    from svcnb.client.signing.eth import AnySigner

T = TypeVar("T")


class KnownAccount(Checked):
    """Base class of `ChainSecuredAccount` and `AsyncChainSecuredAccount`, with the properties that need no request."""

    _account: Ownership

    @property
    def owner(self) -> Signer | None:
        """Wallet that signs the changes of the account. None if the account was opened without a wallet."""
        return self._account.writer.owner

    @property
    def api_key_hash(self) -> str:
        """Master hash of the account, which identifies the account on chain: ``0x`` followed by 64 hex digits.

        The hash stays the same when the account gets another owner. The hash is not a secret.
        """
        return uint256_hex(self._account.master_hash)

    @property
    def receipts(self) -> Sequence[Receipt]:
        """Receipts of all successful transactions that this object sent, oldest first."""
        return tuple(self._account.writer.receipts)

    @property
    def on_preview(self) -> Callable[[Preview], object] | None:
        """Function that the client calls with a preview of every write before the wallet signs the transaction.

        If the function returns False, the client cancels the write. With None, the wallet signs without a preview.
        """
        return self._account.writer.on_preview

    @on_preview.setter
    def on_preview(self, shown: Callable[[Preview], object] | None) -> None:
        self._account.writer.on_preview = shown

    def __repr__(self) -> str:
        owner = self._account.address or "only read"
        return f"{type(self).__name__}({self.api_key_hash}, {owner})"


class ChainSecuredAccount(KnownAccount):
    """Account that a wallet owns. The groups, wallets, actions and usage keys of the account are on chain.

    Every change of this data is a transaction that the owner's wallet signs. The credit is not on chain.

    ``svc.chain_secured.create``, ``open`` and ``look``, and ``svc.accounts.convert`` return this object.
    """

    def __init__(self, session: SyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    def _do(self, flow: Flow[T]) -> T:
        return self._session.drive(flow)

    @cached_property
    def wallets(self) -> OnChainWallets:
        """Wallets of the account. The service derives their private keys."""
        return OnChainWallets(self._session, self._account)

    @cached_property
    def usage_keys(self) -> OnChainUsageKeys:
        """Usage keys: restricted API keys that run actions over HTTP."""
        return OnChainUsageKeys(self._session, self._account)

    @cached_property
    def groups(self) -> OnChainGroups:
        """Groups: sets of actions and wallets that belong together."""
        return OnChainGroups(self._session, self._account)

    @cached_property
    def actions(self) -> OnChainActions:
        """Actions that the account has registered under a name."""
        return OnChainActions(self._session, self._account)

    @cached_property
    def billing(self) -> Billing:
        """Credit and payments, authenticated by the owner's signature instead of a key. All calls are free.

        If the account was opened without a wallet, the calls raise `svcnb.SigningError`.
        """
        return WalletBilling(self._session, self._account)

    def describe(self) -> OnChain:
        """Returns the on-chain state: the owner, the billing wallet, and how many groups, wallets and keys exist."""
        return self._do(account_flows.describe(self._account))

    def explain(self, key: KeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """Explains why a usage key can run an action with a wallet, or which permission is missing.

        If a permission is missing, the result contains the calls with which the owner can grant this permission. The
        method only reads the contract, so this method is free and needs no key.

        Args:
            key: A usage key, its text or its hash.
            action: An action, a source, a CID or a hashed CID.
            wallet: The wallet that the action uses, or None for a run without a wallet.

        Raises:
            InvalidArgument: An argument does not identify exactly one object.
        """
        return self._do(explain_flow.explain(self._account, key, action, wallet))

    def transfer_ownership(self, to: AnySigner | str, *, confirm: bool = False) -> Transfer:
        """Transfers the account to another wallet, irreversibly, and returns the result of the transfer.

        The account keeps all its contents and its credit. Afterwards, this object can only read the account. To change
        the account, open the account with the new owner's signer.

        Args:
            to: Signer or address of the new owner. The contract rejects a wallet that is or was an account's admin.
            confirm: Must be True. Otherwise, the client does not send a transaction, and the error lists the
                consequences.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            InvalidArgument: ``to`` is neither a wallet nor an address, or this account was opened without a wallet.
            ChainError: The contract rejected the transfer; docs/service/signatures.md#transfer lists the checks.
        """
        return self._do(account_flows.transfer(self._account, to, confirm=confirm))

    def _history(self, last: int | None) -> History:
        return self._do(history.read(self._account.chain, self._account.master_hash, last=last))

    def audit(self, *, until_block: int | None = None) -> Listing[AuditEntry]:
        """Returns the history of the account, oldest first. ``.to_frame()`` converts the history to a pandas DataFrame.

        Names and the initial contents of groups come from the call data of the transactions, because events contain
        neither. The history does not list changes of only a name or a description, because such changes emit no event.

        Args:
            until_block: Number of the last block to read, or None for all blocks.

        Raises:
            InvalidArgument: The account was opened with the hash of a usage key.
            ChainError: The chain could not be queried, or the node does not store the complete history.
        """
        return self._history(until_block).entries()

    def permissions(self, *, until_block: int | None = None) -> Listing[Permission]:
        """Returns all permissions in the account at the end of a block, computed from the account's events.

        Args:
            until_block: Number of the block. None means the latest block.
        """
        return self._history(until_block).permissions()

    def diff(self, first: int, last: int | None = None) -> Listing[Change]:
        """Returns the differences between the permissions at the end of two blocks.

        Args:
            first: Number of the earlier block.
            last: Number of the later block. None means the latest block.
        """
        return self._history(last).diff(first, last)


class WalletBilling(Billing):
    """Version of `svcnb.client.resources.billing.Billing` that uses the owner's signature instead of a key."""

    def __init__(self, session: SyncSession, account: Ownership) -> None:
        from svcnb.client.chain_secured.wallet_auth import WalletAuth

        self._auth: WalletAuth = WalletAuth(account.writer)
        config = session.config.replace(api_key=None, master_key=False, wallet_auth=self._auth.headers)
        super().__init__(SyncSession(session.transport, config, session.listeners))

    def _do(self, flow: Flow[T]) -> T:
        self._session.drive(self._auth.refresh())
        return super()._do(flow)
