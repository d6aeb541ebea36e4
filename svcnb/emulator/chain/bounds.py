"""What one request may ask of the node: it does whatever it is asked, for hours if need be, and nothing can stop it.

A node of the public network has such bounds as well; the numbers are Geth's.

Source: reference facts 6.10; `rpc.gascap` and the fee history's limits of go-ethereum.
"""

from __future__ import annotations

import re
from typing import Any, Final

from svcnb.emulator.chain.errors import INVALID_PARAMS, RpcError

CALLS: Final = frozenset({"eth_call", "eth_estimateGas", "eth_createAccessList"})
FEE_HISTORY: Final = "eth_feeHistory"
MAX_CALL_GAS: Final = 50_000_000
"""Gas of one call. More is lowered to it without a word, as Geth does: wallets name enormous numbers for "enough"."""
MAX_FEE_BLOCKS: Final = 1024
"""Blocks of one eth_feeHistory; an enormous number ends the node."""
MAX_PERCENTILES: Final = 100
"""Percentiles of one eth_feeHistory. Each is between 0 and 100; for an enormous one the node counts for ever."""
_QUANTITY: Final = re.compile("0[xX][0-9a-fA-F]{1,64}")
_BLOCK_OVERRIDES: Final = 3
"""Place of the parameter that can give a call another block, with another limit of gas."""


def bounded(method: str, params: list[Any]) -> list[Any]:
    """The parameters that the node may see.

    Args:
        method: What is asked.
        params: With which parameters.

    Returns:
        The same, or with less gas.

    Raises:
        RpcError: A number is beyond its bounds, or is none.
    """
    if method in CALLS:
        return _with_bounded_gas(params)
    if method == FEE_HISTORY:
        _check_fee_history(params)
    return params


def _with_bounded_gas(params: list[Any]) -> list[Any]:
    if not params or not isinstance(params[0], dict):
        return params  # the node says what it wants instead
    call = params[0]
    gas = _number("gas", call.get("gas"))
    if gas is None and len(params) <= _BLOCK_OVERRIDES:
        return params  # the block's own limit holds
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
    """A number however the node would read it; it reads more spellings than there should be."""
    if value is None or isinstance(value, int):
        return value
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise RpcError(INVALID_PARAMS, f"{name} must be a number as 0x hex")
    return int(value, 16)
