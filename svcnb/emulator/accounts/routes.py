"""Endpoints for the resources of accounts.

The server imports this module in a thread, after the start. The endpoints that create an account are available earlier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.emulator.accounts.actions import Actions
from svcnb.emulator.accounts.chain_secured import ChainSecured
from svcnb.emulator.accounts.groups import Groups
from svcnb.emulator.accounts.lists import Lists
from svcnb.emulator.accounts.usage_keys import UsageKeys
from svcnb.emulator.accounts.wallets import Wallets
from svcnb.emulator.http.routing import Endpoint
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS

if TYPE_CHECKING:
    from svcnb.emulator.access.guards import Access
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.access.signatures import EnvelopeVerifier
    from svcnb.emulator.accounts.contract_calls import ContractCalls
    from svcnb.emulator.accounts.creation_order import CreationOrder
    from svcnb.emulator.billing.guards import BillingGuards
    from svcnb.emulator.keys.custody import Custody
    from svcnb.emulator.platform.clock import Clock
    from svcnb.emulator.settings import Settings


def endpoints(
    *,
    settings: Settings,
    contract: ContractCalls,
    creation_order: CreationOrder,
    custody: Custody,
    clock: Clock,
    permissions: PermissionCache,
    access: Access,
    billing: BillingGuards,
    envelopes: EnvelopeVerifier,
) -> list[Endpoint]:
    """Returns the endpoints for usage keys, wallets, groups, actions, lists and ChainSecured accounts."""
    managed = ((access.key, billing.funded), contract)
    charged = settings.charge_convert
    return [
        *UsageKeys(*managed, custody, clock, permissions).endpoints(),
        *Wallets(*managed, custody).endpoints(),
        *Groups(*managed).endpoints(),
        *Actions(*managed).endpoints(),
        *Lists(contract, creation_order, access, settings).endpoints(),
        *ChainSecured(
            contract=contract,
            custody=custody,
            envelopes=envelopes,
            guards=(access.key, billing.funded) if charged else (access.key,),
            convert_cents=MANAGEMENT_COST_CENTS if charged else 0,
        ).endpoints(),
    ]
