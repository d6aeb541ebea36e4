"""Bounds for requests to the node. The node itself has none: a request may run for hours, and nothing can stop it.

Nodes of the public network have such bounds as well. The numbers are Geth's.

Source: reference facts 6.10; `rpc.gascap` and the fee history's limits of go-ethereum.
"""

from __future__ import annotations

import re
from typing import Any, Final

from svcnb.emulator.chain.errors import INVALID_PARAMS, RpcError

CALLS: Final = frozenset({"eth_call", "eth_estimateGas", "eth_createAccessList"})
FEE_HISTORY: Final = "eth_feeHistory"
MAX_CALL_GAS: Final = 50_000_000
"""Gas of one call. A higher value is lowered silently, as Geth does: wallets send enormous numbers for "enough"."""
MAX_FEE_BLOCKS: Final = 1024
"""Blocks of one eth_feeHistory. An enormous number crashes the node."""
MAX_PERCENTILES: Final = 100
"""Percentiles of one eth_feeHistory. Each is between 0 and 100. With an enormous one the node never finishes."""
_QUANTITY: Final = re.compile("0[xX][0-9a-fA-F]{1,64}")
_BLOCK_OVERRIDES: Final = 3
"""Index of the parameter that can override the block of a call, with another gas limit."""


def bounded(method: str, params: list[Any]) -> list[Any]:
    """Parameters that may be sent to the node.

    Args:
        method: The method of the request.
        params: Its parameters.

    Returns:
        The same, or with less gas.

    Raises:
        RpcError: A number is out of bounds, or is not a number.
    """
    if method in CALLS:
        return _with_bounded_gas(params)
    if method == FEE_HISTORY:
        _check_fee_history(params)
    return params


def _with_bounded_gas(params: list[Any]) -> list[Any]:
    if not params or not isinstance(params[0], dict):
        return params  # the node returns an error that names what it expects
    call = params[0]
    gas = _number("gas", call.get("gas"))
    if gas is None and len(params) <= _BLOCK_OVERRIDES:
        return params  # the block's own limit applies
    return [call | {"gas": hex(min(MAX_CALL_GAS if gas is None else gas, MAX_CALL_GAS))}, *params[1:]]


def _check_fee_history(params: list[Any]) -> None:
    count = _number("a count of blocks", params[0] if params else None)
    if count is not None and count > MAX_FEE_BLOCKS:
        raise RpcError(INVALID_PARAMS, f"{FEE_HISTORY} of {params[0]} blocks: at most {MAX_FEE_BLOCKS}")
    percentiles = params[2] if len(params) > 2 else None  # noqa: PLR2004 - count, block, percentiles
    if not isinstance(percentiles, list):
        return
    if len(percentiles) > MAX_PERCENTILES:
        raise RpcError(INVALID_PARAMS, f"{FEE_HISTORY} with {len(percentiles)} percentiles: at most {MAX_PERCENTILES}")
    for each in percentiles:
        if isinstance(each, int | float) and not 0 <= each <= 100:  # noqa: PLR2004 - per cent
            raise RpcError(INVALID_PARAMS, f"{FEE_HISTORY} with the percentile {each}: from 0 to 100")


def _number(name: str, value: Any) -> int | None:
    """Reads a number as the node would. The node accepts more spellings than the standard."""
    if value is None or isinstance(value, int):
        return value
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise RpcError(INVALID_PARAMS, f"{name} must be a number as 0x hex")
    return int(value, 16)
