"""Model of a wallet (PKP)."""

from __future__ import annotations

from svcnb.client.models.base import Model


class Wallet(Model):
    """Wallet whose key the service stores."""

    wallet_address: str
    """Address of the wallet in lowercase. Groups and actions identify the wallet by this address."""

    id: str = ""
    """Position in the account. ``0`` is the master wallet, but some services return 0 for every wallet."""

    name: str = ""
    description: str = ""

    @property
    def address(self) -> str:
        """Same value as ``wallet_address``."""
        return self.wallet_address

    @property
    def is_wildcard(self) -> bool:
        """True for the entry that means every wallet of the account."""
        return not self.wallet_address.removeprefix("0x").strip("0")
