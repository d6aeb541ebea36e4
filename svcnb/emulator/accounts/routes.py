"""All endpoints of accounts and of what they own."""

from __future__ import annotations

from svcnb.emulator.accounts import accounts, actions, chain_secured, config, groups, lists, usage_keys, wallets
from svcnb.emulator.http.endpoint import Endpoint
from svcnb.emulator.settings import Settings


def endpoints(settings: Settings) -> list[Endpoint]:
    """The rows of this area.

    Args:
        settings: Names of paths, and whether conversion costs something.
    """
    return [
        *accounts.endpoints(),
        *usage_keys.endpoints(),
        *wallets.endpoints(),
        *groups.endpoints(),
        *actions.endpoints(),
        *lists.endpoints(),
        *chain_secured.endpoints(charge_convert=settings.charge_convert),
        *config.endpoints(settings.vocabulary.action_limits_path),
    ]
