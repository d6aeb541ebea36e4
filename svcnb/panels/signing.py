"""Signing panel, which explains, signs, checks and sends envelopes.

An envelope is typed data (EIP-712) that a wallet signs. The service accepts four kinds of envelopes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.signing import LocalSigner, SignedEnvelope, as_signer, recover, typed_data_digest
from svcnb.panels.base import command
from svcnb.panels.wallet_panel import WalletPanel
from svcnb.panels.wire import field
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S
from svcnb.protocol.typed_data import Flow, flow_of

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner

ENDPOINTS: Final = {
    Flow.CREATE_WALLET: "POST /create_wallet_with_signature",
    Flow.CONVERT_ACCOUNT: "POST /convert_to_chain_secured_account",
    Flow.ADD_USAGE_API_KEY: "POST /add_usage_api_key_with_signature",
    Flow.BILLING_AUTH: "GET /billing/balance, with X-Wallet-Auth",
}


class SigningPanel(WalletPanel, bundle="signing"):
    """Panel that shows the fields of an envelope, requests and checks a signature, and sends the envelope.

    The user can sign with a key of this process, an entered key, a browser wallet (EIP-1193, discovered with EIP-6963),
    or a contract wallet. The panel uses an entered key once and does not store the key. For a contract wallet, one of
    the other wallets signs. With `svcnb.BrowserSigner`, the panel also signs requests from Python, including on-chain
    writes.

    Args:
        client: Client of the service. Without a client, the panel only signs requests from Python.
        signer: Wallet in this process that signs envelopes. None means that the user enters a key or connects a wallet.

    Attributes:
        wallet: ``address`` and ``name`` of the browser wallet. Without a connected wallet, both strings are empty.
        flow: Name of the flow of the displayed envelope, for example ``CreateWallet``.

    Example:
        ``panel = svcnb.panels.SigningPanel(svc)``, and in a later cell, ``mine = await
        svc.to_async().chain_secured.create(svcnb.BrowserSigner(panel), "treasury")``.
    """

    title = "Signing"
    flow = traitlets.Unicode(Flow.CREATE_WALLET.value).tag(sync=True)

    def __init__(self, client: Client | None = None, *, signer: AnySigner | None = None) -> None:
        self._signer = None if signer is None else as_signer(signer)
        super().__init__(client)

    def about(self) -> dict[str, object]:
        """Returns the name of the flow of the displayed envelope."""
        return {"flow": self.flow}

    @traitlets.validate("flow")
    def _known(self, proposal: dict[str, Any]) -> str:
        try:
            return flow_of(proposal["value"]).value
        except MalformedValue as error:
            raise InvalidArgument(error.message, hint=error.hint) from None

    # --- requests from the browser ------------------------------------------------------------------------------

    @command
    async def setting(self) -> dict[str, Any]:
        """Returns the address of the signer, and the values for envelopes: chain, domain, endpoints, time and window.

        ``now`` is the server's current time in Unix seconds, and ``window`` is the validity of a signature in seconds.
        Without a client, the result contains only the address.
        """
        if self._session is None:
            return {"client": False, "signer": self._signer.address if self._signer else ""}
        node = await self.service.node.chain_config()
        return {
            "client": True,
            "signer": self._signer.address if self._signer else "",
            "chain": {"id": node.chain_id, "name": node.chain_name, "rpc": node.rpc_url or "", "token": node.token},
            "domain": self.client.vocabulary.domain_name,
            "now": self.service.now(),
            "window": ISSUED_AT_WINDOW_S,
            "endpoints": {flow.value: endpoint for flow, endpoint in ENDPOINTS.items()},
            "has_key": self.client.config.api_key is not None,
        }

    @command
    def address_of(self, key: str) -> dict[str, str]:
        """Returns the address of an entered private key. The panel does not store the key."""
        with field("key", SigningError):
            return {"address": LocalSigner.from_key(key).address}

    @command
    async def sign_here(self, typed_data: dict[str, Any], key: str = "") -> dict[str, str]:
        """Signs typed data with the entered key, or else with the panel's signer, and returns the signature."""
        with field("key", SigningError):
            signer = LocalSigner.from_key(key) if key else self._signer
        if signer is None:
            raise SigningError(
                "the signing key is missing",
                hint="Enter a private key, or pass a signer: "
                "svcnb.panels.SigningPanel(svc, signer=svcnb.LocalSigner.from_key(key)).",
            )
        self._record_signing(typed_data, "svcnb.LocalSigner.from_key(os.environ['SVC_WALLET_KEY'])", signer.address)
        return {"signature": signer.sign_typed_data(typed_data)}

    @command
    async def signed_in_browser(self, typed_data: dict[str, Any]) -> None:
        """Records Python code that requests the same signature from the browser wallet."""
        self._record_signing(typed_data, "svcnb.BrowserSigner(panel)", self.wallet["address"])

    @command
    async def check(self, typed_data: dict[str, Any], signature: str, flow: str) -> dict[str, Any]:
        """Returns the digest and the signer of an envelope, and the result of the check against each rule.

        The signer is empty if it cannot be recovered from the signature. The check uses the rules in
        docs/service/signatures.md#rules-of-a-signature.
        """
        verdicts = await self.service.chain_secured.check(typed_data, signature, flow=flow)
        try:
            recovered = recover(typed_data, signature)
        except SigningError:
            recovered = ""
        return {
            "digest": "0x" + typed_data_digest(typed_data).hex(),
            "recovered": recovered,
            "rules": [verdict.model_dump() for verdict in verdicts],
        }

    @command
    async def send_envelope(
        self, typed_data: dict[str, Any], signature: str, *, confirm: bool = False
    ) -> dict[str, str]:
        """Sends the envelope to its endpoint, and returns the response.

        The panel shows a secret in the response only once. Without ``confirm``, the method does not send an envelope
        whose effect is irreversible, but raises an error that describes the effect.
        """
        sent = await self.service.chain_secured.send(SignedEnvelope(typed_data, signature), confirm=confirm)
        self.record("svc.chain_secured.send(signed" + (", confirm=True)" if confirm else ")"))
        return {
            "flow": sent.flow,
            "wallet_address": sent.wallet_address,
            "derivation_path": sent.derivation_path,
            "usage_api_key": sent.usage_api_key.reveal() if sent.usage_api_key else "",
            "balance": sent.balance_display,
        }

    def _record_signing(self, typed_data: dict[str, Any], signer: str, address: str) -> None:
        claimed = str(typed_data["message"]["address"])
        if claimed.lower() != address.lower():
            signer = f"svcnb.ContractWallet({claimed!r}, {signer})"
        flow = str(typed_data["primaryType"])
        browser = "BrowserSigner" in signer
        sign = "await svc.to_async().chain_secured.sign" if browser else "svc.chain_secured.sign"
        before = (
            "panel = svcnb.panels.SigningPanel(svc)  # display the panel and connect the wallet"
            if browser
            else "import os"
        )
        self.record(f"{before}\n\nowner = {signer}\nsigned = {sign}(owner, {flow!r})")
