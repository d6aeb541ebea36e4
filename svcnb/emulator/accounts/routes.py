"""All endpoints of what accounts own; those that make one, and tell about the service, are loaded before these."""

from __future__ import annotations

from svcnb.emulator.accounts import actions, chain_secured, groups, lists, usage_keys, wallets
from svcnb.emulator.http.endpoint import Endpoint
from svcnb.emulator.settings import Settings


def endpoints(settings: Settings) -> list[Endpoint]:
    """The rows of this area.

    Args:
        settings: Whether conversion costs something.
    """
    return [
        *usage_keys.endpoints(),
        *wallets.endpoints(),
        *groups.endpoints(),
        *actions.endpoints(),
        *lists.endpoints(),
        *chain_secured.endpoints(charge_convert=settings.charge_convert),
    ]
