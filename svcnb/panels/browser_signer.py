"""Signer that uses a browser wallet."""

from __future__ import annotations

from typing import Any

from svcnb.checked import checked_first
from svcnb.client.errors import SigningError
from svcnb.client.signing import Signer
from svcnb.panels.wallet_panel import WalletPanel
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import checksum_address


class BrowserSigner(Signer):
    """Signer that requests signatures from a browser wallet (EIP-1193, discovered with EIP-6963) through a panel.

    The panel is a `SigningPanel`, an `AccountPanel` or a `Workbench`.

    The user must confirm each signature, so the caller must await all methods that sign. Use `svcnb.AsyncClient`, or
    ``svc.to_async()``. The panel describes every envelope and every transaction in plain language before it sends the
    request to the wallet.

    Args:
        panel: A displayed panel. With None, the first request to the wallet displays a new panel.

    Example:
        Display ``panel = svcnb.panels.SigningPanel(svc)`` in one cell. In the next cell, run ``owner = await
        svcnb.BrowserSigner(panel).connect()`` and ``mine = await svc.to_async().chain_secured.create(owner,
        "treasury")``.
    """

    @checked_first
    def __init__(self, panel: WalletPanel | None = None) -> None:
        self._panel = panel

    @property
    def panel(self) -> WalletPanel:
        """The panel that sends requests to the wallet. If none exists, the property displays a new panel."""
        if self._panel is None:
            from IPython.display import display

            from svcnb.panels.signing import SigningPanel

            self._panel = SigningPanel()
            display(self._panel)  # type: ignore[no-untyped-call]  # IPython has no types for it
        return self._panel

    def uses(self, panel: WalletPanel) -> bool:
        """Returns whether this signer sends its requests to a panel."""
        return self._panel is panel

    @property
    def address(self) -> str:
        """Address of the wallet, with its checksum.

        Raises:
            SigningError: No wallet is connected yet.
        """
        address = self._panel.wallet["address"] if self._panel is not None else ""
        if not address:
            raise SigningError(
                "no wallet is connected in the browser",
                hint="Connect a wallet in the panel, or wait for the connection: await signer.connect().",
            )
        try:
            return checksum_address(address)
        except MalformedValue as error:
            raise SigningError(
                f"the browser wallet has an unusable address: {error.message}",
                hint="Connect the wallet again in the panel.",
            ) from None

    async def connect(self) -> BrowserSigner:
        """Waits until the user connects a wallet in the panel, and returns this signer.

        Raises:
            SigningError: The panel is not displayed, or the user declined.
        """
        await self.panel.ask_wallet()
        return self

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:  # noqa: ARG002 - the parameters of the base class
        """Raises an error, because the kernel cannot receive the browser's response while Python waits."""
        raise SigningError(
            "a synchronous client cannot sign with a browser wallet",
            hint="Use svcnb.AsyncClient or svc.to_async(), and await the call: await asvc.chain_secured.sign(owner, "
            "'CreateWallet').",
        )

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Shows the envelope in the panel, and requests the wallet's signature; see `Signer.sign_typed_data`.

        Raises:
            SigningError: The user or the wallet declined, no panel shows the request, or the user did not respond
                while the envelope was valid.
        """
        return await self.panel.ask_signature(typed_data)

    async def send_transaction_async(self, fields: dict[str, Any]) -> str:
        """Shows a decoded transaction in the panel, and asks the wallet to sign and send it.

        Args:
            fields: Fields of ``eth_sendTransaction``, with numbers in hex.

        Returns:
            The transaction's hash.

        Raises:
            SigningError: The user or the wallet declined, or did not respond within 10 minutes. Other causes are that
                no panel shows the request, or that the wallet did not switch to the correct chain.
        """
        return await self.panel.ask_transaction(fields)

    def __repr__(self) -> str:
        connected = self._panel is not None and self._panel.wallet["address"]
        return f"BrowserSigner({self.address if connected else 'not connected'})"
