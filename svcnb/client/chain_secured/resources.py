"""On-chain wallets, usage keys, groups and actions of a ChainSecured account, the same resources as in API mode.

For every change, the client runs a simulation, calls `ChainSecuredAccount.on_preview`, requests the owner's signature,
and sends the transaction. Then the client waits for the receipt. A change costs gas, but no credit. If the contract
rejects the simulated change, the client raises `svcnb.ChainError` with the name of the contract's error, and does not
send the transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from svcnb.checked import Checked
from svcnb.client import references
from svcnb.client.calls import Flow
from svcnb.client.chain_secured import key_flows, resource_flows as flows
from svcnb.client.chain_secured.key_flows import Groups, Span
from svcnb.client.chain_secured.mint import HashForm
from svcnb.client.chain_secured.models import KeyCheck
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.chain import Receipt
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.references import ActionRef, GroupRef, KeyRef, WalletRef
from svcnb.client.session import SyncSession
from svcnb.renamed import renamed

T = TypeVar("T")


class OnChainResource(Checked):
    """Base class of the resources of a ChainSecured account."""

    def __init__(self, session: SyncSession, account: Ownership) -> None:
        self._session = session
        self._account = account

    def _do(self, flow: Flow[T]) -> T:
        return self._session.drive(flow)

    def _change(self, name: str, *arguments: object) -> Receipt:
        return self._do(self._account.change(name, *arguments))


class OnChainWallets(OnChainResource):
    """Wallets that are registered on chain and whose private keys the service derives."""

    def create(self, name: str = "Wallet", *, description: str = "") -> Wallet:
        """Requests a new wallet from the service, registers the wallet with a transaction, and returns the wallet.

        The client keeps a local record until both steps are complete. After a failure between the steps,
        ``svc.chain_secured.pending()`` lists the record, and ``svc.chain_secured.resume(...)`` completes the creation.

        Args:
            name: Name of the wallet.
            description: Purpose of the wallet.

        Raises:
            ServiceError: The service rejected the signature (docs/service/signatures.md#rules-of-a-signature).
            ChainError: The contract rejected the change, or the owner cannot pay the gas. The local record keeps the
                wallet's data.
        """
        return self._do(flows.create_wallet(self._account, name, description))

    def list(self, group: GroupRef | None = None) -> Listing[Wallet]:
        """Returns all wallets, or those that ``group`` permits. In a group, the zero address means every wallet."""
        return self._do(flows.wallets(self._account, group))

    def delete(self, wallet: WalletRef) -> Receipt:
        """Deletes a wallet's registration, and returns the receipt of the transaction.

        The derivation path of the wallet still belongs to this account, so no other account can register the wallet.
        """
        return self._change("removeWalletDerivation", references.one_wallet_address(wallet, "mine"))

    def remove(self, wallet: WalletRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("wallets.remove", "wallets.delete")
        return self.delete(wallet)

    def get(self, wallet: WalletRef) -> Wallet:
        """Returns one wallet of the account.

        Raises:
            InvalidArgument: The value is not an address, or is 0, the wildcard.
            NotFound: The account does not contain the wallet.
        """
        return self._do(flows.get_wallet(self._account, wallet))


class OnChainUsageKeys(OnChainResource):
    """Usage keys of the account. These keys can run actions over HTTP, as in API mode."""

    def create(
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
        """Requests a new key from the service, registers its wallet and the key on chain, and returns the key.

        The method sends two transactions. The returned object contains the secret, which the service never shows again.
        Until all steps are complete, a local record contains the secret; see `OnChainWallets.create`.

        Args:
            name: Name of the key.
            description: Purpose of the key.
            execute_in_groups: Groups whose actions the key can run.
            manage_ipfs_ids_in_groups: Groups where the key can add and remove actions.
            add_pkp_to_groups: Groups where the key can add wallets.
            remove_pkp_from_groups: Groups where the key can remove wallets.
            can_create_groups: Whether the key can create groups.
            can_delete_groups: Whether the key can delete groups.
            can_create_pkps: Whether the key can create wallets.
            expires_in: Time from now until the key expires: ``"30d"``, seconds or a timedelta. None means never.
            form: Form of the key whose hash is stored on chain. ``bytes`` means its 32 bytes, as in the specification.
                ``text`` means its base64 text, which some services require.
            verify: Maximum time to wait until the service finds the key, in seconds. None skips this check. The check
                executes a small action. The check is free, or costs one cent if the key can execute in all groups.

        Raises:
            InvalidArgument: The name is empty, a list has more than 50 groups, or another argument is invalid.
            ServiceError: The service rejected the signature (docs/service/signatures.md#rules-of-a-signature).
            ChainError: The contract rejected the change, the owner cannot pay the gas, or the service did not find the
                key (``NotResolved``). The local record contains the key. A note on the error describes how to continue.
        """
        return self._do(
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

    def check(self, key: KeyRef, *, timeout: float = 0.0) -> KeyCheck:
        """Returns whether the service finds a key, and whether the hash of its bytes or of its text is on chain.

        The check executes a small action. The check is free, or costs one cent if the key can execute in all groups.

        Args:
            key: The key that `create` returned, or its text.
            timeout: Seconds for which to repeat the check until the service finds the key. 0 means a single check.
        """
        return self._do(key_flows.check(self._account, key, timeout))

    def list(self) -> Listing[UsageKey]:
        """Returns all usage keys of the account, without their secrets."""
        return self._do(key_flows.listing(self._account))

    def update(
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
        """Changes a usage key, and returns its new record. Omitted values stay unchanged, including the expiration.

        Args:
            key: The key, its text, or its hash from a listing.
            name: New name, or None to keep the current name.
            description: New description, or None to keep the current description.
            execute_in_groups: Complete new list of groups; see `create`.
            manage_ipfs_ids_in_groups: Complete new list of groups.
            add_pkp_to_groups: Complete new list of groups.
            remove_pkp_from_groups: Complete new list of groups.
            can_create_groups: Whether the key can create groups.
            can_delete_groups: Whether the key can delete groups.
            can_create_pkps: Whether the key can create wallets.
            expires_in: Time from now until the key expires: ``"30d"``, seconds or a timedelta. None changes nothing.
            never_expires: Whether to remove the expiration. If True, the method ignores ``expires_in``.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(
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

    def update_metadata(self, key: KeyRef, *, name: str | None = None, description: str | None = None) -> UsageKey:
        """Changes a usage key's name or description, and returns the changed record. None keeps the current value.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(key_flows.update_metadata(self._account, key, name, description))

    def delete(self, key: KeyRef) -> Receipt:
        """Deletes a usage key permanently, and returns the receipt of the transaction.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._change("removeUsageApiKey", int(self.get(key).api_key_hash, 16))

    def remove(self, key: KeyRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("usage_keys.remove", "usage_keys.delete")
        return self.delete(key)

    def get(self, key: KeyRef) -> UsageKey:
        """Returns the current record of one usage key, without its secret.

        Raises:
            NotFound: The account does not contain the key.
        """
        return self._do(key_flows.find(self._account, key))


class OnChainGroups(OnChainResource):
    """Groups: sets of actions and wallets that belong together."""

    def create(
        self,
        name: str,
        *,
        description: str = "",
        actions: Iterable[ActionRef] | ActionRef = (),
        wallets: Iterable[WalletRef] | WalletRef = (),
    ) -> Group:
        """Creates and returns a group. Each entry of a list after the first ten needs its own transaction.

        Args:
            name: Name of the group.
            description: Purpose of the group.
            actions: Actions, sources, CIDs or hashed CIDs to permit. ``svcnb.everything`` permits every action.
            wallets: Wallets or addresses to permit. ``svcnb.everything`` permits every wallet.
        """
        return self._do(flows.create_group(self._account, name, description, actions, wallets))

    def list(self) -> Listing[Group]:
        """Returns all groups of the account."""
        return self._do(flows.groups(self._account))

    def update(
        self,
        group: GroupRef,
        *,
        name: str | None = None,
        description: str | None = None,
        actions: Iterable[ActionRef] | ActionRef | None = None,
        wallets: Iterable[WalletRef] | WalletRef | None = None,
    ) -> Group:
        """Changes a group, and returns the changed group. Omitted values stay unchanged.

        The change needs one transaction. If a list has more than ten entries, each added or removed entry needs its own
        transaction. Additions come first. A new name or description then needs one more transaction.

        Args:
            group: A `Group`, its number, or its number as a string.
            name: New name, or None to keep the current name.
            description: New description, or None to keep the current description.
            actions: The complete new list of permitted actions. An empty list permits none.
            wallets: The complete new list of permitted wallets. An empty list permits none.

        Raises:
            ChainError: The group does not exist (``GroupDoesNotExist``).
        """
        return self._do(flows.update_group(self._account, group, name, description, actions, permitted=wallets))

    def delete(self, group: GroupRef) -> Receipt:
        """Deletes a group, and returns the receipt of the transaction.

        Usage keys keep the number of the deleted group in their lists. The contract never reuses the number.
        """
        return self._change("removeGroup", references.group_id(group))

    def remove(self, group: GroupRef) -> Receipt:
        """Deprecated name of `delete`."""
        renamed("groups.remove", "groups.delete")
        return self.delete(group)

    def contents(self, group: GroupRef) -> GroupContents:
        """Returns the actions and the wallets that a group permits."""
        return self._do(flows.contents(self._account, group))

    def add_action(self, group: GroupRef, action: ActionRef) -> Receipt:
        """Permits an action in a group, and returns the receipt of the transaction. The action can be a hashed CID."""
        return self._change("addActionToGroup", references.group_id(group), int(references.action_hash(action), 16))

    def remove_action(self, group: GroupRef, action: ActionRef) -> Receipt:
        """Removes an action from a group, and returns the receipt of the transaction.

        Raises:
            ChainError: The group does not permit the action (``ActionDoesNotExist``).
        """
        return self._change(
            "removeActionFromGroup", references.group_id(group), int(references.action_hash(action), 16)
        )

    def add_wallet(self, group: GroupRef, wallet: WalletRef) -> Receipt:
        """Permits a wallet in a group, and returns the receipt of the transaction."""
        return self._change("addPkpToGroup", references.group_id(group), references.wallet_address(wallet))

    def remove_wallet(self, group: GroupRef, wallet: WalletRef) -> Receipt:
        """Removes a wallet from a group, and returns the receipt of the transaction.

        Raises:
            ChainError: The group does not permit the wallet (``PkpDoesNotExist``).
        """
        return self._change("removePkpFromGroup", references.group_id(group), references.wallet_address(wallet))

    def get(self, group: GroupRef) -> Group:
        """Returns one group with its current name and description.

        Raises:
            InvalidArgument: The value is not a group id, or is 0, the wildcard.
            NotFound: The account does not contain the group.
        """
        return self._do(flows.get_group(self._account, group))


class OnChainActions(OnChainResource):
    """Registered actions, which are named CIDs. A registration grants no permissions. Only groups grant permissions."""

    def register(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """Registers an action under a name, or replaces its existing name, and returns the registration.

        Args:
            action: An action, a source or a raw CID.
            name: Name of the action. If omitted, the `Action`'s own name applies. A source or a CID needs a name.
            description: Description of the action. If omitted, the `Action`'s own description, if any, applies.
        """
        return self._do(flows.register(self._account, action, name, description))

    def update(self, action: ActionRef, *, name: str | None = None, description: str | None = None) -> RegisteredAction:
        """Changes an action's name or description, and returns the registration. None keeps the current value.

        Raises:
            NotFound: The action is not registered.
        """
        return self._do(flows.update_action(self._account, action, name, description))

    def delete(self, action: ActionRef) -> Receipt:
        """Deletes an action's registration, removes the action from every group, and returns the receipt."""
        return self._change("removeAction", int(references.one_action_hash(action, "mine"), 16))

    def list(self, group: GroupRef | None = None) -> Listing[RegisteredAction]:
        """Returns all actions, or those that ``group`` permits. In a group, the hash zero means every action."""
        return self._do(flows.actions_of(self._account, group))

    def get(self, action: ActionRef) -> RegisteredAction:
        """Returns one registered action.

        Raises:
            InvalidArgument: The value does not identify a single action.
            NotFound: The action is not registered.
        """
        return self._do(flows.get_action(self._account, action))
