"""Endpoints that a wallet's signature authorises, including the conversion to ChainSecured.

Source: docs/service/signatures.md#follow-up-transactions.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.access.signatures import EnvelopeVerifier
from svcnb.emulator.accounts.contract_calls import WRITE_ERRORS, ContractCalls, require_master
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.http.routing import API, Call, Endpoint, Guard
from svcnb.emulator.keys.custody import Custody
from svcnb.protocol.signature import address_of_secret
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.wire.accounts import ConvertAccountRequest
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.usage_keys import AddUsageApiKeyWithSignatureRequest, SignedUsageApiKeyResponse
from svcnb.protocol.wire.wallets import CreateWalletWithSignatureRequest, SignedWalletResponse

_TAG: Final = "ChainSecured"


async def _nothing(_call: Call) -> None:
    """Accepts every call. The guard only documents a status, because the handler itself verifies the signature."""


_CONTRACT_ASKED: Final = Guard(_nothing, frozenset({503}))
"""Guard that adds 503 to the OpenAPI description, because only the chain can verify a contract wallet's signature.

Source: docs/service/signatures.md#verification.
"""


@dataclass(frozen=True, eq=False, repr=False)
class ChainSecured:
    """Endpoints that a wallet's signature authorises.

    Attributes:
        contract: Client of the contract.
        custody: Custody that derives keys.
        envelopes: Verifier of the signatures.
        guards: Guards of the conversion.
        convert_cents: Price of the conversion in cents.
    """

    contract: ContractCalls
    custody: Custody
    envelopes: EnvelopeVerifier
    guards: tuple[Guard, ...]
    convert_cents: int

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that a signature authorises."""
        signed: Any = {"answers_for": (_CONTRACT_ASKED,), "errors": frozenset({400}), "tag": _TAG}
        return [
            Endpoint(
                "POST",
                f"{API}/create_wallet_with_signature",
                self.create_wallet_with_signature,
                request=CreateWalletWithSignatureRequest,
                response=SignedWalletResponse,
                **signed,
            ),
            Endpoint(
                "POST",
                f"{API}/add_usage_api_key_with_signature",
                self.add_usage_api_key_with_signature,
                request=AddUsageApiKeyWithSignatureRequest,
                response=SignedUsageApiKeyResponse,
                **signed,
            ),
            Endpoint(
                "POST",
                f"{API}/convert_to_chain_secured_account",
                self.convert_to_chain_secured_account,
                request=ConvertAccountRequest,
                response=Success,
                guards=self.guards,
                price_cents=self.convert_cents,
                errors=WRITE_ERRORS,
                tag=_TAG,
            ),
        ]

    async def create_wallet_with_signature(
        self, _call: Call, body: CreateWalletWithSignatureRequest
    ) -> SignedWalletResponse:
        """Creates a wallet for the owner of the wallet that signed the request.

        The new wallet does not belong to an account until the admin wallet of a ChainSecured account registers the new
        wallet on the chain (registerWalletDerivation).
        """
        await self.envelopes.verify(body.typed_data, body.signature, Flow.CREATE_WALLET)
        _, address, path = self._new_wallet()
        return SignedWalletResponse(wallet_address=address, derivation_path=hex(path))

    async def add_usage_api_key_with_signature(
        self, _call: Call, body: AddUsageApiKeyWithSignatureRequest
    ) -> SignedUsageApiKeyResponse:
        """Creates a usage key for the owner of the wallet that signed the request.

        The service returns the key only in this response. The key has no permissions until the admin wallet of a
        ChainSecured account registers the key on the chain (setUsageApiKey).
        """
        await self.envelopes.verify(body.typed_data, body.signature, Flow.ADD_USAGE_API_KEY)
        secret, address, path = self._new_wallet()
        return SignedUsageApiKeyResponse(
            usage_api_key=base64.b64encode(secret).decode(), wallet_address=address, derivation_path=hex(path)
        )

    async def convert_to_chain_secured_account(self, call: Call, body: ConvertAccountRequest) -> Success:
        """Converts an account to ChainSecured mode, in which an admin wallet owns it. The conversion is irreversible.

        The call requires the account key and the new admin wallet's signature. The account keeps its groups, wallets,
        keys and credit. After the conversion, the account key cannot change the account.
        """
        signer = await self.envelopes.verify(body.typed_data, body.signature, Flow.CONVERT_ACCOUNT)
        if signer != body.new_admin_wallet_address:
            raise EndpointFailure(
                400,
                (
                    f"the envelope is signed by {signer}, but new_admin_wallet_address is "
                    f"{body.new_admin_wallet_address}: sign with the new admin wallet"
                ),
            )
        require_master(call.caller)
        await self.contract.write("convertToChainSecuredAccount", call.caller.master_hash, signer)
        return Success()

    def _new_wallet(self) -> tuple[bytes, str, int]:
        path = self.custody.new_path()
        secret = self.custody.wallet_secret(path)
        return secret, address_of_secret(secret), path
