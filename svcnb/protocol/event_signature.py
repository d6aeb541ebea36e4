"""Parser for event signatures, and decoder for the arguments in a log.

A signature is ``Name(type,type)``, optionally with argument names and ``indexed`` marks, as in Solidity. A signature's
hash does not contain which arguments are indexed. Without marks, this is inferred from the log: see `Event.decode`.

Source: specification 4.5 (chain_event); reference facts 10.3; Solidity ABI specification for the encoding.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from svcnb.errors import InvalidType
from svcnb.protocol import abi
from svcnb.protocol.abi_types import Type, split
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.hashes import event_topic

MAX_INDEXED: Final = 3
"""Maximum number of topics of a log besides topic0, and so of indexed arguments."""

_MAX_LENGTH: Final = 1024
_MAX_ARGUMENTS: Final = 17
"""More would not fit the stack of the EVM; it also bounds the search for indexed arguments."""
_NAME: Final = re.compile(r"\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\(")
_ARGUMENT_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)
_DECIMAL_LIMIT: Final = 1 << 128
_EXAMPLE: Final = "for example Transfer(address,address,uint256)"


class InvalidSignature(MalformedValue):
    """A string is not an event signature."""


class UndecodableLog(MalformedValue):
    """A log's topics and data do not encode the arguments of the signature."""


@dataclass(frozen=True)
class Argument:
    """One argument of an event.

    Attributes:
        type: Its ABI type.
        name: Its name; empty if it has none.
        indexed: Whether it was marked ``indexed``.
    """

    type: Type
    name: str = ""
    indexed: bool = False


@dataclass(frozen=True)
class Reading:
    """The arguments of a log, and how they were decoded.

    Attributes:
        values: The result of `Event.decode`.
        indexed: Positions of the arguments that were read from topics, from 0.
        marked: Whether the signature marks these; otherwise they were inferred.
        ambiguous: Whether the log also fits other arguments as indexed.
    """

    values: dict[str, Any]
    indexed: tuple[int, ...]
    marked: bool
    ambiguous: bool


