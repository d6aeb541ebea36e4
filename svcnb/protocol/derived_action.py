"""Constants that `Action.derive` appends to an audited template to create a derived action.

The CID of every derived action depends on the bytes of the constant, and the action's key depends on the CID.
Therefore, this format must never change: one line, ``const NAME = <JSON>;``, with sorted members and all non-ASCII
characters escaped.

Source: docs/service/index.md#derived-actions.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.nesting import parse

VERSION_MEMBER: Final = "protocolVersion"
VERSION_SUFFIX: Final = "_PROTOCOL_VERSION"
MAX_SAFE_INTEGER: Final = 2**53 - 1

_MAX_DEPTH: Final = 32
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,127}\Z")
_TAKEN: Final = re.compile(
    # Reserved words of ECMA-262, including words of strict mode and modules, and names that are misleading or that code
    # cannot declare.
    r"(?:arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|"
    r"false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|"
    r"public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|NaN|Infinity|"
    # The function that the service calls, and the global object.
    r"main|globalThis)\Z"
)
_LINE: Final = re.compile(r"const ([A-Za-z_$][A-Za-z0-9_$]*) = (.*);\n\Z")


@dataclass(frozen=True)
class Stamp:
    """Named constant and the version of its format.

    Attributes:
        name: The JavaScript identifier.
        constant: The value, without the version.
        protocol_version: Version of the constant's format, a positive integer.

    Raises:
        MalformedValue: The name, the constant or the version cannot be written as JavaScript without loss.
    """

    name: str
    constant: Any
    protocol_version: int = 1

    def __post_init__(self) -> None:
        if not _is_identifier(self.name):
            raise MalformedValue(
                f"invalid constant name {shown(self.name)}: expected 1 to 128 letters, digits, _ or $, without a digit "
                "at the start",
                hint="Write a JavaScript identifier, such as CONST.",
            )
        if _TAKEN.match(self.name):
            raise MalformedValue(
                f"invalid constant name {shown(self.name)}: JavaScript or the service reserves this name",
                hint="Choose another name, such as CONST.",
            )
        if not _is_version(self.protocol_version):
            raise MalformedValue(
                f"invalid protocol_version {shown(self.protocol_version)}: expected a positive integer",
                hint="Pass 1 for the first version.",
            )
        _check(self.constant, self.name)
        if isinstance(self.constant, dict) and VERSION_MEMBER in self.constant:
            raise MalformedValue(
                f"the constant already contains {VERSION_MEMBER!r}, which is reserved for protocol_version",
                hint=f"Omit this member and pass protocol_version={shown(self.constant[VERSION_MEMBER])}.",
            )
        # Store a copy that contains lists instead of tuples, as in JSON. Later changes to the argument do not affect
        # this copy.
        object.__setattr__(self, "constant", parse(_json(self.constant)))

    def line(self) -> str:
        """Returns the JavaScript line that declares the constant, including its line ending."""
        if isinstance(self.constant, dict):
            value = _json({**self.constant, VERSION_MEMBER: self.protocol_version})
            return f"const {self.name} = {value};\n"
        value = _json(self.constant)
        return f"const {self.name} = {value}, {self.name}{VERSION_SUFFIX} = {self.protocol_version};\n"

    def append_to(self, template: str) -> str:
        """Returns the template's source with this constant at its end.

        Raises:
            MalformedValue: The template already declares the name. JavaScript rejects a second declaration of a name.
        """
        declared = [self.name] if isinstance(self.constant, dict) else [self.name, self.name + VERSION_SUFFIX]
        for name in declared:
            found = re.search(
                rf"^[ \t]*(?:async[ \t]+)?(?:const|let|var|class|function\*?)\s+{re.escape(name)}(?![\w$])",
                template,
                re.MULTILINE,
            )
            if found:
                line = template.count("\n", 0, found.start()) + 1
                raise MalformedValue(
                    f"the template already declares {name}, on line {line}",
                    hint="Choose another name for the constant.",
                )
        return f"{_ended(template)}{self.line()}"

    @staticmethod
    def read(template: str, derived: str) -> Stamp | None:
        """Returns the constant that follows a template's source in a derived source.

        The result is None if ``derived`` is not exactly the template followed by one constant.
        """
        start = _ended(template)
        found = _LINE.match(derived[len(start) :]) if derived.startswith(start) else None
        if not found:
            return None
        name, text = found.groups()
        version_tail = re.search(rf", {re.escape(name + VERSION_SUFFIX)} = ([0-9]+)\Z", text)
        try:
            if version_tail:
                stamp = Stamp(name, parse(text[: version_tail.start()]), int(version_tail[1]))
            else:
                constant = parse(text)
                stamp = Stamp(name, constant, constant.pop(VERSION_MEMBER))
            # Compare the bytes, because an equivalent line with other bytes results in another CID.
            return stamp if stamp.append_to(template) == derived else None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None


def _is_identifier(name: object) -> bool:
    return isinstance(name, str) and bool(_IDENTIFIER.match(name))


def _is_version(number: object) -> bool:
    return type(number) is int and 0 < number <= MAX_SAFE_INTEGER


def _ended(template: str) -> str:
    # Otherwise, the new line could become part of a comment in the template's last line.
    return template if template.endswith("\n") or not template else f"{template}\n"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def _check(value: Any, where: str, inside: tuple[int, ...] = ()) -> None:
    """Raises an error for a value that JavaScript cannot represent exactly.

    Args:
        value: Value to check, with all values inside it.
        where: Path of the value, for the error message.
        inside: Ids of the lists and dictionaries that contain the value.
    """
    if not isinstance(value, (dict, list, tuple)):
        _check_plain(value, where)
        return
    if id(value) in inside:
        raise MalformedValue(f"the value {where} contains itself", hint="Pass data without cycles.")
    if len(inside) == _MAX_DEPTH:
        raise MalformedValue(
            f"the constant has more than {_MAX_DEPTH} levels of nesting",
            hint="Pass data with fewer levels of nesting.",
        )
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict):
            _check_member(key, where)
        _check(item, f"{where}[{key!r}]", (*inside, id(value)))


def _check_plain(value: Any, where: str) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, int):
        if abs(value) > MAX_SAFE_INTEGER:
            raise MalformedValue(
                f"{where} is {shown(value)}, but JavaScript rounds integers beyond 2**53 - 1",
                hint="Pass the integer as a string, and convert the string in the action with BigInt(text).",
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedValue(
                f"{where} is {value}, which JSON cannot represent", hint="Pass a finite number or None."
            )
    else:
        raise MalformedValue(
            f"{where} has the type {type(value).__name__}, which JSON cannot represent",
            hint="Pass strings, numbers, booleans, None, lists and dictionaries. Write bytes as 0x hex.",
        )


def _check_member(key: Any, where: str) -> None:
    if not isinstance(key, str):
        raise MalformedValue(
            f"{where} has the key {shown(key)}, but keys must be strings", hint=f"Write the key as {str(key)!r}."
        )
    if key == "__proto__":
        raise MalformedValue(
            f"{where} has the key '__proto__', which JavaScript does not store as a property", hint="Rename this key."
        )
