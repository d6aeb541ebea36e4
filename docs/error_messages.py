"""Error messages of the client and of the command line, read from the code that raises them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

import svcnb
from svcnb.errors import SvcnbError

PACKAGE: Final = Path(svcnb.__file__).parent
_ELSEWHERE: Final = (
    "emulator",
    "lite/substitutes",
    "toolkit/cookbook/recipes",
    "toolkit/cookbook/project",
    "supervised.py",
)
"""Parts of the package that users do not call, or whose errors become responses of the service."""

_OF_COMMANDS: Final = frozenset({"BadParameter", "ClickException", "UsageError"})
_VALUE: Final = "..."
_FIX: Final = re.compile(
    r"(?:^|[:;,.] |\b(?:but|and) )"
    r"((?:expected|pass|use|omit|write|open|encode|set|must|needs?|requires?|run|save|its type is|at most|choose|check"
    r"|create|remove|start|stop|press|add|try|confirm|install|`svcnb)\b.*)|\b((?:must be|needs?|requires?) .*)",
    re.DOTALL | re.IGNORECASE,
)
"""Matches the part of a message that states the allowed values or the fix."""


class Message(NamedTuple):
    """An error that code raises.

    Attributes:
        error: Name of the error class.
        text: The message, with three dots for each value.
        fix: The hint, or the part of the message that states the allowed values. Empty if there is neither.
        place: Module and line.
    """

    error: str
    text: str
    fix: str
    place: str


def messages() -> list[Message]:
    """Returns every error that the package can raise with its own message, sorted by text."""
    found: list[Message] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(_ELSEWHERE):
            found += _of_module(path, name)
    return sorted({(each.error, each.text): each for each in found}.values(), key=_order)


def _order(message: Message) -> tuple[str, str]:
    return message.text.lstrip("'\"`.").lower(), message.error


@functools.cache
def errors() -> dict[str, type[Exception]]:
    """Returns every error class of the package by its name."""
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(_ELSEWHERE) and "class " in path.read_text(encoding="utf-8"):
            import_module(f"svcnb.{name.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}")
    return {kind.__name__: kind for kind in _tree(SvcnbError)}


def _tree(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _tree(inner)


def _of_module(path: Path, name: str) -> Iterator[Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        kind = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if kind not in errors() and kind not in _OF_COMMANDS:
            continue
        if text := _message(kind, call):
            yield Message(kind, text, _fix(kind, call, text, tree), f"{name}:{call.lineno}")


def _message(kind: str, call: ast.Call) -> str:
    texts = [text for argument in call.args[: 2 if kind == "ToolMissing" else 1] for text in _texts(argument)]
    if kind == "ToolMissing":
        return f"{_VALUE} is missing: {texts[-1]}" if texts else ""
    return " or ".join(text for text in texts if re.search(r"[a-z]{2,}", text))


def _fix(kind: str, call: ast.Call, text: str, tree: ast.Module) -> str:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
    given += call.args[2:3] if kind == "ToolMissing" else []
    for hint in given:
        if known := " Or: ".join(dict.fromkeys(_texts(hint, tree))):
            return known
    if own := str(getattr(errors().get(kind), "default_hint", "")):
        return own
    if kind == "ToolMissing":
        return "The hint contains the command that installs the tool."
    if kind == "ExtraMissing":
        return "Install the extra that the message contains."
    inside = _FIX.search(text)
    fix = (inside[1] or inside[2]) if inside else ""
    return fix[:1].upper() + fix[1:]


def _texts(node: ast.expr, tree: ast.Module | None = None) -> Iterator[str]:
    """Yields the texts that an expression can have, if the module contains them as literals."""
    match node:
        case ast.Constant(value=str(text)):
            yield " ".join(text.split())
        case ast.JoinedStr(values=parts):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else _VALUE for part in parts)
            yield " ".join(text.split())
        case ast.IfExp(body=one, orelse=other):
            yield from (text for part in (one, other) for text in _texts(part, tree))
        case ast.BoolOp(values=parts) | ast.Dict(values=parts):
            yield from (text for part in parts for text in _texts(part, tree))
        case ast.Attribute(attr="hint" | "default_hint"):
            yield "The hint of the error that caused this error."
        case _ if tree:
            yield from _of_name(node, tree)


def _of_name(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    """Yields the texts of a variable, a function or a dictionary of the module."""
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            yield from _written(tree, name)
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Name(id=name)), args=[_]):
            yield from _written(tree, name)
        case ast.Call(func=ast.Attribute(attr="get") | ast.Name(id="getattr"), args=[*_, default]):
            yield from _texts(default, tree)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            yield from _returned(tree, name)


def _written(tree: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        targets: Iterable[ast.expr] = node.targets if isinstance(node, ast.Assign) else ()
        if isinstance(node, ast.AnnAssign):
            targets = (node.target,)
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if named and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            yield from _texts(node.value)


def _returned(tree: ast.Module, name: str) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == name:
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value:
                    yield from _texts(node.value, tree)