@dataclass(frozen=True)
class Event:
    """A parsed event signature.

    Attributes:
        name: The event's name.
        arguments: Its arguments in order.
        none_indexed: Whether it is known that no argument is indexed.
    """

    name: str
    arguments: tuple[Argument, ...]
    none_indexed: bool = False

    @classmethod
    def parse(cls, text: str) -> Event:
        """Reads a signature.

        Args:
            text: ``Name(type,type)``. The types ``uint`` and ``int`` mean their 256-bit forms. A type may be followed
                by ``indexed`` and an argument name. The word ``event`` at the start and ``;`` at the end are ignored.

        Raises:
            InvalidType: Not a string.
            InvalidSignature: Not of that form, or a type is unknown.

        Example:
            >>> Event.parse("Transfer(address indexed from, address indexed to, uint value)").canonical
            'Transfer(address,address,uint256)'
        """
        if not isinstance(text, str):
            raise InvalidType(f"an event signature is a text, not {type(text).__name__}")
        trimmed = text.strip().removesuffix(";").rstrip()
        found = _NAME.match(trimmed)
        if not found or not trimmed.endswith(")") or len(text) > _MAX_LENGTH:
            raise InvalidSignature(f"{shown(text)} is no event signature", hint=f"write Name(type,type), {_EXAMPLE}")
        arguments = tuple(_argument(part, text) for part in _split(trimmed[found.end() : -1], text))
        if len(arguments) > _MAX_ARGUMENTS:
            raise InvalidSignature(f"{shown(text)} has {len(arguments)} arguments, more than {_MAX_ARGUMENTS}")
        if sum(argument.indexed for argument in arguments) > MAX_INDEXED:
            raise InvalidSignature(
                f"{shown(text)} marks more than {MAX_INDEXED} arguments as indexed", hint="a log has room for three"
            )
        return cls(found[1], arguments)

    @cached_property
    def canonical(self) -> str:
        """Returns the form that is hashed: name and full types, without spaces, names or marks."""
        return f"{self.name}({','.join(str(argument.type) for argument in self.arguments)})"

    @cached_property
    def topic0(self) -> str:
        """First topic of the event's logs, ``0x`` and 64 hex digits."""
        return "0x" + event_topic(self.canonical).hex()

    @property
    def marked(self) -> bool:
        """Returns whether it is known which arguments are indexed."""
        return self.none_indexed or any(argument.indexed for argument in self.arguments)

    def with_indexed(self, positions: Collection[int]) -> Event:
        """Returns the same event with its indexed arguments marked.

        Args:
            positions: Their positions, from 0.

        Raises:
            InvalidSignature: There is no such argument, or more than `MAX_INDEXED`, or the signature marks others.
        """
        if len(set(positions)) > MAX_INDEXED or not all(0 <= place < len(self.arguments) for place in positions):
            raise InvalidSignature(
                f"indexed {sorted(positions)} does not fit {self.canonical}",
                hint=f"write the positions of at most {MAX_INDEXED} of its {len(self.arguments)} arguments, from 0",
            )
        marked = {place for place, argument in enumerate(self.arguments) if argument.indexed}
        if marked and marked != set(positions):
            raise InvalidSignature(
                f"indexed {sorted(positions)} contradicts the marks of the signature, {sorted(marked)}",
                hint="mark the indexed arguments in one of the two places",
            )
        arguments = tuple(
            replace(argument, indexed=place in positions) for place, argument in enumerate(self.arguments)
        )
        return replace(self, arguments=arguments, none_indexed=not positions)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Returns the limits of ``event.decoded`` for this signature."""
        return tuple(_warnings(self))

    def decode(self, topics: Sequence[str], data: str) -> dict[str, Any]:
        """Returns the arguments of a log.

        If the signature has marks, they apply. Without marks, the first assignment that fits is used, with the first
        arguments tried as indexed before later ones. A topic must be a value of its type, and the data must be exactly
        the encoding of the rest.

        Args:
            topics: All topics of the log, topic0 first, as ``0x`` hex.
            data: The log's data, as ``0x`` hex.

        Returns:
            ``arg0``, ``arg1``, … in order of the signature, and each argument again under its name if it has one.
            Addresses are lower-case hex. Integers are decimal strings, from 2**128 on ``0x`` and 64 hex digits. Bytes
            are ``0x`` hex; arrays and tuples are lists. An indexed argument of a dynamic type is its raw topic, since a
            log contains only its hash.

        Raises:
            UndecodableLog: No assignment fits.
        """
        return self.read(topics, data).values

    def read(self, topics: Sequence[str], data: str) -> Reading:
        """Works like `decode`, and also returns the assignment.

        Raises:
            UndecodableLog: No assignment fits.
        """
        words = [_word(topic) for topic in topics[1:]]
        payload = _bytes(data)
        fitting = (
            (positions, values)
            for positions in self._assignments(len(words))
            if (values := self._fit(positions, words, payload)) is not None
        )
        for positions, values in fitting:
            return Reading(self._named(values), positions, self.marked, next(fitting, None) is not None)
        raise UndecodableLog(
            f"a log with {len(words)} indexed arguments and {len(payload)} bytes of data does not fit {self.canonical}",
            hint="compare the signature with the contract's source; mark indexed arguments to be sure",
        )

    def _assignments(self, count: int) -> Iterator[tuple[int, ...]]:
        if self.marked:
            marked = tuple(place for place, argument in enumerate(self.arguments) if argument.indexed)
            return iter((marked,) if len(marked) == count else ())
        return combinations(range(len(self.arguments)), count)

    def _fit(self, positions: tuple[int, ...], words: list[bytes], payload: bytes) -> list[Any] | None:
        plain = [argument.type for place, argument in enumerate(self.arguments) if place not in positions]
        try:
            from_data = iter(_exactly(plain, payload))
            from_topics = iter(
                word if kind.is_hashed_when_indexed else _exactly([kind], word)[0]
                for kind, word in zip((self.arguments[place].type for place in positions), words, strict=True)
            )
            return [
                _shown_value(argument.type, next(from_topics), raw=argument.type.is_hashed_when_indexed)
                if place in positions
                else _shown_value(argument.type, next(from_data))
                for place, argument in enumerate(self.arguments)
            ]
        except abi.AbiError:
            return None

    def _named(self, values: list[Any]) -> dict[str, Any]:
        decoded = {f"arg{place}": value for place, value in enumerate(values)}
        for argument, value in zip(self.arguments, values, strict=True):
            if argument.name:
                decoded.setdefault(argument.name, value)
        return decoded


# --- reading the text -----------------------------------------------------------------------------------------------


def _split(inside: str, whole: str) -> list[str]:
    try:
        return split(inside)
    except MalformedValue as error:
        raise InvalidSignature(f"{shown(whole)} is no event signature: {error.message}", hint=_EXAMPLE) from None


def _argument(text: str, whole: str) -> Argument:
    written, words = _type_and_words(text)
    indexed = bool(words) and words[0] == "indexed"
    rest = words[1:] if indexed else words
    if len(rest) > 1 or (rest and (not _ARGUMENT_NAME.match(rest[0]) or rest[0] == "indexed")):
        raise InvalidSignature(
            f"{shown(text.strip())} in {shown(whole)} is no argument",
            hint=f"write its type, then 'indexed' and a name if wanted, {_EXAMPLE}",
        )
    try:
        return Argument(Type.parse(written), rest[0] if rest else "", indexed)
    except MalformedValue as error:
        raise InvalidSignature(f"{shown(whole)} is no event signature: {error.message}", hint=error.hint) from None


def _type_and_words(text: str) -> tuple[str, list[str]]:
    # A tuple type contains spaces, so the type ends after its last bracket.
    trimmed = text.strip()
    close = trimmed.rfind(")")
    if close < 0:
        written, *words = trimmed.split() or [""]
        return written, words
    tail, *words = trimmed[close + 1 :].split(" ") if trimmed[close + 1 :].strip() else [""]
    return trimmed[: close + 1] + tail, [word for word in words if word]


# --- reading and showing values -------------------------------------------------------------------------------------


def _word(topic: str) -> bytes:
    word = _bytes(topic)
    if len(word) != abi.WORD:
        raise UndecodableLog(f"{shown(topic)} is no topic", hint="a topic is 0x and 64 hex digits")
    return word


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise UndecodableLog(f"{shown(text)} is no hex") from None


def _exactly(kinds: Sequence[Type], data: bytes) -> tuple[Any, ...]:
    """Returns the values whose encoding is exactly these bytes. Many wrong types can decode them; few encode them back.

    Raises:
        AbiError: There are none.
    """
    types = [kind.encoded_as for kind in kinds]
    values = abi.decode(types, data)
    if abi.encode(types, values) != data:
        raise abi.AbiError("the bytes are no usual encoding")
    return values


def _shown_value(kind: Type, value: Any, *, raw: bool = False) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if kind.base == "string" and not raw else "0x" + value.hex()
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        # Numbers of this size are mostly hashes and ids, so they are written in the same form, which makes them
        # comparable.
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
            "No argument is marked as indexed. The service without marks takes the first arguments as indexed; this "
            "emulator tries all places and takes the first that fits. Copy the marks from the contract's source "
            "to be sure."
        )
    if hashed:
        which = ", ".join(hashed)
        yield f"A log holds only the hash of an indexed text, bytes, array or tuple: then {which} is a raw topic."
