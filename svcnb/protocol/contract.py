"""Interface of the AccountConfig contract: functions, events, errors, and their encoding.

The data is in ``account_config.json``, which `svcnb.emulator.chain.compile` writes. The module reads the file on first
use. This module does not access a chain. The methods take the encoder as an argument. The client uses eth-abi, and the
emulator uses its own encoder, which imports faster.

Source: docs/service/contract.md#account-contract.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from svcnb.errors import InvalidArgument

INTERFACE: Final = Path(__file__).with_name("account_config.json")
SELECTOR_BYTES: Final = 4

# Reverts that Solidity itself generates (Solidity documentation, "Panic via assert and Error via require").
_BUILT_IN: Final = {"0x08c379a0": ("Error", ("string",)), "0x4e487b71": ("Panic", ("uint256",))}


class AbiError(InvalidArgument):
    """Error for a value that does not match its ABI type, or for bytes that are not an encoding of the type."""

    default_hint = "Compare the values with the types in the ABI of the contract."


class Codec(Protocol):
    """Interface of an encoder of the contract ABI: `svcnb.client.chain.abi` or `svcnb.emulator.platform.abi`."""

    def encode(self, types: Sequence[str], values: Sequence[Any]) -> bytes:
        """Encodes one value for each type. Values and types have the same order.

        Raises:
            AbiError: A value does not match its type.
        """
        ...

    def decode(self, types: Sequence[str], data: bytes) -> tuple[Any, ...]:
        """Decodes bytes to one value for each type. Addresses become lowercase text, and arrays become tuples.

        Raises:
            AbiError: The bytes are not an encoding of these types.
        """
        ...


class Function(NamedTuple):
    """One function of the contract.

    Attributes:
        name: Unique name of the function.
        selector: The first four bytes of the function's call data.
        inputs: Types of the arguments.
        outputs: Types of the return values.
        names: Names of the arguments.
    """

    name: str
    selector: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    names: tuple[str, ...]

    def encode_call(self, codec: Codec, arguments: Sequence[Any]) -> bytes:
        """Returns the call data of this function: its selector, and the encoded arguments.

        Raises:
            AbiError: An argument does not match its type, or the number of arguments is wrong.
        """
        try:
            return self.selector + codec.encode(self.inputs, arguments)
        except AbiError as error:
            raise AbiError(f"{self.name}({', '.join(self.names)}): {error.message}") from error

    def decode_result(self, codec: Codec, data: bytes) -> Any:
        """Decodes the data that a call of this function returned.

        The result is None, one value, or a tuple of several values, as in ``outputs``.

        Raises:
            AbiError: The data is not a result of this function.
        """
        found = codec.decode(self.outputs, data)
        if not found:
            return None
        return found[0] if len(found) == 1 else found


class Event(NamedTuple):
    """One event of the contract.

    Attributes:
        name: Name of the event.
        topic: The first topic of the event's logs, 32 bytes.
        fields: Name and type of each field, in order, and whether the log contains the field as a topic.
    """

    name: str
    topic: bytes
    fields: tuple[tuple[str, str, bool], ...]

    def decode_log(self, codec: Codec, topics: Sequence[bytes], data: bytes) -> dict[str, Any]:
        """Decodes the fields of a log. The keys are the names of the fields, in the order of the event's declaration.

        Args:
            codec: Encoder of the contract ABI.
            topics: All topics of the log. The first one is the topic of the event.
            data: Data of the log.

        Raises:
            AbiError: The topics or the data do not match the fields of this event.
        """
        indexed = [kind for _, kind, is_topic in self.fields if is_topic]
        if len(topics) != len(indexed) + 1:
            raise AbiError(f"the event {self.name} has {len(indexed) + 1} topics, but the log has {len(topics)}")
        from_topics = iter([codec.decode((kind,), topic)[0] for kind, topic in zip(indexed, topics[1:], strict=True)])
        from_data = iter(codec.decode([kind for _, kind, is_topic in self.fields if not is_topic], data))
        return {name: next(from_topics if is_topic else from_data) for name, _, is_topic in self.fields}


class Revert(NamedTuple):
    """Reason why the contract reverted a call.

    Attributes:
        name: Name of the custom error, ``Error`` for a message, or ``Panic`` for a panic code of Solidity. Empty if the
            contract returned no reason, or a reason that is not in the ABI.
        args: Arguments of the error. For an unknown error, the raw data as a single argument.
        names: Names of the arguments. Empty for an unknown error.
    """

    name: str
    args: tuple[Any, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.name:
            return f"unknown reason 0x{self.args[0].hex()}" if self.args else "no reason given"
        return f"{self.name}({', '.join(str(argument) for argument in self.args)})"


def abi() -> list[dict[str, Any]]:
    """Returns the complete ABI in the compiler's format, for other libraries. Callers must not change the result."""
    found: list[dict[str, Any]] = _interface()["abi"]
    return found


@cache
def functions() -> dict[str, Function]:
    """Returns all functions of the contract, with their names as keys."""
    selectors = _interface()["functions"]
    return {
        entry["name"]: Function(
            name=entry["name"],
            selector=bytes.fromhex(selectors[signature(entry)][2:]),
            inputs=_types(entry["inputs"]),
            outputs=_types(entry["outputs"]),
            names=_names(entry["inputs"]),
        )
        for entry in abi()
        if entry["type"] == "function"
    }


def function(name: str) -> Function:
    """Returns the function of the contract that has the given name.

    Raises:
        KeyError: The contract has no function with this name. The message suggests similar names.
    """
    found = functions().get(name)
    if found is None:
        from difflib import get_close_matches

        alike = get_close_matches(name, functions(), 3)
        raise KeyError(
            f"the contract AccountConfig has no function {name!r}" + (f": use {' or '.join(alike)}" if alike else "")
        )
    return found


@cache
def events() -> dict[bytes, Event]:
    """Returns all events of the contract, with the first topics of their logs as keys."""
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


def decode_revert(codec: Codec, data: bytes) -> Revert:
    """Decodes the data that a reverted call returned.

    Args:
        codec: Encoder of the contract ABI.
        data: Data from the chain, which starts with the selector. The data can be empty.

    Returns:
        The decoded error. An unknown error keeps its raw data.
    """
    known = _errors().get(data[:SELECTOR_BYTES])
    if known is not None:
        name, types, names = known
        try:
            return Revert(name, codec.decode(types, data[SELECTOR_BYTES:]), names)
        except AbiError:
            pass
    return Revert("", (data,) if data else ())


def signature(entry: dict[str, Any]) -> str:
    """Returns the name and the types of an ABI entry. Its selector or topic is derived from the hash of this text."""
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
