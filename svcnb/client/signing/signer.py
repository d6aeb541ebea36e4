"""What every wallet that can sign has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from svcnb.checked import Checked


class Signer(Checked, ABC):
    """A wallet that signs typed data.

    A wallet whose owner is asked elsewhere, such as one in a browser, cannot answer while Python waits: it overrides
    `sign_typed_data_async` and lets `sign_typed_data` raise `svcnb.SigningError` with that advice.
    """

    @property
    @abstractmethod
    def address(self) -> str:
        """The wallet's address, with checksum: the one that stands in ``message.address``."""

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
