"""Parser for event signatures, and decoder for the arguments of a log.

A signature is ``Name(type,type)``, optionally with argument names and ``indexed`` marks, as in Solidity. The hash of a
signature does not show which arguments are indexed. If the signature has no marks, `Event.decode` infers the indexed
arguments from the log.

Source: docs/service/triggers.md#sources-of-runs; Solidity ABI specification for the encoding.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from svcnb.errors import InvalidType
from svcnb.protocol.abi_types import Type, split
from svcnb.protocol.contract import AbiError, Codec
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.hashes import event_topic

MAX_INDEXED: Final = 3
"""Maximum number of indexed arguments of an event. A log contains one topic for each of them, after topic0."""

_MAX_LENGTH: Final = 1024
_MAX_ARGUMENTS: Final = 17
"""Maximum number of arguments of an event.

The EVM's stack allows no more, and the limit keeps the search for indexed arguments short."""
_NAME: Final = re.compile(r"\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\(")
_ARGUMENT_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)
_WORD_BYTES: Final = 32
_DECIMAL_LIMIT: Final = 1 << 128
_EXAMPLE: Final = "for example Transfer(address,address,uint256)"


class InvalidSignature(MalformedValue):
    """Error for a string that is not an event signature, or for wrong positions of indexed arguments."""


class UndecodableLog(MalformedValue):
    """Error for a log whose topics and data do not encode the arguments of the signature."""


@dataclass(frozen=True)
class Argument:
    """One argument of an event.

    Attributes:
        type: ABI type of the argument.
        name: Name of the argument. Empty if the signature contains no name.
        indexed: Whether the signature marks the argument as ``indexed``.
    """

    type: Type
    name: str = ""
    indexed: bool = False


@dataclass(frozen=True)
class Reading:
    """Decoded arguments of a log, and the positions of the indexed arguments.

    Attributes:
        values: The result of `Event.decode`.
        indexed: Positions of the arguments that come from topics, counted from 0.
        marked: Whether the event specifies which arguments are indexed. If not, the decoder inferred them.
        ambiguous: Whether the log also matches the signature with another set of indexed arguments.
    """

    values: dict[str, Any]
    indexed: tuple[int, ...]
    marked: bool
    ambiguous: bool


