"""JSON-RPC gateway of the chain. It offers the methods of any public node, and none of a test node's.

Methods that would bypass the journal (impersonation, mining, time, state) are refused. The control plane does those
things.

Source: JSON-RPC 2.0; reference facts 6.10.
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

MAX_BATCH: Final = 100
MAX_BATCH_CHARS: Final = 25_000_000
"""Maximum of characters in the answers to one batch, as in Geth (`BatchResponseMaxSize`)."""
MAX_TRANSACTION_BYTES: Final = 131_072
"""Maximum length of a signed transaction, as in the pools of public nodes (`txMaxSize` of Geth)."""
MAX_DEPTH: Final = 64
"""Maximum nesting of parameters; the node's own limit is 128."""
_PASSED_ON: Final = frozenset(
    {
        "eth_accounts",
        "eth_blockNumber",
        "eth_chainId",
        "eth_createAccessList",
        "eth_feeHistory",
        "eth_gasPrice",
        "eth_getBalance",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getBlockReceipts",
        "eth_getBlockTransactionCountByHash",
        "eth_getBlockTransactionCountByNumber",
        "eth_getCode",
        "eth_getFilterChanges",
        "eth_getFilterLogs",
        "eth_getLogs",
        "eth_getStorageAt",
        "eth_getTransactionByBlockHashAndIndex",
        "eth_getTransactionByBlockNumberAndIndex",
        "eth_getTransactionByHash",
        "eth_getTransactionCount",
        "eth_getTransactionReceipt",
        "eth_maxPriorityFeePerGas",
        "eth_newBlockFilter",
        "eth_newFilter",
        "eth_syncing",
        "eth_uninstallFilter",
        "net_listening",
        "net_version",
        "web3_clientVersion",
        "web3_sha3",
    }
)
_CALLS: Final = frozenset({"eth_call", "eth_estimateGas"})
_AT_ONCE: Final = 8
"""Requests of one batch that the node processes at the same time."""
_SHOWN: Final = 80
_LONG_TRANSACTION: Final = 4_096
"""Size in bytes from which a transaction is read outside of the event loop: each byte may be an item of its own."""
_SEND: Final = "eth_sendRawTransaction"
_SEND_SYNC: Final = "eth_sendRawTransactionSync"
_MOVING_BLOCKS: Final = (None, "latest", "pending", "safe", "finalized")

METHODS: Final = _PASSED_ON | _CALLS | {_SEND, _SEND_SYNC}
"""All supported methods."""


class Gateway:
    """JSON-RPC gateway.

    Args:
        chain: The chain that answers.
    """

    def __init__(self, chain: LocalChain | RemoteChain) -> None:
        self._chain = chain

    async def answer(self, body: Any) -> Any:
        """Answers a request or a batch.

        Args:
            body: The parsed body.

        Returns:
            The answer's body. None when there is nothing to answer, because all requests were notifications.
        """
        if not isinstance(body, list):
            return await self._one(body)
        if not body:
            return _failure(None, RpcError(INVALID_REQUEST, "the batch is empty"))
        if len(body) > MAX_BATCH:
            return _failure(
                None, RpcError(INVALID_REQUEST, f"the batch has {len(body)} requests, at most {MAX_BATCH} are taken")
            )
        if any(isinstance(request, dict) and request.get("method") in {_SEND, _SEND_SYNC} for request in body):
            # One after another, because a later request may read what an earlier one writes.
            answers = await self._all(body, at_once=1)
        else:
            answers = await self._all(body, at_once=_AT_ONCE)
        return [answer for answer in answers if answer is not None] or None

    async def _all(self, body: list[Any], at_once: int) -> list[dict[str, Any] | None]:
        """The answers to a batch. Answers beyond `MAX_BATCH_CHARS` are replaced by errors, as in Geth."""
        turns = asyncio.Semaphore(at_once)
        left = MAX_BATCH_CHARS

        async def one(request: Any) -> dict[str, Any] | None:
            nonlocal left
            async with turns:
                answer = await self._one(request) if left > 0 else None
                if answer is not None:
                    left -= await offload(text_chars, answer) if is_large(answer) else text_chars(answer)
                if left > 0:
                    return answer
                number = request.get("id") if isinstance(request, dict) else None
                return _failure(number, RpcError(RESPONSE_TOO_LARGE, "response too large: ask for less in one batch"))

        return await asyncio.gather(*map(one, body))

    async def _one(self, request: Any) -> dict[str, Any] | None:
        number = request.get("id") if isinstance(request, dict) else None
        try:
            result = await self._result(request)
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

    async def _result(self, request: Any) -> Any:
        method, params = await offload(_read, request) if is_large(request) else _read(request)
        if method in {_SEND, _SEND_SYNC}:
            receipt = await self._submit(_raw(params))
            return receipt if method == _SEND_SYNC else receipt["transactionHash"]
        params = bounded(method, params)
        if method in _CALLS:
            return await self._call(method, params)
        if method in _PASSED_ON:
            return await self._chain.request(method, *params)
        raise _refused(method)

    async def _submit(self, raw: bytes) -> dict[str, Any]:
        if isinstance(self._chain, LocalChain) and len(raw) > _LONG_TRANSACTION:
            return await self._chain.send(await offload(read_transaction, raw))
        return await self._chain.submit(raw)

    async def _call(self, method: str, params: list[Any]) -> Any:
        block = params[1] if len(params) > 1 else None
        # A call with overrides stays unchanged. A call that names an old block needs the time of that block.
        if 1 <= len(params) <= 2 and block in _MOVING_BLOCKS:  # noqa: PLR2004 - call and block
            return await self._chain.request(method, params[0], block or "latest", *self._chain.call_overrides())
        return await self._chain.request(method, *params)


