"""Base class of panels that send requests to a browser wallet, or request a confirmation before a signature."""

from __future__ import annotations

from typing import Any, Final

import traitlets

from svcnb.client.models.chain import Preview, ether
from svcnb.panels.base import Panel, command
from svcnb.panels.transactions import argument_text, decoded
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S

TRANSACTION_WITHIN_S: Final = 600.0

_NO_WALLET: Final[dict[str, str]] = {"address": "", "name": ""}


class WalletPanel(Panel):
    """Base class of panels that `svcnb.BrowserSigner` can use.

    Attributes:
        wallet: ``address`` and ``name`` of the browser wallet. Without a connected wallet, both strings are empty.
    """

    wallet = traitlets.Dict(dict(_NO_WALLET)).tag(sync=True)

    @command
    def connected(self, address: str, name: str) -> None:
        """Stores the address and the name of the browser wallet that the user connected."""
        self.wallet = {"address": address, "name": name}

    # --- requests from Python -----------------------------------------------------------------------------------

    async def ask_wallet(self) -> dict[str, str]:
        """Asks the user to connect a browser wallet if none is connected, and returns the wallet's address and name."""
        if not self.wallet["address"]:
            self.wallet = dict(await self.channel.ask("connect", await self._chain(), within=None))
        return dict(self.wallet)

    async def ask_signature(self, typed_data: dict[str, Any]) -> str:
        """Shows an envelope, asks the browser wallet for a signature, and returns the signature.

        Raises:
            SigningError: The user or the wallet declined, no panel shows the request, or the wallet did not sign while
                the envelope was valid.
        """
        asked = {"typed_data": typed_data, "window": ISSUED_AT_WINDOW_S, **await self._chain()}
        return str(await self.channel.ask("sign", asked, within=float(ISSUED_AT_WINDOW_S)))

    async def ask_transaction(self, fields: dict[str, Any]) -> str:
        """Shows a decoded transaction, asks the browser wallet to send it, and returns the hash of the transaction.

        Raises:
            SigningError: The user or the wallet declined, no panel shows the request, or the wallet did not send the
                transaction within 10 minutes.
        """
        asked = {"fields": fields, "decoded": decoded(fields), **await self._chain()}
        return str(await self.channel.ask("transaction", asked, within=TRANSACTION_WITHIN_S))

    async def ask_confirmation(self, preview: Preview) -> bool:
        """Shows a transaction before a key in this process signs it, and returns True if the user confirms.

        Raises:
            SigningError: The user declined, no panel shows the question, or the user did not respond within 10 minutes.
        """
        await self.channel.ask("confirm", written(preview), within=TRANSACTION_WITHIN_S)
        return True

    async def _chain(self) -> dict[str, Any]:
        """Returns the chain that the wallet must use. Without a client, the dictionary is empty."""
        if self._session is None:
            return {}
        # Do not await the call here, because the panels' connections can belong to another event loop.
        node = self.client.node.chain_config()
        return {"chain": {"id": node.chain_id, "name": node.chain_name, "rpc": node.rpc_url or "", "token": node.token}}


def written(preview: Preview) -> dict[str, Any]:
    """Returns the values of a transaction that a panel shows before the signature."""
    return {
        "what": preview.what,
        "function": preview.function,
        "arguments": [[name, argument_text(name, value)] for name, value in preview.arguments.items()],
        "sender": preview.sender,
        "through": preview.through or "",
        "gas": preview.gas,
        "cost": ether(preview.cost_wei),
        "max_cost": ether(preview.max_cost_wei),
    }
