"""JSON-RPC gateway of the chain. It supports the common methods of public nodes, but no methods of test nodes.

The gateway rejects methods that bypass the journal (impersonation, mining, time and state). The control plane has
endpoints for balances, the time and snapshots instead.

Source: JSON-RPC 2.0, and docs/service/contract.md#json-rpc.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any, Final

from svcnb.emulator.chain.bounds import bounded
from svcnb.emulator.chain.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LIMIT_EXCEEDED,
    METHOD_NOT_FOUND,
    RESPONSE_TOO_LARGE,
    TRANSACTION_REJECTED,
    ChainUnavailable,
    RpcError,
)
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.emulator.chain.transactions import TransactionInvalid, read as read_transaction
from svcnb.emulator.platform.offload import is_large, offload, text_chars
from svcnb.emulator.platform.store import StoreUnavailable
from svcnb.protocol.json_rpc import READING_METHODS
from svcnb.protocol.limits import (
    MAX_RPC_BATCH,
    MAX_RPC_DEPTH,
    MAX_RPC_LOGS,
    MAX_RPC_RESPONSE_BYTES,
    MAX_TRANSACTION_BYTES,
)

_CALLS: Final = frozenset({"eth_call", "eth_estimateGas"})
_FILTERS: Final = frozenset(
    {"eth_getFilterChanges", "eth_getFilterLogs", "eth_newBlockFilter", "eth_newFilter", "eth_uninstallFilter"}
)
_PASSED_ON: Final = (READING_METHODS - _CALLS) | _FILTERS
_LOGS: Final = frozenset({"eth_getLogs", "eth_getFilterLogs"})
_AT_ONCE: Final = 8
"""Number of requests of one batch that the gateway processes at the same time."""
_SHOWN: Final = 80
_LONG_TRANSACTION: Final = 4_096
"""Maximum length in bytes of a transaction that the event loop decodes itself. A thread decodes longer transactions.

