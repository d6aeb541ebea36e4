"""What an account holds now, read through a client. Free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group
from svcnb.client.models.usage_keys import UsageKey
from svcnb.protocol.wire.values import WILDCARD_ADDRESS

KEY_WALLET_NAME: Final = "API Key Wallet"
"""Name of the wallet that the service registers beside every usage key (reference facts 2.2)."""


@dataclass(frozen=True)
class Members:
    """What one group permits: hashed CIDs and addresses; and whether the service hides some of it."""

    actions: frozenset[str]
    wallets: frozenset[str]
    hidden: bool = False


@dataclass(frozen=True)
class Observed:
    """What an account holds.

    Attributes:
        actions: Registered actions by hash.
        wallets: Addresses, the master wallet first.
        made_wallets: Addresses of those that `create_wallet` made: neither the master wallet nor a usage key's own.
        groups: Groups by number.
        members: What each group permits, by number.
        keys: Usage keys by hash.
        triggers: Triggers by id; none without a client of the triggers service.
    """

    actions: Mapping[str, RegisteredAction]
    wallets: tuple[str, ...]
    made_wallets: tuple[str, ...]
    groups: Mapping[int, Group]
    members: Mapping[int, Members]
    keys: Mapping[str, UsageKey]
    triggers: Mapping[str, Any]

    @classmethod
    def of(cls, svc: Any, triggers: Any = None) -> Observed:
        """Reads an account.

        Args:
            svc: A client with a key of the account.
            triggers: A client of the triggers service, when triggers are described.
        """
        groups = {group.id: group for group in svc.groups.list()}
        wallets = svc.wallets.list()
        return cls(
            actions={item.hashed_cid: item for item in svc.actions.list() if item.hashed_cid},
            wallets=tuple(item.wallet_address for item in wallets),
            made_wallets=tuple(item.wallet_address for item in wallets[1:] if item.name != KEY_WALLET_NAME),
            groups=groups,
            members={number: _members(svc, number) for number in groups},
            keys={item.api_key_hash: item for item in svc.usage_keys.list()},
            triggers={} if triggers is None else {item.id: item for item in triggers.list()},
        )


def _members(svc: Any, number: int) -> Members:
    contents = svc.groups.contents(number)
    hashes = [item.hashed_cid for item in contents.actions]
    return Members(
        actions=frozenset(hashed for hashed in hashes if hashed is not None),
        wallets=frozenset(WILDCARD_ADDRESS if item.is_wildcard else item.wallet_address for item in contents.wallets),
        hidden=None in hashes,
    )
