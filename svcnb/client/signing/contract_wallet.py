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
    """Contract wallet; a signer that its contract accepts signs for it.

    The envelope names the contract, the owner signs it, and the service asks the contract on the chain. The contract
    must be deployed there already: wallets that are not deployed yet (ERC-6492) are not supported.

    Args:
        address: The contract's address.
        signer: Its owner. If the contract needs another form of signature, such as the signatures of several owners in
            a row, derive from this class and override `sign_typed_data`.

    Raises:
        SigningError: The address is invalid, or it is the owner's own address.

    Source: specification 5.6.3 and 5.6.4.
    """

    def __init__(self, address: str, signer: AnySigner) -> None:
        self._signer = as_signer(signer)
        try:
            self._address = checksum_address(address)
        except (MalformedValue, TypeError) as error:
            raise SigningError(str(error)) from None
        if self._address == self._signer.address:
            raise SigningError(
                f"{self._address} is the address of its owner, and a contract has one of its own",
                hint="Pass the deployed contract's address, or use the owner alone.",
            )

    @property
    def address(self) -> str:
        """The contract's address, with checksum."""
        return self._address

    @property
    def signer(self) -> Signer:
        """The owner that signs for the contract."""
        return self._signer

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        """Has the owner sign; see `Signer.sign_typed_data`."""
        return self._signer.sign_typed_data(typed_data)

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Has the owner sign, without blocking."""
        return await self._signer.sign_typed_data_async(typed_data)

    def __repr__(self) -> str:
        return f"ContractWallet({self._address}, {self._signer!r})"