def _read(request: Any) -> tuple[str, list[Any]]:
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        raise RpcError(
            INVALID_REQUEST, 'a request is an object like {"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
        )
    params = request.get("params", [])
    if params is None:
        params = []
    if not isinstance(params, list):
        raise RpcError(INVALID_PARAMS, "params must be an array: Ethereum's methods take theirs by position")
    _check_readable(params)
    return request["method"], params


def _check_readable(value: Any, depth: int = 1) -> None:
    """Refuses values that the node's parser rejects, because the node does not answer such a request at all."""
    if depth > MAX_DEPTH:
        raise RpcError(INVALID_PARAMS, f"params are nested deeper than {MAX_DEPTH}")
    if isinstance(value, float) and not math.isfinite(value):
        raise RpcError(INVALID_PARAMS, f"params hold {value}, which JSON does not have")
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_readable(each, depth + 1)


def _raw(params: list[Any]) -> bytes:
    if not params or not isinstance(params[0], str) or not params[0].startswith("0x"):
        raise RpcError(INVALID_PARAMS, "params must hold one signed transaction as 0x hex")
    size = len(params[0]) // 2 - 1
    if size > MAX_TRANSACTION_BYTES:
        raise RpcError(TRANSACTION_REJECTED, f"oversized data: transaction size {size}, limit {MAX_TRANSACTION_BYTES}")
    try:
        return bytes.fromhex(params[0][2:])
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, "the signed transaction is not hex") from error


def _refused(method: str) -> RpcError:
    if method in {
        "eth_sendTransaction",
        "eth_sign",
        "eth_signTransaction",
        "eth_signTypedData",
        "eth_signTypedData_v4",
    }:
        hint = "this node holds no keys: sign in your wallet or with eth-account, and send with eth_sendRawTransaction"
    elif method.startswith(
        ("anvil_", "evm_", "hardhat_", "debug_", "trace_", "personal_", "admin_", "miner_", "txpool_")
    ):
        hint = "the emulator's control plane has a faucet, a clock and snapshots instead"
    elif method in {"eth_subscribe", "eth_unsubscribe"}:
        hint = "subscriptions need a web socket: poll eth_getLogs, or use eth_newFilter and eth_getFilterChanges"
    else:
        hint = "see the list of methods in the documentation"
    shown = method if len(method) <= _SHOWN else method[: _SHOWN - 1] + "…"
    return RpcError(METHOD_NOT_FOUND, f"the method {shown} does not exist or is not available: {hint}")


def _failure(number: Any, error: RpcError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": error.as_json()}
