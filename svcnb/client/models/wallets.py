"""Model of a wallet. The API and the contract call a wallet a PKP."""

from __future__ import annotations

from svcnb.client.models.base import Model


class Wallet(Model):
    """Wallet whose private key the service derives."""

    wallet_address: str
    """Address of the wallet in lowercase. Groups and actions identify the wallet by this address."""

    id: str = ""
    """Position of the wallet in the account, counted from 0. The master wallet has the position 0. Some services return
    0 for every wallet."""

    name: str = ""
    """Name in listings. Calls refer to the wallet by its address, not by its name."""

    description: str = ""
    """Purpose of the wallet. Empty if the wallet has no description."""

    @property
    def address(self) -> str:
        """Address of the wallet, the same value as ``wallet_address``."""
        return self.wallet_address

    @property
    def is_wildcard(self) -> bool:
        """Whether this entry is the wildcard, which means every wallet of the account."""
        return not self.wallet_address.removeprefix("0x").strip("0")
