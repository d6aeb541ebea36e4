"""JSON-RPC as flows: one request, or many in one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import ChainError, NotTheApi, ServiceError, TransportError

REVERTED: Final = 3
"""Error code of a reverted call, with the contract's reason as data (EIP-1474 leaves it to nodes; all use this)."""

INTERNAL_ERROR: Final = -32603
"""Error code of an internal failure of the node, after which it is unknown what it did (JSON-RPC 2.0)."""

MAX_BATCH: Final = 50
"""Maximum number of requests in one message, since public nodes reject long ones."""


class RpcError(ChainError):
    """The chain's node answered with an error.

    Attributes:
        code: The node's code; 3 for a call that reverted.
        data: Additional data; the contract's reason for a revert.
    """

    def __init__(self, message: str, *, code: int = 0, data: Any = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.data = data

    @property
    def revert_data(self) -> bytes | None:
        """The contract's reason; None if this is not a revert."""
        # Nodes differ: the reason is in data, or one level deeper.
        told = self.data.get("data", self.data.get("result")) if isinstance(self.data, dict) else self.data
        if isinstance(told, str) and told.startswith("0x"):
            try:
                return bytes.fromhex(told[2:])
            except ValueError:
                return None
        return b"" if self.code == REVERTED or "revert" in self.message.lower() else None


def request(url: str, method: str, params: Sequence[Any]) -> Flow[Any]:
    """Sends one request to a node and returns its result.

    Reads and raw transactions may be repeated: sending the same signed transaction twice is still one transaction.

    Raises:
        RpcError: The node answered with an error.
        ChainError: The node did not respond, or not in the form of a node. The message does not contain the address,
            which can contain a secret.
    """
    answer = yield from _post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})
    result = _result(answer, method)
    if isinstance(result, RpcError):
        raise result
    return result


def batch(url: str, requests: Sequence[tuple[str, Sequence[Any]]]) -> Flow[list[Any]]:
    """Sends many requests to a node, at most 50 in one message.

    Returns:
        One result for each request, in order; an `RpcError` for each one that failed.

    Raises:
        ChainError: The node did not respond.
    """
    results: list[Any] = []
    for begin in range(0, len(requests), MAX_BATCH):
        part = requests[begin : begin + MAX_BATCH]
        body = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
            for number, (method, params) in enumerate(part)
        ]
        answer = yield from _post(url, body)
        if not isinstance(answer, list):
            raise _strange(part[0][0])
        found = {item.get("id"): item for item in answer if isinstance(item, dict)}
        results += [_result(found.get(number), method) for number, (method, _) in enumerate(part)]
    return results


def _post(url: str, body: object) -> Flow[Any]:
    def parse(answer: Any, _headers: Answer) -> Any:
        return answer

    call: Call[Any] = Call("POST", "", parse, body, key=False, repeatable=True, patience="read", base=url)
    try:
        return (yield from ask(call))
    except NotTheApi:
        raise ChainError(
            f"what answers at {urlsplit(url).hostname} is no node of a chain",
            hint="Check rpc_url (SVC_RPC_URL): it is the address of a JSON-RPC endpoint.",
        ) from None
    except (TransportError, ServiceError) as error:
        # Without the original error: the address of a node often contains a key.
        what = f"status {error.status}" if isinstance(error, ServiceError) else "no answer"
        raise ChainError(
            f"the chain's node at {urlsplit(url).hostname} cannot be reached ({what})",
            hint="Try again in a moment, or choose another node: rpc_url=..., SVC_RPC_URL. Nothing was sent twice.",
        ) from None


def _result(answer: Any, method: str) -> Any:
    if not isinstance(answer, dict) or not ("result" in answer or "error" in answer):
        raise _strange(method)
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    told = error if isinstance(error, dict) else {"message": str(error)}
    code = told.get("code")
    return RpcError(
        f"the chain's node refused {method}: {str(told.get('message', 'no reason given'))[:500]}",
        code=code if isinstance(code, int) else 0,
        data=told.get("data"),
        hint="",
    )


def _strange(method: str) -> ChainError:
    return ChainError(
        f"the chain's node did not answer {method} as JSON-RPC does",
        hint="Check rpc_url (SVC_RPC_URL), or choose another node.",
    )
