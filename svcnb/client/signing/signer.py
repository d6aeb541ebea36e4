"""Base class of all signers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from svcnb.checked import Checked


class Signer(Checked, ABC):
    """Wallet that signs typed data.

    A wallet that needs an approval outside Python, for example in a browser, cannot sign while Python waits. Such a
    wallet overrides `sign_typed_data_async`, and its `sign_typed_data` raises `svcnb.SigningError` with a hint to use
    `svcnb.AsyncClient`.
    """

    @property
    @abstractmethod
    def address(self) -> str:
        """Address of the wallet, with checksum. Envelopes contain this address in ``message.address``."""

    @abstractmethod
    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        """Signs typed data (EIP-712).

        Args:
            typed_data: Dictionary with the fields types, primaryType, domain and message.

        Returns:
            Signature in ``0x`` hex. A wallet with a key returns 65 bytes, and a contract wallet returns any number of
            bytes.

        Raises:
            SigningError: The wallet cannot sign, or refuses to sign.
        """

    async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:
        """Signs typed data without blocking; see `sign_typed_data`."""
        return self.sign_typed_data(typed_data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"
