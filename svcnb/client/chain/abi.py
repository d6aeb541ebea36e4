"""Encoding and decoding of contract data (ABI) with eth-abi, which the ``chain`` extra installs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from svcnb.errors import ExtraMissing
from svcnb.protocol.contract import AbiError

if TYPE_CHECKING:
    from eth_abi.codec import ABICodec


def encode(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Encodes values, for example the arguments of a call.

    Args:
        types: ABI types. A tuple type has the form ``(uint256,string)``.
        values: One value for each type. Numbers are ``int``, addresses are ``0x`` strings, bytes are ``bytes``, and
            lists and tuples are sequences.

    Returns:
        The encoded values, without a selector.

    Raises:
        AbiError: A value does not match its type.
        ExtraMissing: eth-abi is not installed.
    """
    codec = _codec()
    from eth_abi.exceptions import EncodingError, ParseError

    try:
        return codec.encode(types, values)
    except (EncodingError, ParseError, OverflowError, TypeError, ValueError) as error:
        raise AbiError(str(error)) from error


def decode(types: Sequence[str], data: bytes) -> tuple[Any, ...]:
    """Decodes ABI-encoded values, for example the result of a call.

    Args:
        types: ABI types; see `encode`.
        data: The encoded values, without a selector.

    Returns:
        One value for each type. Addresses become lowercase ``0x`` strings, and both lists and tuples become tuples.

    Raises:
        AbiError: The bytes are not an encoding of these types.
        ExtraMissing: eth-abi is not installed.
    """
    codec = _codec()
    from eth_abi.exceptions import DecodingError, ParseError

    try:
        return codec.decode(types, data)
    except (DecodingError, ParseError, OverflowError, ValueError) as error:
        raise AbiError(str(error)) from error


@cache
def _codec() -> ABICodec:
    try:
        from eth_abi.codec import ABICodec
        from eth_abi.decoding import StringDecoder
        from eth_abi.encoding import TextStringEncoder
        from eth_abi.registry import registry
    except ModuleNotFoundError as error:
        raise ExtraMissing("access to contracts requires eth-abi", "chain") from error
    # A contract can store any bytes as a string. The invalid name of another user's object must not cause an error.
    lenient = registry.copy()  # type: ignore[no-untyped-call] # eth-abi has no annotations
    lenient.unregister("string")
    reader = StringDecoder(handle_string_errors="replace")  # type: ignore[no-untyped-call]  # as above
    lenient.register("string", TextStringEncoder, reader)
    return ABICodec(lenient)
