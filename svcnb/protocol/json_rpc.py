"""Messages of JSON-RPC 2.0, the protocol of chain nodes.

Source: JSON-RPC 2.0 Specification; EIP-1474 for the error codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

REVERTED: Final = 3
"""Error code of a reverted call. EIP-1474 defines no code for this error, but all nodes use 3.

The data of the error is the revert data of the contract.
"""

INTERNAL_ERROR: Final = -32603
"""Error code of an internal failure of the node. The node may have executed the request, completely or in part."""


RESPONSE_TOO_LARGE: Final = -32003
"""Error code of a response that exceeds a limit, as in Geth."""

READING_METHODS: Final = frozenset(
    {
        "eth_accounts",
        "eth_blockNumber",
        "eth_call",
        "eth_chainId",
        "eth_createAccessList",
        "eth_estimateGas",
        "eth_feeHistory",
        "eth_gasPrice",
        "eth_getBalance",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getBlockReceipts",
        "eth_getBlockTransactionCountByHash",
        "eth_getBlockTransactionCountByNumber",
        "eth_getCode",
        "eth_getLogs",
        "eth_getStorageAt",
        "eth_getTransactionByBlockHashAndIndex",
        "eth_getTransactionByBlockNumberAndIndex",
        "eth_getTransactionByHash",
        "eth_getTransactionCount",
        "eth_getTransactionReceipt",
        "eth_maxPriorityFeePerGas",
        "eth_syncing",
        "net_listening",
        "net_version",
        "web3_clientVersion",
        "web3_sha3",
    }
)
"""Read-only methods of nodes, from EIP-1474 and Geth.

The set has no filter methods, because each filter changes the state of the node."""


class RpcError(Exception):
    """Error that a node returned for a request.

    Args:
        code: JSON-RPC error code. 3 is a revert.
        message: Message of the node.
        data: Additional data. For a revert, the revert data of the contract in hex.
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
        """Revert data of the contract. Empty if the error contains no data in hex."""
        # Depending on the node, the reason is in `data` or one level deeper.
        found = self.data.get("data", self.data.get("result")) if isinstance(self.data, dict) else self.data
        try:
            return bytes.fromhex(found[2:]) if isinstance(found, str) and found.startswith("0x") else b""
        except ValueError:
            return b""

    def as_json(self) -> dict[str, Any]:
        """Returns this error as the ``error`` member of a JSON-RPC response."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        return shown if self.data is None else shown | {"data": self.data}


def too_large(limit: int) -> RpcError:
    """Returns the error for a response that exceeds the size limit.

    Args:
        limit: Maximum number of bytes.
    """
    return RpcError(RESPONSE_TOO_LARGE, f"the response is larger than {limit} bytes: request less data")


class InvalidResponse(ValueError):
    """Error for a JSON value that is not a JSON-RPC response."""


def request(number: int, method: str, params: Sequence[Any]) -> dict[str, Any]:
    """Returns a JSON-RPC request as a dictionary.

    Args:
        number: Id of the request, which the response repeats.
        method: Name of the method.
        params: Arguments of the method.
    """
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def result(answer: Any) -> Any:
    """Returns the ``result`` member of a JSON-RPC response.

    Args:
        answer: Parsed JSON of the response.

    Raises:
        RpcError: The response contains an error.
        InvalidResponse: The value is not a JSON-RPC response.
    """
    if not isinstance(answer, dict) or not ("result" in answer or "error" in answer):
        raise InvalidResponse("the response is not valid JSON-RPC: expected an object with the member result or error")
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    if not isinstance(error, dict):
        raise RpcError(INTERNAL_ERROR, str(error))
    code = error.get("code")
    raise RpcError(code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data"))