The decoding can be slow, because each byte of a transaction can be a separate RLP item.
"""
_SEND: Final = "eth_sendRawTransaction"
_SEND_SYNC: Final = "eth_sendRawTransactionSync"
_MOVING_BLOCKS: Final = (None, "latest", "pending", "safe", "finalized")

METHODS: Final = _PASSED_ON | _CALLS | {_SEND, _SEND_SYNC}
"""Names of all supported JSON-RPC methods."""


class Gateway:
    """JSON-RPC gateway of one chain.

    Args:
        chain: Chain that processes the requests.
    """

    def __init__(self, chain: LocalChain | RemoteChain) -> None:
        self._chain = chain

    async def answer(self, body: Any) -> Any:
        """Handles a request or a batch.

        Args:
            body: Parsed body of the request.

        Returns:
            Body of the response, or None if all requests were notifications.
        """
        if not isinstance(body, list):
            return await self._one(body)
        if not body:
            return _failure(None, RpcError(INVALID_REQUEST, "the batch is empty: send at least one request"))
        if len(body) > MAX_RPC_BATCH:
            return _failure(
                None,
                RpcError(
                    INVALID_REQUEST,
                    f"the batch has {len(body)} requests, but at most {MAX_RPC_BATCH} are allowed: send fewer requests",
                ),
            )
        if any(isinstance(request, dict) and request.get("method") in {_SEND, _SEND_SYNC} for request in body):
            # Process the requests in sequence, because a later request can read the changes of an earlier one.
            answers = await self._all(body, at_once=1)
        else:
            answers = await self._all(body, at_once=_AT_ONCE)
        return [answer for answer in answers if answer is not None] or None

    async def _all(self, body: list[Any], at_once: int) -> list[dict[str, Any] | None]:
        """Returns the responses to a batch.

        The total length must stay below `MAX_RPC_RESPONSE_BYTES`. The method returns an error instead of the response
        that reaches this limit, and instead of each response after it.
        """
        turns = asyncio.Semaphore(at_once)
        left = MAX_RPC_RESPONSE_BYTES

        async def one(request: Any) -> dict[str, Any] | None:
            nonlocal left
            async with turns:
                answer = await self._one(request, left) if left > 0 else None
                if answer is not None:
                    left -= await offload(text_chars, answer) if is_large(answer) else text_chars(answer)
                if left > 0:
                    return answer
                number = request.get("id") if isinstance(request, dict) else None
                problem = (
                    f"response too large: the responses to the batch have more than {MAX_RPC_RESPONSE_BYTES} bytes. "
                    "Send smaller batches."
                )
                return _failure(number, RpcError(RESPONSE_TOO_LARGE, problem))

        return await asyncio.gather(*map(one, body))

    async def _one(self, request: Any, limit: int = MAX_RPC_RESPONSE_BYTES) -> dict[str, Any] | None:
        number = request.get("id") if isinstance(request, dict) else None
        try:
            result = await self._result(request, limit)
        except RpcError as error:
            answer = _failure(number, error)
        except TransactionInvalid as error:
            answer = _failure(number, RpcError(INVALID_PARAMS, str(error)))
        except (ChainUnavailable, StoreUnavailable) as error:
            answer = _failure(number, RpcError(INTERNAL_ERROR, str(error)))
        else:
            answer = {"jsonrpc": "2.0", "id": number, "result": result}
        is_notification = isinstance(request, dict) and "id" not in request and isinstance(request.get("method"), str)
        return None if is_notification else answer

    async def _result(self, request: Any, limit: int) -> Any:
        method, params = await offload(_read, request) if is_large(request) else _read(request)
        if method in {_SEND, _SEND_SYNC}:
            receipt = await self._submit(_raw(params))
            return receipt if method == _SEND_SYNC else receipt["transactionHash"]
        params = bounded(method, params)
        if method in _CALLS:
            return await self._call(method, params, limit)
        if method in _PASSED_ON:
            result = await self._ask(method, params, limit)
            too_many = method in _LOGS and isinstance(result, list) and len(result) > MAX_RPC_LOGS
            if too_many and not _is_of_one_block(result):
                raise RpcError(LIMIT_EXCEEDED, f"query returned more than {MAX_RPC_LOGS} results: request fewer blocks")
            return result
        raise _refused(method)

    async def _submit(self, raw: bytes) -> dict[str, Any]:
        if isinstance(self._chain, LocalChain) and len(raw) > _LONG_TRANSACTION:
            return await self._chain.send(await offload(read_transaction, raw))
        return await self._chain.submit(raw)

    async def _call(self, method: str, params: list[Any], limit: int) -> Any:
        block = params[1] if len(params) > 1 else None
        # Calls with their own overrides remain unchanged. Calls that read an old block must use that block's time.
        if 1 <= len(params) <= 2 and block in _MOVING_BLOCKS:  # noqa: PLR2004 - call and block
            params = [params[0], block or "latest", *self._chain.call_overrides()]
        return await self._ask(method, params, limit)

    async def _ask(self, method: str, params: list[Any], limit: int) -> Any:
        if isinstance(self._chain, LocalChain):
            return await self._chain.request(method, *params, limit=limit)
        return await self._chain.request(method, *params)  # the connection to an external chain has a separate limit


def _is_of_one_block(logs: list[dict[str, Any]]) -> bool:
    return bool(logs[0]["blockNumber"] == logs[-1]["blockNumber"])  # logs are in order


def _read(request: Any) -> tuple[str, list[Any]]:
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        raise RpcError(
            INVALID_REQUEST,
            "invalid JSON-RPC request: expected an object with the string 'method', for example "
            '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
        )
    params = request.get("params", [])
    if params is None:
        params = []
    if not isinstance(params, list):
        raise RpcError(INVALID_PARAMS, "'params' is not an array: send the parameters of the method as an array")
    _check_readable(params)
    return request["method"], params


def _check_readable(value: Any, depth: int = 1) -> None:
    """Rejects values that the node cannot parse, because the node does not respond to a request with such a value."""
    if depth > MAX_RPC_DEPTH:
        raise RpcError(INVALID_PARAMS, f"'params' has more than {MAX_RPC_DEPTH} levels of nesting: send fewer levels")
    if isinstance(value, float) and not math.isfinite(value):
        raise RpcError(
            INVALID_PARAMS, f"'params' contains the number {value}, which is not finite: send a finite number"
        )
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_readable(each, depth + 1)


def _raw(params: list[Any]) -> bytes:
    if not params or not isinstance(params[0], str) or not params[0].startswith("0x"):
        raise RpcError(
            INVALID_PARAMS,
            "the first parameter is missing or does not start with 0x: send the signed transaction as 0x hex",
        )
    size = len(params[0]) // 2 - 1
    if size > MAX_TRANSACTION_BYTES:
        raise RpcError(
            TRANSACTION_REJECTED, f"oversized data: transaction size {size} bytes, limit {MAX_TRANSACTION_BYTES}"
        )
    try:
        return bytes.fromhex(params[0][2:])
    except ValueError as error:
        raise RpcError(
            INVALID_PARAMS, "the signed transaction is not hex: expected 0x followed by an even number of hex digits"
        ) from error


def _refused(method: str) -> RpcError:
    if method in {
        "eth_sendTransaction",
        "eth_sign",
        "eth_signTransaction",
        "eth_signTypedData",
        "eth_signTypedData_v4",
    }:
        reason = (
            "this node has no keys. Sign in your wallet or with eth-account, and send signed transactions with "
            "eth_sendRawTransaction."
        )
    elif method.startswith(("anvil_", "evm_", "hardhat_")):
        reason = "use the faucet, the clock and the snapshots of the emulator's control plane instead"
    elif method in {"eth_subscribe", "eth_unsubscribe"}:
        reason = "subscriptions are not supported. Poll eth_getLogs, or use eth_newFilter and eth_getFilterChanges."
    else:
        reason = "the page 'Account contract' of the documentation lists the available methods"
    shown = method if len(method) <= _SHOWN else method[: _SHOWN - 1] + "…"
    return RpcError(METHOD_NOT_FOUND, f"the method {shown} does not exist or is not available: {reason}")


def _failure(number: Any, error: RpcError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": error.as_json()}
