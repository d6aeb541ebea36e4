"""Models for the creation and conversion of accounts."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.wire.base import Request, Response
from svcnb.protocol.wire.signatures import SignedRequest
from svcnb.protocol.wire.values import AdminAddress


class NewAccountRequest(Request):
    """Body of ``new_account``, which creates an account in API mode."""

    account_name: str = Field(description="Name of the account, which is public on chain.")
    account_description: str | None = Field("", description="Description of the account, which is public on chain.")
    email: str | None = Field(
        None, description="E-mail address, which the service forwards to the payment processor. Empty: no address."
    )


class NewAccountResponse(Response):
    """Response of ``new_account``. No other response contains the account key."""

    api_key: str = Field(
        description="Account key, base64 of 32 bytes. Store the key, because the service does not return it again.",
        repr=False,
    )
    wallet_address: str = Field(description="Address of the Account Master Wallet, in lower case.")


class ConvertAccountRequest(SignedRequest):
    """Body of ``convert_to_chain_secured_account``. The address in the signed data becomes the admin wallet."""

    new_admin_wallet_address: AdminAddress = Field(description="Address of the wallet that will own the account.")
