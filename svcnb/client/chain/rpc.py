"""Flows for JSON-RPC: a single request, or many requests in one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client.calls import Call, Flow, ask
from svcnb.client.errors import ChainError, NotTheApi, ServiceError, TransportError
from svcnb.protocol import json_rpc

MAX_BATCH: Final = 50
"""Maximum number of requests in one message. Many public nodes reject longer messages."""

_OTHER: Final = "pass the address of another node: svcnb.Client(rpc_url=url), or set SVC_RPC_URL."
_REFUSED: Final = f"Correct the request as this error describes, or {_OTHER}"
_FAILED: Final = f"Try again in a few seconds, or {_OTHER}"


class RpcError(ChainError):
    """Error response of the chain node.

    Attributes:
        code: Error code of the node. 3 means that the call reverted.
        data: Additional data. For a revert, the encoded error of the contract.
    """

    def __init__(self, message: str, *, code: int = 0, data: Any = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.data = data

    @property
    def revert_data(self) -> bytes | None:
        """The encoded error of the contract, or None if the node's error is not a revert."""
        found = json_rpc.RpcError(self.code, self.message, self.data).revert_data
        return found if found or self.code == json_rpc.REVERTED or "revert" in self.message.lower() else None


def request(url: str, method: str, params: Sequence[Any]) -> Flow[Any]:
    """Sends one request to a node, and returns the result.

    The client can retry each request, because reads have no effect, and the chain executes a signed transaction only
    once.

    Raises:
        RpcError: The node responded with an error.
        ChainError: The node did not respond, or the response is not JSON-RPC. The message contains only the host of the
            node's address, because the rest can contain a secret.
    """
    answer = yield from _post(url, json_rpc.request(1, method, params))
    result = _result(answer, method)
    if isinstance(result, RpcError):
        raise result
    return result


def batch(url: str, requests: Sequence[tuple[str, Sequence[Any]]]) -> Flow[list[Any]]:
    """Sends many requests to a node, at most 50 in one message.

    Returns:
        One result for each request, in order. The result of a failed request is an `RpcError`.

    Raises:
        ChainError: The node did not respond, or the response is not JSON-RPC.
    """
    results: list[Any] = []
    for begin in range(0, len(requests), MAX_BATCH):
        part = requests[begin : begin + MAX_BATCH]
        body = [json_rpc.request(number, method, params) for number, (method, params) in enumerate(part)]
        answer = yield from _post(url, body)
        if not isinstance(answer, list):
            raise _invalid_response(part[0][0])
        found = {item.get("id"): item for item in answer if isinstance(item, dict)}
        results += [_result(found.get(number), method) for number, (method, _) in enumerate(part)]
    return results


def _post(url: str, body: object) -> Flow[Any]:
    call: Call[Any] = Call(
        "POST", "", lambda answer, _: answer, body, key=False, repeatable=True, timeout_class="read", base=url
    )
    try:
        return (yield from ask(call))
    except NotTheApi:
        raise ChainError(
            f"the response from {urlsplit(url).hostname} is not a response of a chain node",
            hint="Set rpc_url (SVC_RPC_URL) to the address of a JSON-RPC endpoint.",
        ) from None
    # The new errors do not include the original one, because the address of a node often contains a key.
    except ServiceError as error:
        raise ChainError(
            f"the chain node at {urlsplit(url).hostname} returned the status {error.status}", hint=_FAILED
        ) from None
    except TransportError as error:
        if error.closed:
            raise ChainError(error.message, hint=error.hint) from None
        raise ChainError(f"the chain node at {urlsplit(url).hostname} did not respond", hint=_FAILED) from None


def _result(answer: Any, method: str) -> Any:
    try:
        return json_rpc.result(answer)
    except json_rpc.InvalidResponse:
        raise _invalid_response(method) from None
    except json_rpc.RpcError as error:
        failed = error.code == json_rpc.INTERNAL_ERROR
        what = "could not execute" if failed else "rejected"
        message = f"the chain node {what} {method}: {error.message[:500] or 'no reason given'}"
        return RpcError(message, code=error.code, data=error.data, hint=_FAILED if failed else _REFUSED)


def _invalid_response(method: str) -> ChainError:
    return ChainError(
        f"the chain node returned a response to {method} that is not valid JSON-RPC",
        hint=f"Check that the node supports JSON-RPC, or {_OTHER}",
    )
