"""Constant that makes a derived action from an audited template.

The bytes written here are part of the CID of every derived action, and the action's key depends on the CID. So this
form never changes: one line, ``const NAME = <JSON>;``, with sorted members and everything beyond ASCII escaped.

Source: specification 1.6 and 9.5.
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
    # ECMA-262: reserved words, those of strict mode and modules too, and names that cannot be declared or mislead.
    r"(?:arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|"
    r"false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|"
    r"public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|NaN|Infinity|"
    # The function that the service calls, and the global object.
    r"main|globalThis)\Z"
)
_LINE: Final = re.compile(r"const ([A-Za-z_$][A-Za-z0-9_$]*) = (.*);\n\Z")


@dataclass(frozen=True)
class Stamp:
    """A named constant and the version of its meaning.

    Attributes:
        name: The JavaScript identifier.
        constant: The value, without the version.
        protocol_version: Positive whole number.

    Raises:
        MalformedValue: One of them cannot be written as JavaScript without loss.
    """

    name: str
    constant: Any
    protocol_version: int = 1

    def __post_init__(self) -> None:
        if not _is_free_identifier(self.name):
            raise MalformedValue(
                f"{shown(self.name)} cannot name a constant",
                hint="write an identifier of letters, digits, _ and $ that JavaScript does not reserve, such as CONST",
            )
        if not _is_version(self.protocol_version):
            raise MalformedValue(
                f"protocol_version {shown(self.protocol_version)} is no positive whole number", hint="begin with 1"
            )
        _check(self.constant, self.name)
        if isinstance(self.constant, dict) and VERSION_MEMBER in self.constant:
            raise MalformedValue(
                f"the member {VERSION_MEMBER!r} is written from protocol_version",
                hint=f"leave it out and pass protocol_version={shown(self.constant[VERSION_MEMBER])}",
            )
        # A copy in the form that JavaScript reads, with lists for tuples, which later changes of the argument do not
        # affect.
        object.__setattr__(self, "constant", parse(_json(self.constant)))

    def line(self) -> str:
        """Returns the declaration, with its line end."""
        if isinstance(self.constant, dict):
            value = _json({**self.constant, VERSION_MEMBER: self.protocol_version})
            return f"const {self.name} = {value};\n"
        value = _json(self.constant)
        return f"const {self.name} = {value}, {self.name}{VERSION_SUFFIX} = {self.protocol_version};\n"

    def append_to(self, template: str) -> str:
        """Returns the template's source with this constant at its end.

        Raises:
            MalformedValue: The template declares the name itself, which would be an error in JavaScript.
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
                    f"the template declares {name} itself, in line {line}", hint="choose another name for the constant"
                )
        return f"{_ended(template)}{self.line()}"

    @staticmethod
    def read(template: str, derived: str) -> Stamp | None:
        """Returns the constant by which an action was derived from a template; None if it was not."""
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
            # The bytes decide, not their meaning: an equivalent line has another CID.
            return stamp if stamp.append_to(template) == derived else None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None


def _is_free_identifier(name: object) -> bool:
    return isinstance(name, str) and bool(_IDENTIFIER.match(name)) and not _TAKEN.match(name)


def _is_version(number: object) -> bool:
    return type(number) is int and 0 < number <= MAX_SAFE_INTEGER


def _ended(template: str) -> str:
    # The constant must not become part of a comment in the last line.
    return template if template.endswith("\n") or not template else f"{template}\n"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def _check(value: Any, where: str, inside: tuple[int, ...] = ()) -> None:
    """Rejects values that JavaScript would read differently."""
    if not isinstance(value, (dict, list, tuple)):
        _check_plain(value, where)
        return
    if id(value) in inside:
        raise MalformedValue(f"{where} contains itself", hint="stamp plain data")
    if len(inside) == _MAX_DEPTH:
        raise MalformedValue(f"the constant is nested more than {_MAX_DEPTH} deep", hint="stamp something flatter")
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
                f"{where} is {shown(value)}, and JavaScript rounds whole numbers beyond 2**53 - 1",
                hint="stamp it as text and read it with BigInt(...)",
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedValue(f"{where} is {value}, which JSON cannot say", hint="stamp a finite number or None")
    else:
        raise MalformedValue(
            f"{where} is {type(value).__name__}, which JSON cannot say",
            hint="stamp texts, numbers, booleans, None, lists and dictionaries; bytes as 0x hex",
        )


def _check_member(key: Any, where: str) -> None:
    if not isinstance(key, str):
        raise MalformedValue(f"{where} has the member {shown(key)}, and members are texts", hint=f"write {str(key)!r}")
    if key == "__proto__":
        raise MalformedValue(f"{where} has the member '__proto__', which is none in JavaScript", hint="rename it")