@dataclass(frozen=True)
class Event:
    """Parsed event signature.

    Attributes:
        name: Name of the event, without the argument list.
        arguments: Arguments, in the order of the signature.
        none_indexed: Whether the caller stated that no argument is indexed.
    """

    name: str
    arguments: tuple[Argument, ...]
    none_indexed: bool = False

    @classmethod
    def parse(cls, text: str) -> Event:
        """Returns the event that a signature describes.

        Args:
            text: ``Name(type,type)``. The types ``uint`` and ``int`` mean ``uint256`` and ``int256``. ``indexed`` and
                an argument name can follow a type. The parser ignores the word ``event`` at the start and ``;`` at
                the end.

        Raises:
            InvalidType: ``text`` is not a string.
            InvalidSignature: The text is not an event signature, exceeds a limit, or contains an unknown type.

        Example:
            >>> Event.parse("Transfer(address indexed from, address indexed to, uint value)").canonical
            'Transfer(address,address,uint256)'
        """
        if not isinstance(text, str):
            raise InvalidType(f"an event signature must be a string, not {type(text).__name__}")
        trimmed = text.strip().removesuffix(";").rstrip()
        found = _NAME.match(trimmed)
        if len(text) > _MAX_LENGTH:
            raise InvalidSignature(
                f"the event signature {shown(text)} has {len(text)} characters; at most {_MAX_LENGTH} are allowed",
                hint=f"Write only the name and the types of the arguments, {_EXAMPLE}.",
            )
        if not found or not trimmed.endswith(")"):
            raise InvalidSignature(f"invalid event signature {shown(text)}", hint=f"Write Name(type,type), {_EXAMPLE}.")
        arguments = tuple(_argument(part, text) for part in _split(trimmed[found.end() : -1], text))
        if len(arguments) > _MAX_ARGUMENTS:
            raise InvalidSignature(
                f"the event signature {shown(text)} has {len(arguments)} arguments; "
                f"at most {_MAX_ARGUMENTS} are allowed",
                hint="Copy the event's signature from the contract's source or ABI.",
            )
        if sum(argument.indexed for argument in arguments) > MAX_INDEXED:
            raise InvalidSignature(
                f"the event signature {shown(text)} marks more than {MAX_INDEXED} arguments as indexed",
                hint="Mark at most three arguments as indexed, because a log contains at most three indexed arguments.",
            )
        return cls(found[1], arguments)

    @cached_property
    def canonical(self) -> str:
        """Canonical form of the signature: event name and full types, without spaces, argument names or ``indexed``."""
        return f"{self.name}({','.join(str(argument.type) for argument in self.arguments)})"

    @cached_property
    def topic0(self) -> str:
        """First topic of the event's logs: ``0x`` and 64 hex digits."""
        return "0x" + event_topic(self.canonical).hex()

    @property
    def marked(self) -> bool:
        """Whether the event specifies which arguments are indexed."""
        return self.none_indexed or any(argument.indexed for argument in self.arguments)

    def with_indexed(self, positions: Collection[int]) -> Event:
        """Returns a copy of the event that specifies which arguments are indexed.

        Args:
            positions: Positions of the indexed arguments, counted from 0. Empty if no argument is indexed.

        Raises:
            InvalidSignature: A position does not exist, there are more than `MAX_INDEXED` positions, or the signature
                marks other arguments.
        """
        if len(set(positions)) > MAX_INDEXED or not all(0 <= place < len(self.arguments) for place in positions):
            raise InvalidSignature(
                f'the positions {sorted(positions)} in "indexed" do not match {self.canonical}',
                hint=(
                    f"Pass the positions of at most {MAX_INDEXED} of the {len(self.arguments)} arguments, counted "
                    "from 0."
                ),
            )
        marked = {place for place, argument in enumerate(self.arguments) if argument.indexed}
        if marked and marked != set(positions):
            raise InvalidSignature(
                f'conflicting indexed arguments: the field "indexed" contains the positions {sorted(positions)}, '
                f"but the signature marks the positions {sorted(marked)} as indexed",
                hint='Mark the indexed arguments either in the signature or with the field "indexed", not with both.',
            )
        arguments = tuple(
            replace(argument, indexed=place in positions) for place, argument in enumerate(self.arguments)
        )
        return replace(self, arguments=arguments, none_indexed=not positions)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about limitations of ``event.decoded`` for this signature."""
        return tuple(_warnings(self))

    def decode(self, codec: Codec, topics: Sequence[str], data: str) -> dict[str, Any]:
        """Decodes the arguments of a log.

        If the event specifies which arguments are indexed, the method decodes these arguments from the topics.
        Otherwise, the method tries each possible set of indexed arguments, and uses the first set that matches the log.
        The first set that the method tries contains the first arguments of the signature. A set matches if each topic
        is a valid value of its argument's type, and the data is the exact encoding of the other arguments.

        Args:
            codec: Encoder of the contract ABI.
            topics: All topics of the log, topic0 first, as ``0x`` hex.
            data: Data of the log, as ``0x`` hex.

        Returns:
            A dictionary with ``arg0``, ``arg1``, … in the order of the signature, and each named argument also under
            its name. Addresses are lowercase hex. Integers are decimal strings, or ``0x`` and 64 hex digits from
            2**128 upwards. Bytes are ``0x`` hex, and arrays and tuples are lists. An indexed argument of a dynamic type
            is its raw topic, because a log contains only the hash of the argument.

        Raises:
            UndecodableLog: The log does not match the signature, or a topic or the data is not valid hex.
        """
        return self.read(codec, topics, data).values

    def read(self, codec: Codec, topics: Sequence[str], data: str) -> Reading:
        """Decodes the arguments like `decode`, and also returns which arguments come from topics.

        Raises:
            UndecodableLog: The log does not match the signature, or a topic or the data is not valid hex.
        """
        words = [_word(topic) for topic in topics[1:]]
        payload = _bytes(data)
        fitting = (
            (positions, values)
            for positions in self._assignments(len(words))
            if (values := self._fit(codec, positions, words, payload)) is not None
        )
        for positions, values in fitting:
            return Reading(self._named(values), positions, self.marked, next(fitting, None) is not None)
        raise UndecodableLog(
            (
                f"a log with {len(words)} indexed arguments and {len(payload)} bytes of data does not match "
                f"{self.canonical}"
            ),
            hint="Compare the signature with the contract's source, and write 'indexed' after the type of each indexed "
            "argument.",
        )

    def _assignments(self, count: int) -> Iterator[tuple[int, ...]]:
        if self.marked:
            marked = tuple(place for place, argument in enumerate(self.arguments) if argument.indexed)
            return iter((marked,) if len(marked) == count else ())
        return combinations(range(len(self.arguments)), count)

    def _fit(self, codec: Codec, positions: tuple[int, ...], words: list[bytes], payload: bytes) -> list[Any] | None:
        plain = [argument.type for place, argument in enumerate(self.arguments) if place not in positions]
        try:
            from_data = iter(_exactly(codec, plain, payload))
            from_topics = iter(
                word if kind.is_hashed_when_indexed else _exactly(codec, [kind], word)[0]
                for kind, word in zip((self.arguments[place].type for place in positions), words, strict=True)
            )
            return [
                _shown_value(argument.type, next(from_topics), raw=argument.type.is_hashed_when_indexed)
                if place in positions
                else _shown_value(argument.type, next(from_data))
                for place, argument in enumerate(self.arguments)
            ]
        except AbiError:
            return None

    def _named(self, values: list[Any]) -> dict[str, Any]:
        decoded = {f"arg{place}": value for place, value in enumerate(values)}
        for argument, value in zip(self.arguments, values, strict=True):
            if argument.name:
                decoded.setdefault(argument.name, value)
        return decoded


# --- parsing --------------------------------------------------------------------------------------------------------


def _split(inside: str, whole: str) -> list[str]:
    try:
        return split(inside)
    except MalformedValue as error:
        raise InvalidSignature(
            f"invalid event signature {shown(whole)}: {error.message}", hint=f"Write Name(type,type), {_EXAMPLE}."
        ) from None


def _argument(text: str, whole: str) -> Argument:
    written, words = _type_and_words(text)
    indexed = bool(words) and words[0] == "indexed"
    rest = words[1:] if indexed else words
    if len(rest) > 1 or (rest and (not _ARGUMENT_NAME.match(rest[0]) or rest[0] == "indexed")):
        raise InvalidSignature(
            f"invalid argument {shown(text.strip())} in the event signature {shown(whole)}",
            hint=f"Write the type of the argument, then optionally 'indexed' and a name, {_EXAMPLE}.",
        )
    try:
        return Argument(Type.parse(written), rest[0] if rest else "", indexed)
    except MalformedValue as error:
        raise InvalidSignature(f"invalid event signature {shown(whole)}: {error.message}", hint=error.hint) from None


def _type_and_words(text: str) -> tuple[str, list[str]]:
    # A tuple type contains spaces, so the type ends after its last bracket.
    trimmed = text.strip()
    close = trimmed.rfind(")")
    if close < 0:
        written, *words = trimmed.split() or [""]
        return written, words
    tail, *words = trimmed[close + 1 :].split(" ") if trimmed[close + 1 :].strip() else [""]
    return trimmed[: close + 1] + tail, [word for word in words if word]


# --- decoding and formatting values --------------------------------------------------------------------------------


def _word(topic: str) -> bytes:
    word = _bytes(topic)
    if len(word) != _WORD_BYTES:
        raise UndecodableLog(f"invalid topic {shown(topic)}", hint="Write a topic as 0x followed by 64 hex digits.")
    return word


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise UndecodableLog(f"invalid hex {shown(text)}", hint="Pass 0x followed by hex digits.") from None


def _exactly(codec: Codec, kinds: Sequence[Type], data: bytes) -> tuple[Any, ...]:
    """Decodes bytes and checks that the values encode to the same bytes. This check rejects most wrong types.

    Raises:
        AbiError: The bytes are not the exact encoding of values of these types.
    """
    types = [kind.encoded_as for kind in kinds]
    values = codec.decode(types, data)
    if codec.encode(types, values) != data:
        raise AbiError("the bytes are not a standard ABI encoding")
    return values


def _shown_value(kind: Type, value: Any, *, raw: bool = False) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if kind.base == "string" and not raw else "0x" + value.hex()
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        # Numbers of this size are mostly hashes and ids. The decoder writes them in hex, so that users can compare them
        # with hashes.
        return str(value) if value < _DECIMAL_LIMIT else f"0x{value:064x}"
    parts = (kind.element,) * len(value) if kind.is_array else kind.members
    return [_shown_value(part, item) for part, item in zip(parts, value, strict=True)]


def _warnings(event: Event) -> Iterator[str]:
    hashed = [
        f"arg{place}"
        for place, argument in enumerate(event.arguments)
        if argument.type.is_hashed_when_indexed and (argument.indexed or not event.marked)
    ]
    if not event.marked and len(event.arguments) > 1:
        yield (
            "No argument is marked as indexed. Without marks, the service treats the first arguments as indexed. "
            "The emulator tries all positions and uses the first match. Copy the marks from the contract's "
            "source."
        )
    if hashed:
        which = ", ".join(hashed)
        yield (
            "A log contains only the hash of an indexed string, bytes, array or tuple. "
            f"If indexed, {which} {'is a raw topic' if len(hashed) == 1 else 'are raw topics'}."
        )
