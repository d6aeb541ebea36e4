"""The reference of the Python API, made from docstrings: one heading for each public name, method and property."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any, Final

MODULES: Final = {
    "svcnb": "The package itself",
    "svcnb.charts": "Charts",
    "svcnb.panels": "Panels",
    "svcnb.reports": "Reports",
    "svcnb.testing": "Testing actions",
    "svcnb.toolkit.cost": "Cost",
    "svcnb.toolkit.exercises": "Exercises",
    "svcnb.toolkit.history": "History",
    "svcnb.toolkit.lint": "Linter",
    "svcnb.toolkit.cookbook": "Recipes",
    "svcnb.toolkit.plan": "Plan and apply",
    "svcnb.toolkit.templates": "Templates",
    "svcnb.workshop": "Workshop",
}
"""Modules that people import, and what to call them."""

NOUNS: Final = (
    "svcnb.client.resources.accounts.Accounts",
    "svcnb.client.resources.actions.Actions",
    "svcnb.client.resources.billing.Billing",
    "svcnb.client.resources.groups.Groups",
    "svcnb.client.resources.node.Node",
    "svcnb.client.resources.usage_keys.UsageKeys",
    "svcnb.client.resources.wallets.Wallets",
    "svcnb.client.chain_secured.namespace.ChainSecured",
    "svcnb.client.chain_secured.account.ChainSecuredAccount",
    "svcnb.control.emulator.EmulatorControl",
    "svcnb.control.clock.ClockControl",
    "svcnb.control.faults.FaultControl",
)
"""Classes that nobody imports and everybody uses: ``svc.groups``, ``emulator.clock``."""

LINE: Final = 92
"""Longest signature in one line, which the pages show whole."""

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example|Examples|Note):{1,2}$")


def public(module: ModuleType) -> dict[str, Any]:
    """What a module offers: its ``__all__``, else what it defines without an underscore."""
    if (listed := getattr(module, "__all__", None)) is not None:
        return {name: getattr(module, name) for name in listed}
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    }


def module_page(name: str) -> str:
    """The page of one module."""
    module = import_module(name)
    parts = [f"# {name}", prose(inspect.getdoc(module))]
    for title, value in sorted(public(module).items(), key=lambda item: item[0].lower()):
        parts += entry(f"{name}.{title}", value)
    return "\n\n".join(filter(None, parts)) + "\n"


def nouns_page() -> str:
    """The page of the classes behind a client's and an emulator's attributes."""
    parts = ["# Nouns of a client and an emulator", "What stands behind `svc.groups`, `emulator.clock` and their like."]
    for path in NOUNS:
        module, _, name = path.rpartition(".")
        parts += entry(name, getattr(import_module(module), name))
    return "\n\n".join(parts) + "\n"


def entry(name: str, value: Any) -> Iterable[str]:
    """Heading, signature and docstring of one name; for a class those of its members, too."""
    yield f"## `{name}`"
    if inspect.ismodule(value):
        yield prose(inspect.getdoc(value))
        return
    if callable(value):
        yield signature(name.rpartition(".")[2], value)
    elif not callable(value):
        return
    yield prose(inspect.getdoc(value))
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for member, inner in members(value):
            yield f"### `{value.__name__}.{member}`"
            if callable(inner):
                yield signature(member, inner)
            yield prose(inspect.getdoc(inner))


def members(kind: type) -> Iterable[tuple[str, Any]]:
    """Public methods and properties that our own classes define, those of its bases included."""
    seen = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("svcnb"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            told = inspect.isfunction(inner) or isinstance(inner, property) or hasattr(inner, "attrname")
            if told and inspect.getdoc(inner):
                seen.add(name)
                yield name, inner


def signature(name: str, value: Any) -> str:
    """A name and its parameters as Python, one a line where they are many; empty when they cannot be told."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [parameter for parameter in found.parameters.values() if parameter.name not in {"self", "cls"}]
    silent = inspect.isclass(value) or found.return_annotation is found.empty
    result = "" if silent else f" -> {_type(found.return_annotation)}"
    words = list(_words(shown))
    line = f"{name}({', '.join(words)}){result}"
    if len(line) > LINE:
        line = "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){result}"])
    return f"```python\n{line}\n```"


def _words(parameters: Iterable[inspect.Parameter]) -> Iterable[str]:
    before = None
    for parameter in parameters:
        kind = parameter.kind
        if before is parameter.POSITIONAL_ONLY and kind is not before:
            yield "/"
        if kind is parameter.KEYWORD_ONLY and before not in {kind, parameter.VAR_POSITIONAL}:
            yield "*"
        before = kind
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        typed = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        yield f"{stars}{parameter.name}{typed}{default}"
    if before is inspect.Parameter.POSITIONAL_ONLY:
        yield "/"


def _type(annotation: Any) -> str:
    told = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"<[^>]*>", "...", told)


def _default(value: Any) -> str:
    return re.sub(r"<[^>]*>", "...", repr(value))


def prose(text: str | None) -> str:
    """A docstring as Markdown: sections become lists, examples become code."""
    lines: list[str] = []
    code = False
    for line in (text or "").splitlines():
        stripped = line.strip()
        if found := _SECTION.match(stripped):
            lines += _end(code=code)
            code = found[1].startswith("Example")
            lines += ["", f"**{found[1]}**", ""] + (["```text"] if code else [])
        elif code and stripped and not line.startswith(" "):
            lines += [*_end(code=code), line]
            code = False
        elif code:
            lines.append(line[4:] if stripped != "::" else "")
        elif re.match(r" {4}\w[\w.*]*( \([^)]*\))?: ", line) or (line.startswith("    *") and ":" in line):
            word, _, rest = stripped.partition(": ")
            lines.append(f"- `{word}`: {rest}")
        elif line.startswith("        "):
            lines.append(f"  {stripped}")
        else:
            lines.append(stripped.replace("::", ":") if stripped.endswith("::") else stripped)
    lines += _end(code=code)
    return "\n".join(lines).strip()


def _end(*, code: bool) -> list[str]:
    return ["```", ""] if code else []
