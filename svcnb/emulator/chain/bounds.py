"""Limits for requests to the node, because the node does not enforce limits.

Without a limit, a request can run for hours, and the emulator cannot cancel it. Nodes of public networks have similar
limits. The values are the same as in Geth.

Source: docs/service/contract.md#json-rpc, and go-ethereum (`rpc.gascap` and the limits of the fee history).
"""

from __future__ import annotations

import re
from typing import Any, Final

from svcnb.emulator.chain.errors import INVALID_PARAMS, RpcError
from svcnb.protocol.limits import MAX_CALL_GAS, MAX_FEE_HISTORY_BLOCKS, MAX_FEE_HISTORY_PERCENTILES

CALLS: Final = frozenset({"eth_call", "eth_estimateGas", "eth_createAccessList"})
FEE_HISTORY: Final = "eth_feeHistory"
_QUANTITY: Final = re.compile("0[xX][0-9a-fA-F]{1,64}")
_BLOCK_OVERRIDES: Final = 3
"""Index of the call parameter that can override properties of the block, such as its gas limit."""


def bounded(method: str, params: list[Any]) -> list[Any]:
    """Returns parameters that are safe to send to the node.

    Args:
        method: Name of the JSON-RPC method.
        params: Parameters of the method, as the caller sent them.

    Returns:
        The parameters. The gas of a call is at most `MAX_CALL_GAS`. A call without a gas limit and without block
        overrides is unchanged, because the gas limit of the block then applies.

    Raises:
        RpcError: The gas of a call or the block count of eth_feeHistory is not a number. A call of eth_feeHistory
            requests too many blocks or percentiles, or an invalid percentile.
    """
    if method in CALLS:
        return _with_bounded_gas(params)
    if method == FEE_HISTORY:
        _check_fee_history(params)
    return params


def _with_bounded_gas(params: list[Any]) -> list[Any]:
    if not params or not isinstance(params[0], dict):
        return params  # the node returns an error that describes the expected parameters
    call = params[0]
    gas = _number("gas", call.get("gas"))
    if gas is None and len(params) <= _BLOCK_OVERRIDES:
        return params  # the block's own limit applies
    return [call | {"gas": hex(min(MAX_CALL_GAS if gas is None else gas, MAX_CALL_GAS))}, *params[1:]]


def _check_fee_history(params: list[Any]) -> None:
    count = _number("the block count", params[0] if params else None)
    if count is not None and count > MAX_FEE_HISTORY_BLOCKS:
        raise RpcError(
            INVALID_PARAMS,
            f"{FEE_HISTORY} requests {count} blocks, but at most {MAX_FEE_HISTORY_BLOCKS} are allowed: request fewer "
            "blocks",
        )
    percentiles = params[2] if len(params) > 2 else None  # noqa: PLR2004 - count, block, percentiles
    if not isinstance(percentiles, list):
        return
    if len(percentiles) > MAX_FEE_HISTORY_PERCENTILES:
        raise RpcError(
            INVALID_PARAMS,
            f"{FEE_HISTORY} requests {len(percentiles)} percentiles, but at most {MAX_FEE_HISTORY_PERCENTILES} are "
            "allowed: request fewer percentiles",
        )
    for each in percentiles:
        if isinstance(each, int | float) and not 0 <= each <= 100:  # noqa: PLR2004 - per cent
            raise RpcError(
                INVALID_PARAMS, f"invalid percentile {each} in {FEE_HISTORY}: expected a number from 0 to 100"
            )


def _number(name: str, value: Any) -> int | None:
    """Returns an optional parameter of a request as a number. None means that the request omits the parameter.

    Ethereum's JSON-RPC specification permits only hex strings. The node also accepts integers, so this function does
    too.

    Raises:
        RpcError: The value is neither an integer nor ``0x`` followed by 1 to 64 hex digits.
    """
    if value is None or isinstance(value, int):
        return value
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise RpcError(
            INVALID_PARAMS, f"{name} is {str(value)[:80]!r}: expected 0x and 1 to 64 hex digits, for example 0x10"
        )
    return int(value, 16)
