"""Models for wallets, which the interface also calls PKPs."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.wire.base import Response
from svcnb.protocol.wire.signatures import SignedRequest


class CreateWalletResponse(Response):
    """Response of ``create_wallet``, with the address of the new wallet."""

    wallet_address: str = Field(description="Address of the new wallet, in lower case.")


class CreateWalletWithSignatureRequest(SignedRequest):
    """Body of ``create_wallet_with_signature``. The primaryType of the typed data is CreateWallet."""


class SignedWalletResponse(Response):
    """Response of ``create_wallet_with_signature``.

    The wallet does not belong to an account until a transaction registers the wallet on chain.
    """

    wallet_address: str = Field(description="Address of the new wallet, in lower case.")
    derivation_path: str = Field(description="Derivation path of the wallet, as 0x hex without leading zeros.")


class WalletItem(Response):
    """Entry of ``list_wallets`` and ``list_wallets_in_group``. A group can also permit unregistered wallets."""

    id: str = Field(
        description="Position in the order of registration, as a decimal string. 0 is the Account Master Wallet."
    )
    name: str
    description: str
    wallet_address: str = Field(
        description="Address of the wallet, in lower case. The zero address permits every wallet."
    )
