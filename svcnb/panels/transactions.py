"""Plain-language description of a transaction to the service's contract, AccountConfig, for the person who signs it."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.chain import abi
from svcnb.client.chain.names import Names, sentence
from svcnb.client.models.chain import ether
from svcnb.protocol.contract import AbiError, Function, functions
from svcnb.protocol.hashes import function_selector

EXECUTE: Final = function_selector("execute(address,uint256,bytes)")
_SELECTOR: Final = 4


def decoded(fields: dict[str, Any]) -> dict[str, Any]:
    """Describes the effect of a transaction, using only its call data.

    Args:
        fields: Fields of ``eth_sendTransaction``: to, data, value, gas and fees in hex.

    Returns:
        A dictionary. ``what`` is a description that starts with a verb, for example ``create group 'a'``.
        ``arguments`` contains the name and the text of each argument.
        ``through`` is the contract wallet that sends the call, or an empty string. ``known`` is False if the call is
        not a function of AccountConfig. The other keys are ``function``, ``to``, ``value`` and ``max_cost``.
    """
    data = bytes.fromhex(str(fields.get("data", "0x")).removeprefix("0x"))
    to, through = str(fields.get("to", "")), ""
    if data.startswith(EXECUTE):
        try:
            inner_to, _, inner = abi.decode(("address", "uint256", "bytes"), data[_SELECTOR:])
        except AbiError:
            pass
        else:
            to, through, data = inner_to, to, inner
    what, arguments = _call(data)
    gas = int(str(fields.get("gas", "0x0")), 16)
    price = int(str(fields.get("maxFeePerGas") or fields.get("gasPrice") or "0x0"), 16)
    named = {} if what is None else dict(zip(what.names, arguments, strict=True))
    return {
        "known": what is not None,
        "what": "make an unknown call" if what is None else sentence(what.name, named, Names()),
        "function": "" if what is None else what.name,
        "arguments": [[name, argument_text(name, value)] for name, value in named.items()],
        "to": to,
        "through": through,
        "value": ether(int(str(fields.get("value", "0x0")), 16)),
        "max_cost": ether(gas * price),
    }


def _call(data: bytes) -> tuple[Function | None, tuple[Any, ...]]:
    for what in functions().values():
        if data[:_SELECTOR] == what.selector:
            try:
                return what, tuple(abi.decode(what.inputs, data[_SELECTOR:]))
            except AbiError:
                break
    return None, ()


def argument_text(name: str, value: Any) -> str:
    """Returns an argument of a contract function as readable text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(argument_text(name, item) for item in value) or "none"
    if isinstance(value, int) and name.lower().endswith(("hash", "hashes", "action")):
        return f"0x{value:064x}"
    return str(value)
