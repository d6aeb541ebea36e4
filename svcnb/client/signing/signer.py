"""Base class of all wallets that can sign."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from svcnb.checked import Checked


class Signer(Checked, ABC):
    """A wallet that signs typed data.

    A wallet that asks its owner elsewhere, for example in a browser, cannot answer while Python waits. Such a wallet
    overrides `sign_typed_data_async`. Its `sign_typed_data` raises `svcnb.SigningError` with that advice.
    """

    @property
    @abstractmethod
    def address(self) -> str:
        """The wallet's address, with checksum: the value of ``message.address``."""

    @abstractmethod
    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        """Signs typed data (EIP-712).

        Args:
            typed_data: Members types, primaryType, domain and message.

        Returns:
            ``0x`` hex; 65 bytes from a wallet with a key, any length from a contract wallet.

        Raises:
            SigningError: The wallet cannot or will not sign.
        """

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Signs typed data without blocking; see `sign_typed_data`."""
        return self.sign_typed_data(typed_data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"
