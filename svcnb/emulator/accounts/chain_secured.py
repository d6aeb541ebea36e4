"""The endpoints that a wallet opens with its signature, and the way to ChainSecured (specification 4.4)."""

from __future__ import annotations

import base64
from typing import Final

from svcnb.emulator.access.guards import FUNDED, KEY
from svcnb.emulator.access.signatures import verify_envelope
from svcnb.emulator.accounts.relay import WRITE_ERRORS, require_master, write
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.http.endpoint import API, Call, Endpoint, Guard
from svcnb.emulator.keys.secp import address_of
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS
from svcnb.protocol.typed_data import Flow
from svcnb.protocol.wire.accounts import ConvertAccountRequest
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.signatures import SignedRequest
from svcnb.protocol.wire.usage_keys import AddUsageApiKeyWithSignatureRequest, SignedUsageApiKeyResponse
from svcnb.protocol.wire.wallets import CreateWalletWithSignatureRequest, SignedWalletResponse

_TAG: Final = "ChainSecured"


async def _nothing(_call: Call) -> None:
    """The handler asks, when it knows that a contract wallet signed."""


_CONTRACT_ASKED: Final = Guard(_nothing, frozenset({503}))
"""The chain can be asked whether a contract wallet takes a signature for its own (specification 5.6.3)."""


def endpoints(*, charge_convert: bool) -> list[Endpoint]:
    """The rows of this noun.

    Args:
        charge_convert: Whether conversion costs a management call.
    """
    return [
        Endpoint(
            "POST",
            f"{API}/create_wallet_with_signature",
            create_wallet_with_signature,
            request=CreateWalletWithSignatureRequest,
            response=SignedWalletResponse,
            answers_for=(_CONTRACT_ASKED,),
            errors=frozenset({400}),
            tag=_TAG,
        ),
        Endpoint(
            "POST",
            f"{API}/add_usage_api_key_with_signature",
            add_usage_api_key_with_signature,
            request=AddUsageApiKeyWithSignatureRequest,
            response=SignedUsageApiKeyResponse,
            answers_for=(_CONTRACT_ASKED,),
            errors=frozenset({400}),
            tag=_TAG,
        ),
        Endpoint(
            "POST",
            f"{API}/convert_to_chain_secured_account",
            convert_to_chain_secured_account,
            request=ConvertAccountRequest,
            response=Success,
            guards=(KEY, FUNDED) if charge_convert else (KEY,),
            price_cents=MANAGEMENT_COST_CENTS if charge_convert else 0,
            errors=WRITE_ERRORS,
            tag=_TAG,
        ),
    ]


async def create_wallet_with_signature(call: Call, body: CreateWalletWithSignatureRequest) -> SignedWalletResponse:
    """Creates a wallet for whoever signs.

    It belongs to no account until its owner registers it on chain (registerWalletDerivation).
    """
    await _verify(call, body, Flow.CREATE_WALLET)
    _, address, path = _new_wallet(call)
    return SignedWalletResponse(wallet_address=address, derivation_path=hex(path))


async def add_usage_api_key_with_signature(
    call: Call, body: AddUsageApiKeyWithSignatureRequest
) -> SignedUsageApiKeyResponse:
    """Makes a usage key for whoever signs, and shows it this once.

    It opens nothing until the account's admin wallet sets it on chain (setUsageApiKey).
    """
    await _verify(call, body, Flow.ADD_USAGE_API_KEY)
    secret, address, path = _new_wallet(call)
    return SignedUsageApiKeyResponse(
        usage_api_key=base64.b64encode(secret).decode(), wallet_address=address, derivation_path=hex(path)
    )


async def convert_to_chain_secured_account(call: Call, body: ConvertAccountRequest) -> Success:
    """Hands the account to a wallet, for good.

    Needs the account key and the new admin wallet's signature. Groups, wallets, keys and credit stay; the account key
    can no longer write.
    """
    signer = await _verify(call, body, Flow.CONVERT_ACCOUNT)
    if signer != body.new_admin_wallet_address:
        raise EndpointFailure(
            400,
            f"The envelope is signed by {signer}, and new_admin_wallet_address is {body.new_admin_wallet_address}: "
            "the new admin wallet itself must sign",
        )
    require_master(call.caller)
    await write(call, "convertToChainSecuredAccount", call.caller.master_hash, signer)
    return Success()


async def _verify(call: Call, body: SignedRequest, flow: Flow) -> str:
    service = call.service
    return await verify_envelope(
        body.typed_data,
        body.signature,
        flow=flow,
        chain_id=service.chain.chain_id,
        clock=service.clock,
        vocabulary=service.vocabulary,
        is_valid_contract_signature=service.is_valid_contract_signature,
    )


def _new_wallet(call: Call) -> tuple[bytes, str, int]:
    custody = call.service.custody
    path = custody.new_path()
    secret = custody.wallet_secret(path)
    return secret, address_of(secret), path
