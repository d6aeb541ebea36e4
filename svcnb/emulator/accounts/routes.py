"""All endpoints of accounts and of what they own."""

from __future__ import annotations

from svcnb.emulator.accounts import accounts, actions, chain_secured, config, groups, lists, usage_keys, wallets
from svcnb.emulator.http.endpoint import Endpoint
from svcnb.protocol.vocabulary import Vocabulary


def endpoints(vocabulary: Vocabulary) -> list[Endpoint]:
    """The rows of this area.

    Args:
        vocabulary: Names one of the paths.
    """
    return [
        *accounts.endpoints(),
        *usage_keys.endpoints(),
        *wallets.endpoints(),
        *groups.endpoints(),
        *actions.endpoints(),
        *lists.endpoints(),
        *chain_secured.endpoints(),
        *config.endpoints(vocabulary.action_limits_path),
    ]
