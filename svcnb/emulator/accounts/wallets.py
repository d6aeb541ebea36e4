"""Endpoints for wallets whose keys the service derives."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.accounts.contract_calls import ContractCalls
from svcnb.emulator.accounts.managed import ManagedRows
from svcnb.emulator.http.routing import API, Call, Endpoint
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.secp import address_of
from svcnb.protocol.wire.wallets import CreateWalletResponse

_TAG: Final = "Wallets"
NAME: Final = "Wallet"


class Wallets:
    """Endpoints for wallets whose keys the service derives.

    Args:
        contract: Client of the contract.
        custody: Custody that derives keys.
        managed: Factory for the endpoints.
    """

    def __init__(self, contract: ContractCalls, custody: Custody, managed: ManagedRows) -> None:
        self._contract = contract
        self._custody = custody
        self._managed = managed

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints for wallets."""
        errors = frozenset({400, 403})
        link = f'<{API}/create_wallet>; rel="successor-version"'
        made = ("create_wallet", self.create_wallet, None, CreateWalletResponse)
        return [
            self._managed.row("POST", *made, errors=errors, tag=_TAG),
            self._managed.row(
                "GET", *made, errors=errors, tag=_TAG, headers={"Deprecation": "true", "Link": link}, deprecated=True
            ),
        ]

    async def create_wallet(self, call: Call, _given: None) -> CreateWalletResponse:
        """Creates a wallet in the account. A usage key needs the permission can_create_pkps."""
        path = self._custody.new_path()
        address = address_of(self._custody.wallet_secret(path))
        await self._contract.write("registerWalletDerivation", call.caller.key_hash, address, path, NAME, NAME)
        return CreateWalletResponse(wallet_address=address)
