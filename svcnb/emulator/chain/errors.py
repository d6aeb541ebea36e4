"""Errors of contract calls and of the chain's start, and JSON-RPC error codes."""

from __future__ import annotations

from typing import Any

from svcnb.emulator.errors import ChainUnavailable as ChainUnavailable, StructuredError  # noqa: PLC0414
from svcnb.protocol.contract import Revert
from svcnb.protocol.json_rpc import (
    INTERNAL_ERROR as INTERNAL_ERROR,  # noqa: PLC0414
    RESPONSE_TOO_LARGE as RESPONSE_TOO_LARGE,  # noqa: PLC0414
    REVERTED as REVERTED,  # noqa: PLC0414
    RpcError as RpcError,  # noqa: PLC0414
)


class ContractRevert(Exception):
    """Error for a call that the contract reverted. The contract's state is unchanged.

    Args:
        name: Name of the custom error, ``Error`` or ``Panic`` for Solidity's built-in errors, or empty if unknown.
        args_: Arguments of the error.
    """

    def __init__(self, name: str, args_: tuple[Any, ...]) -> None:
        super().__init__(name, args_)
        self.name = name
        self.args_ = args_

    def __str__(self) -> str:
        return str(Revert(self.name, self.args_))


class ChainUnusable(Exception):
    """Error for a chain that cannot start with this state or these settings. The message contains the fix."""


class Unsupported(StructuredError):
    """Error for an operation that an emulator with an external chain does not support.

    Args:
        detail: The unsupported operation and the reason.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(400, detail, fix="Use the emulator's own chain: start the emulator without --chain-rpc.")


REPLAY_FIX = "Start with the version of svcnb that wrote the state, or restore the state from a copy."
"""Fix for a stored chain that the node cannot rebuild."""
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
LIMIT_EXCEEDED = -32005
"""JSON-RPC error code for a request that exceeds a limit (EIP-1474)."""
TRANSACTION_REJECTED = -32003
"""JSON-RPC error code for a transaction that the chain rejected (EIP-1474)."""
