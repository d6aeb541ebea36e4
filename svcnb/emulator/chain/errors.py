"""Errors between the emulator and its chain."""

from __future__ import annotations

from typing import Any

from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.protocol.contract import Revert


class ContractRevert(Exception):
    """The contract refused a call; nothing was changed.

    Args:
        name: Name of the custom error, ``Error`` or ``Panic`` for those of the language, empty when unknown.
        args_: Its arguments.
    """

    def __init__(self, name: str, args_: tuple[Any, ...]) -> None:
        super().__init__(name, args_)
        self.name = name
        self.args_ = args_

    def __str__(self) -> str:
        return str(Revert(self.name, self.args_))


class ChainUnavailable(Unavailable):
    """The chain cannot be reached, or has a fault. Nothing was written.

    Args:
        detail: What happened.
    """

    def __init__(self, detail: str) -> None:
        super().__init__("the chain", detail)


class ChainUnusable(Exception):
    """The chain cannot be started with this state or these settings. The text names the next step."""


class Unsupported(StructuredError):
    """The chain in use cannot do this; only the built-in one can.

    Args:
        detail: What is not possible, and why.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(400, f"{detail}.", fix="Use an emulator with its built-in chain.")


class RpcError(Exception):
    """A chain answered a request with a JSON-RPC error.

    Args:
        code: JSON-RPC error code; 3 is a revert.
        message: The chain's message.
        data: Further data. For a revert, its bytes in hex.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} (code {self.code})"

    @property
    def revert_data(self) -> bytes:
        """The bytes of a revert."""
        return bytes.fromhex(self.data[2:]) if isinstance(self.data, str) and self.data.startswith("0x") else b""

    def as_json(self) -> dict[str, Any]:
        """The ``error`` member of a JSON-RPC answer."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        return shown if self.data is None else shown | {"data": self.data}


REVERTED = 3
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESPONSE_TOO_LARGE = -32003  # as in Geth
TRANSACTION_REJECTED = -32003
"""EIP-1474: the transaction was not accepted."""
