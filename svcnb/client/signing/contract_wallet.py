"""Wallets that are contracts and check signatures themselves (ERC-1271)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svcnb.client.errors import SigningError
from svcnb.client.signing.eth import as_signer
from svcnb.client.signing.signer import Signer
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import checksum_address

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner


class ContractWallet(Signer):
    """Contract wallet, whose owner signs on behalf of the contract.

    The envelope contains the contract's address, the owner signs the envelope, and the service calls the contract to
    check the signature. The contract must already be deployed. The client does not support wallets without a deployed
    contract (ERC-6492).

    Args:
        address: Address of the contract.
        signer: Owner of the contract. If the contract needs another signature format, for example the signatures of
            several owners, derive from this class and override `sign_typed_data`.

    Raises:
        SigningError: The address is invalid, or is the address of the owner.

    Source: docs/service/signatures.md#verification.
    """

    def __init__(self, address: str, signer: AnySigner) -> None:
        self._signer = as_signer(signer)
        try:
            self._address = checksum_address(address)
        except (MalformedValue, TypeError) as error:
            raise SigningError(
                getattr(error, "message", str(error)),
                hint="Pass the address of the deployed contract: 0x and 40 hex digits.",
            ) from None
        if self._address == self._signer.address:
            raise SigningError(
                f"{self._address} is the address of the owner, but a contract has its own address",
                hint="Pass the deployed contract's address, or use the owner's signer without ContractWallet.",
            )

    @property
    def address(self) -> str:
        """Address of the contract, with checksum."""
        return self._address

    @property
    def signer(self) -> Signer:
        """The owner, who signs for the contract."""
        return self._signer

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        """Returns the owner's signature; see `Signer.sign_typed_data`."""
        return self._signer.sign_typed_data(typed_data)

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Returns the owner's signature, without blocking; see `Signer.sign_typed_data`."""
        return await self._signer.sign_typed_data_async(typed_data)

    def __repr__(self) -> str:
        return f"ContractWallet({self._address}, {self._signer!r})"
