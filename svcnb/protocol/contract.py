"""Interface of the AccountConfig contract: its functions, events and errors, and their encoding.

The data is in ``account_config.json``, which is made from the compiler's output and read on first use. This module does
not access a chain.

Source: reference facts 6.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from svcnb.protocol.abi import AbiError, decode, encode

INTERFACE: Final = Path(__file__).with_name("account_config.json")
SELECTOR_BYTES: Final = 4

# Reverts of the language itself (Solidity documentation, "Panic via assert and Error via require").
_BUILT_IN: Final = {"0x08c379a0": ("Error", ("string",)), "0x4e487b71": ("Panic", ("uint256",))}


class Function(NamedTuple):
    """One function of the contract.

    Attributes:
        name: Its name, which is unique.
        selector: The first four bytes of its calls.
        inputs: Types of its arguments.
        outputs: Types of what it returns.
        names: Names of its arguments.
        output_names: Names of what it returns; an empty string if there is none.
        is_view: Whether it only reads.
    """

    name: str
    selector: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    names: tuple[str, ...]
    output_names: tuple[str, ...]
    is_view: bool

    def encode_call(self, arguments: Sequence[Any]) -> bytes:
        """Returns the call data.

        Raises:
            AbiError: An argument does not fit its type, or their number is wrong.
        """
        try:
            return self.selector + encode(self.inputs, arguments)
        except AbiError as error:
            raise AbiError(f"{self.name}({', '.join(self.names)}): {error}") from error

    def decode_result(self, data: bytes) -> Any:
        """Returns the result of a call: None, one value, or a tuple of several values.

        Raises:
            AbiError: The data is not a result of this function.
        """
        found = decode(self.outputs, data)
        if not found:
            return None
        return found[0] if len(found) == 1 else found


class Event(NamedTuple):
    """One event of the contract.

    Attributes:
        name: Its name.
        topic: The first topic of its logs.
        fields: Name, type and whether it is a topic, for each field in order.
    """

    name: str
    topic: bytes
    fields: tuple[tuple[str, str, bool], ...]

    def decode_log(self, topics: Sequence[bytes], data: bytes) -> dict[str, Any]:
        """Returns the fields of a log, in the order of the declaration.

        Args:
            topics: All topics of the log, the event's own first.
            data: Its data.

        Raises:
            AbiError: The log does not belong to this event.
        """
        indexed = [kind for _, kind, is_topic in self.fields if is_topic]
        if len(topics) != len(indexed) + 1:
            raise AbiError(f"{self.name} has {len(indexed) + 1} topics, the log {len(topics)}")
        from_topics = iter([decode((kind,), topic)[0] for kind, topic in zip(indexed, topics[1:], strict=True)])
        from_data = iter(decode([kind for _, kind, is_topic in self.fields if not is_topic], data))
        return {name: next(from_topics if is_topic else from_data) for name, _, is_topic in self.fields}


class Revert(NamedTuple):
    """Reason why a call was refused.

    Attributes:
        name: Name of the custom error, ``Error`` for a message, or ``Panic`` for a code of the language. Empty when the
            contract gave no reason or an unknown one.
        args: Its arguments; the raw data as one argument when it is unknown.
        names: Names of the arguments; empty when unknown.
    """

    name: str
    args: tuple[Any, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.name:
            return f"unknown reason 0x{self.args[0].hex()}" if self.args else "no reason given"
        return f"{self.name}({', '.join(str(argument) for argument in self.args)})"


def abi() -> list[dict[str, Any]]:
    """Returns the whole ABI as the compiler writes it, for other libraries. Do not change it."""
    found: list[dict[str, Any]] = _interface()["abi"]
    return found


@cache
def functions() -> dict[str, Function]:
    """Returns all functions by name."""
    selectors = _interface()["functions"]
    return {
        entry["name"]: Function(
            name=entry["name"],
            selector=bytes.fromhex(selectors[signature(entry)][2:]),
            inputs=_types(entry["inputs"]),
            outputs=_types(entry["outputs"]),
            names=_names(entry["inputs"]),
            output_names=_names(entry["outputs"]),
            is_view=entry["stateMutability"] in {"view", "pure"},
        )
        for entry in abi()
        if entry["type"] == "function"
    }


def function(name: str) -> Function:
    """Returns one function.

    Raises:
        KeyError: The contract has none of this name; the message suggests similar names.
    """
    found = functions().get(name)
    if found is None:
        from difflib import get_close_matches

        alike = get_close_matches(name, functions(), 3)
        raise KeyError(
            f"AccountConfig has no function {name!r}" + (f"; did you mean {', '.join(alike)}?" if alike else "")
        )
    return found


@cache
def events() -> dict[bytes, Event]:
    """Returns all events by their first topic."""
    topics = _interface()["events"]
    found = [
        Event(
            name=entry["name"],
            topic=bytes.fromhex(topics[signature(entry)][2:]),
            fields=tuple((part["name"], _type(part), part["indexed"]) for part in entry["inputs"]),
        )
        for entry in abi()
        if entry["type"] == "event"
    ]
    return {event.topic: event for event in found}


def decode_revert(data: bytes) -> Revert:
    """Reads the data of a revert.

    Args:
        data: The data from the chain, selector first; may be empty.

    Returns:
        The error; an unknown one keeps its data.
    """
    known = _errors().get(data[:SELECTOR_BYTES])
    if known is not None:
        name, types, names = known
        try:
            return Revert(name, decode(types, data[SELECTOR_BYTES:]), names)
        except AbiError:
            pass
    return Revert("", (data,) if data else ())


def signature(entry: dict[str, Any]) -> str:
    """Returns name and types of an ABI entry, from which its selector or topic is computed."""
    return f"{entry['name']}({','.join(_types(entry['inputs']))})"


@cache
def _errors() -> dict[bytes, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    selectors = _interface()["errors"]
    found = {
        bytes.fromhex(selectors[signature(entry)][2:]): (
            entry["name"],
            _types(entry["inputs"]),
            _names(entry["inputs"]),
        )
        for entry in abi()
        if entry["type"] == "error"
    }
    for selector, (name, types) in _BUILT_IN.items():
        found[bytes.fromhex(selector[2:])] = (name, types, ("reason",))
    return found


@cache
def _interface() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(INTERFACE.read_text("utf-8"))
    return content


def _types(parts: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(_type(part) for part in parts)


def _type(part: dict[str, Any]) -> str:
    kind: str = part["type"]
    if kind.startswith("tuple"):
        return f"({','.join(_types(part['components']))}){kind.removeprefix('tuple')}"
    return kind


def _names(parts: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(part["name"] for part in parts)
