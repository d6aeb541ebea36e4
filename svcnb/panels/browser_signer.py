"""A wallet in the browser as a signer."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import SigningError
from svcnb.client.signing import Signer
from svcnb.panels.wallet_panel import WalletPanel
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import checksum_address


class BrowserSigner(Signer):
    """A wallet in the browser (EIP-1193, found by EIP-6963), which signs through a panel.

    The panel is a `SigningPanel`, an `AccountPanel` or a `Workbench`.

    Its owner is asked, so flows must be awaited: `svcnb.AsyncClient`, or ``svc.to_async()``. Every envelope and every
    transaction is shown in words before the wallet is asked.

    Args:
        panel: A panel that is displayed; without one, a panel is displayed when something is to be signed.

    Example:
        In one cell ``panel = svcnb.panels.SigningPanel(svc)``, displayed; in the next
        ``owner = await svcnb.BrowserSigner(panel).connect()`` and
        ``mine = await svc.to_async().chain_secured.create(owner, "treasury")``.
    """

    def __init__(self, panel: WalletPanel | None = None) -> None:
        self._panel = panel

    @property
    def panel(self) -> WalletPanel:
        """The panel that asks; displayed now if there was none."""
        if self._panel is None:
            from IPython.display import display

            from svcnb.panels.signing import SigningPanel

            self._panel = SigningPanel()
            display(self._panel)  # type: ignore[no-untyped-call]  # IPython does not say
        return self._panel

    @property
    def address(self) -> str:
        """The wallet's address, with checksum.

        Raises:
            SigningError: No wallet is connected yet.
        """
        address = self._panel.wallet["address"] if self._panel is not None else ""
        if not address:
            raise SigningError(
                "no wallet is connected in the browser",
                hint="Connect one in the panel, or wait for it here: await signer.connect()",
            )
        try:
            return checksum_address(address)
        except MalformedValue as error:
            raise SigningError(f"the wallet in the browser says: {error.message}") from None

    async def connect(self) -> BrowserSigner:
        """Waits until a wallet is connected in the panel, and returns this signer.

        Raises:
            SigningError: Nobody sees the panel, or the person declined.
        """
        await self.panel.ask_wallet()
        return self

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:  # noqa: ARG002 - the signer's signature
        """Refuses: while Python waits the browser is not heard."""
        raise SigningError(
            "a wallet in the browser signs only what is awaited",
            hint="Use svcnb.AsyncClient, or svc.to_async(): await asvc.chain_secured.sign(owner, 'CreateWallet').",
        )

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Shows the envelope in the panel and lets the wallet sign it; see `Signer.sign_typed_data`."""
        return await self.panel.ask_signature(typed_data)

    async def send_transaction_async(self, fields: dict[str, Any]) -> str:
        """Shows a transaction decoded in the panel and lets the wallet sign and send it.

        Args:
            fields: As for ``eth_sendTransaction``, numbers in hex.

        Returns:
            The transaction's hash.

        Raises:
            SigningError: The person or the wallet declined, or the wallet is on another chain and stays there.
        """
        return await self.panel.ask_transaction(fields)

    def __repr__(self) -> str:
        connected = self._panel is not None and self._panel.wallet["address"]
        return f"BrowserSigner({self.address if connected else 'not connected'})"
