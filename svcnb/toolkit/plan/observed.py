"""Current state of an account, read through a client. All requests are free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.protocol.wire.values import WILDCARD_ADDRESS

KEY_WALLET_NAME: Final = "API Key Wallet"
"""Name of the wallet that the service registers for every usage key (docs/service/endpoints.md#account-and-keys)."""


@dataclass(frozen=True)
class Members:
    """Hashed CIDs and addresses that a group permits, and whether the service hides the hashes of some actions."""

    actions: frozenset[str]
    wallets: frozenset[str]
    hidden: bool = False


@dataclass(frozen=True)
class Observed:
    """Current state of an account.

    Attributes:
        actions: Registered actions, with their hashes as keys.
        account: Identifier of the account: the master hash of a ChainSecured account, or the address of the master
            wallet of an account in API mode.
        on_chain: Whether a wallet owns the account (ChainSecured mode). Changes are then transactions.
        wallets: Addresses of the wallets, in the order of their registration.
        master_wallet: Wallet whose private key is the account key. None for an account without a master wallet.
        made_wallets: Names of the wallets that a user created, with their addresses as keys. The mapping
            contains neither the master wallet nor the wallets of usage keys.
        groups: Groups, with their ids as keys.
        members: Permissions of each group, with the group ids as keys.
        keys: Usage keys, with their hashes as keys.
        triggers: Triggers, with their ids as keys. Empty without a client of the triggers service.
    """

    actions: Mapping[str, RegisteredAction]
    account: str
    on_chain: bool
    wallets: tuple[str, ...]
    master_wallet: str | None
    made_wallets: Mapping[str, str]
    groups: Mapping[int, Group]
    members: Mapping[int, Members]
    keys: Mapping[str, UsageKey]
    triggers: Mapping[str, Any]

    @classmethod
    def of(cls, svc: Any, triggers: Any = None) -> Observed:
        """Reads and returns the state of an account.

        Args:
            svc: Client with a key of the account, or a ChainSecured account opened by its owner.
            triggers: Client of the triggers service, if the description contains triggers.
        """
        groups = {group.id: group for group in svc.groups.list()}
        wallets = svc.wallets.list()
        master = master_wallet_of(wallets)
        on_chain = hasattr(svc, "api_key_hash")
        return cls(
            actions={item.hashed_cid: item for item in svc.actions.list() if item.hashed_cid},
            wallets=tuple(item.wallet_address for item in wallets),
            account=svc.api_key_hash if on_chain else (master or ""),
            on_chain=on_chain,
            master_wallet=master,
            made_wallets={
                item.wallet_address: item.name
                for item in wallets
                if item.name != KEY_WALLET_NAME and item.wallet_address != master
            },
            groups=groups,
            members={number: _members(svc, number) for number in groups},
            keys={item.api_key_hash: item for item in svc.usage_keys.list()},
            triggers={} if triggers is None else {item.id: item for item in triggers.list()},
        )

    def master(self) -> str:
        """Returns the address of the master wallet.

        Raises:
            InvalidArgument: The account has no master wallet.
        """
        if self.master_wallet is None:
            raise InvalidArgument(
                'a group contains the wallet "master", but this account has no master wallet',
                hint='Replace "master" with the name of another wallet in the description.',
            )
        return self.master_wallet


def _members(svc: Any, number: int) -> Members:
    contents = svc.groups.contents(number)
    hashes = [item.hashed_cid for item in contents.actions]
    return Members(
        actions=frozenset(hashed for hashed in hashes if hashed is not None),
        wallets=frozenset(WILDCARD_ADDRESS if item.is_wildcard else item.wallet_address for item in contents.wallets),
        hidden=None in hashes,
    )
