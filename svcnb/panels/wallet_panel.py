"""Panels that can ask a wallet of the browser, and ask a person before a transaction is signed."""

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
    """A panel that `svcnb.BrowserSigner` can ask.

    Attributes:
        wallet: The wallet in the browser: ``address`` and ``name``; empty texts until one is connected.
    """

    wallet = traitlets.Dict(dict(_NO_WALLET)).tag(sync=True)

    @command
    def connected(self, address: str, name: str) -> None:
        """Takes note of the wallet in the browser."""
        self.wallet = {"address": address, "name": name}

    # --- what Python asks ---------------------------------------------------------------------------------------

    async def ask_wallet(self) -> dict[str, str]:
        """Lets the person connect a wallet in the browser, and returns its address and name."""
        if not self.wallet["address"]:
            self.wallet = dict(await self.channel.ask("connect", await self._chain(), within=None))
        return dict(self.wallet)

    async def ask_signature(self, typed_data: dict[str, Any]) -> str:
        """Shows an envelope, lets the wallet in the browser sign it, and returns the signature.

        Raises:
            SigningError: It did not, or too late.
        """
        asked = {"typed_data": typed_data, "window": ISSUED_AT_WINDOW_S, **await self._chain()}
        return str(await self.channel.ask("sign", asked, within=float(ISSUED_AT_WINDOW_S)))

    async def ask_transaction(self, fields: dict[str, Any]) -> str:
        """Shows a transaction decoded, lets the wallet in the browser send it, and returns its hash.

        Raises:
            SigningError: It did not.
        """
        asked = {"fields": fields, "decoded": decoded(fields), **await self._chain()}
        return str(await self.channel.ask("transaction", asked, within=TRANSACTION_WITHIN_S))

    async def ask_confirmation(self, preview: Preview) -> bool:
        """Shows a transaction of a key in this process before it is signed, and returns True.

        Raises:
            SigningError: The person declined, or no panel shows the question.
        """
        await self.channel.ask("confirm", written(preview), within=TRANSACTION_WITHIN_S)
        return True

    async def _chain(self) -> dict[str, Any]:
        """The chain that the wallet must be on, so far as it is known."""
        if self._session is None:
            return {}
        # Not awaited: this may be another event loop than the one that the panels' connections belong to.
        node = self.client.node.chain_config()
        return {"chain": {"id": node.chain_id, "name": node.chain_name, "rpc": node.rpc_url or "", "token": node.token}}


def written(preview: Preview) -> dict[str, Any]:
    """A transaction as the browser shows it before it is signed."""
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
