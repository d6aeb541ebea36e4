"""Endpoints for wallets whose keys the service derives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svcnb.emulator.accounts.managed import ManagedWrites
from svcnb.emulator.http.routing import API, Call, Endpoint
from svcnb.emulator.keys.custody import Custody
from svcnb.protocol.signature import address_of_secret
from svcnb.protocol.wire.wallets import CreateWalletResponse

NAME: Final = "Wallet"


@dataclass(frozen=True, eq=False, repr=False)
class Wallets(ManagedWrites):
    """Endpoints for wallets whose keys the service derives.

    Attributes:
        custody: Custody that derives keys.
    """

    tag = "Wallets"
    custody: Custody

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that create a wallet: with POST, and with GET, which is deprecated."""
        errors = frozenset({400, 403})
        link = f'<{API}/create_wallet>; rel="successor-version"'
        made = ("create_wallet", self.create_wallet, None, CreateWalletResponse)
        headers = {"Deprecation": "true", "Link": link}
        return [
            self.row(*made, errors=errors),
            self.row(*made, method="GET", errors=errors, headers=headers, deprecated=True),
        ]

    async def create_wallet(self, call: Call, _given: None) -> CreateWalletResponse:
        """Creates a wallet in the account. A usage key needs the permission can_create_pkps."""
        path = self.custody.new_path()
        address = address_of_secret(self.custody.wallet_secret(path))
        await self.contract.write("registerWalletDerivation", call.caller.key_hash, address, path, NAME, NAME)
        return CreateWalletResponse(wallet_address=address)
