"""Account set-up: create or open an account, see its key once, watch its credit."""

from __future__ import annotations

from typing import Any

import traitlets

from svcnb.client import Client
from svcnb.panels.base import Panel, command


class AccountPanel(Panel, bundle="account"):
    """Creates or opens an account; afterwards `client` is a client of it, with its key.

    The key is shown once and never part of the widget's state, so no saved notebook holds it.

    Args:
        client: The service. If it has a key, its account is open at once.

    Attributes:
        state: What the panel shows: ``address`` and ``balance``; empty texts until an account is open.
    """

    title = "Account"
    state = traitlets.Dict({"address": "", "balance": ""}).tag(sync=True)

    def __init__(self, client: Client) -> None:
        super().__init__(client)

    def about(self) -> dict[str, object]:
        """Whether an account is open."""
        return {"open": bool(self.state["address"])}

    @command
    async def create(self, name: str) -> dict[str, str]:
        """Creates an account in API mode and answers its key, this once."""
        account = await self.service.accounts.create(name)
        self.client = self.client.with_key(account)
        self.record(f"account = svc.accounts.create({name!r})\nsvc = svc.with_key(account)  # store account.api_key")
        await self._read(account.wallet_address)
        return {"api_key": account.api_key.reveal()}

    @command
    async def open_with_key(self, api_key: str) -> None:
        """Opens the account that a key belongs to."""
        self.client = self.client.with_key(api_key)
        self.record('import os\nsvc = svc.with_key(os.environ["SVC_API_KEY"])')
        await self.refresh()

    @command
    async def refresh(self) -> None:
        """Reads the credit again."""
        address: Any = self.state["address"]
        if not address:
            wallets = await self.service.wallets.list()
            address = wallets[0].wallet_address if wallets else ""
        await self._read(address)

    async def _read(self, address: str) -> None:
        balance = await self.service.billing.balance()
        self.state = {"address": address, "balance": balance.balance_display}
