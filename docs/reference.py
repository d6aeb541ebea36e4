"""Generates the reference of the Python API from docstrings, with a heading for each name, method and property."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from textwrap import dedent
from types import ModuleType
from typing import Any, Final

from svcnb.client import models
from svcnb.client.models.base import Model

MODULES: Final = {
    "svcnb": "Package svcnb",
    "svcnb.charts": "Charts",
    "svcnb.panels": "Panels",
    "svcnb.reports": "Reports",
    "svcnb.testing": "Tests of actions",
    "svcnb.toolkit.cost": "Cost",
    "svcnb.toolkit.drift": "Differences from a live service",
    "svcnb.toolkit.exercises": "Exercises",
    "svcnb.toolkit.history": "History",
    "svcnb.toolkit.lint": "Linter",
    "svcnb.toolkit.cookbook": "Recipes",
    "svcnb.toolkit.permission_audit": "Permission audit",
    "svcnb.toolkit.permissions": "Permission matrix",
    "svcnb.toolkit.plan": "Plan and apply",
    "svcnb.toolkit.run_feed": "Runs of a service",
    "svcnb.toolkit.templates": "Templates",
    "svcnb.toolkit.trigger_health": "Health of triggers",
    "svcnb.workshop": "Workshop",
}
"""Modules for users, with their titles."""

RESOURCES: Final = (
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
"""Classes of attributes such as ``svc.groups`` and ``emulator.clock``; users do not import them."""

RESULTS: Final = (
    "svcnb.client.listing.Listing",
    "svcnb.client.batch.Batch",
    "svcnb.client.batch.AsyncBatch",
    "svcnb.client.raw_response.RawResponse",
)
"""Results that are not models."""

RESULT_MODULES: Final = (
    *(f"svcnb.client.models.{each.name}" for each in iter_modules(models.__path__)),
    "svcnb.client.chain.history",
    "svcnb.client.chain_secured.models",
    "svcnb.client.chain_secured.pending",
)
"""Modules whose models are results of a client's methods."""

LINE: Final = 92
"""Maximum length of a signature on one line, in characters."""

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example|Examples|Note):{1,2}$")


def public(module: ModuleType) -> dict[str, Any]:
    """Returns the names in the module's ``__all__``, or else its classes and functions without an underscore."""
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
    """Returns the page of one module."""
    module = import_module(name)
    # The names below are complete, so Sphinx must not add a module to them.
    module_target = target("module", name) + "\n```{py:currentmodule} None\n```"
    parts = [f"# {name}", module_target, prose(inspect.getdoc(module))]
    for title, value in sorted(public(module).items(), key=lambda item: item[0].lower()):
        parts += entry(f"{name}.{title}", f"{name}.{title}", value)
    return "\n\n".join(filter(None, parts)) + "\n"


def resources_page() -> str:
    """Returns the page of the classes of client and emulator attributes, such as ``svc.groups``."""
    parts = [
        "# Resources of a client and an emulator",
        "This page describes the classes of attributes such as `svc.groups` (of a client) and `emulator.clock`.",
    ]
    for path in RESOURCES:
        parts += entry(path.rpartition(".")[2], path, found(path))
    return "\n\n".join(parts) + "\n"


def results_page() -> str:
    """Returns the page of the results of a client's methods."""
    parts = [
        "# Results",
        "The methods of a client return objects of these classes. Import a class only for type annotations.",
    ]
    for path in sorted((*RESULTS, *result_models()), key=lambda path: path.rpartition(".")[2]):
        parts += entry(path.rpartition(".")[2], path, found(path))
    return "\n\n".join(filter(None, parts)) + "\n"


def result_models() -> Iterable[str]:
    """Yields the paths of the models in `RESULT_MODULES`."""
    for module in RESULT_MODULES:
        for name, value in public(import_module(module)).items():
            if inspect.isclass(value) and issubclass(value, Model) and value.__module__ == module:
                yield f"{module}.{name}"


def found(path: str) -> Any:
    """Returns the class with this path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def target(kind: str, path: str) -> str:
    """Returns an entry of ``objects.inv``, to which other projects can link. It is not visible on the page.

    Args:
        kind: Kind of object in Sphinx's domain for Python, for example ``class``.
        path: Module and name.
    """
    return f"```{{py:{kind}}} {path}\n:no-typesetting:\n:no-contents-entry:\n```"


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def entry(name: str, path: str, value: Any) -> Iterable[str]:
    """Yields the heading, signature and docstring of a name, and of the members of a class.

    Args:
        name: Heading of the entry.
        path: Module and name, to which other projects link.
        value: The object with this name.
    """
    yield f"## `{name}`"
    if not inspect.ismodule(value):
        yield target(_kind(value), path)
    if inspect.ismodule(value):
        yield prose(inspect.getdoc(value))
        return
    if not callable(value):
        yield prose(data_text(path.rpartition(".")[2], value))
        return
    yield signature(name.rpartition(".")[2], value)
    yield prose(inspect.getdoc(value))
    if inspect.isclass(value) and issubclass(value, Model):
        listed = list(fields(value))
        yield "\n".join(target("attribute", f"{path}.{field}") for field, _, _ in listed)
        yield "\n".join(f"- `{field}: {kind}`{': ' if told else ''}{prose(told)}" for field, kind, told in listed)
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for member, inner in members(value):
            yield f"### `{value.__name__}.{member}`"
            yield target("method" if callable(inner) else "property", f"{path}.{member}")
            if callable(inner):
                yield signature(member, inner)
            yield prose(inspect.getdoc(inner))


def data_text(name: str, value: Any) -> str:
    """Returns the string below the assignment of a module's variable, or an empty string."""
    for module in [each for title, each in sys.modules.items() if title.startswith("svcnb.")]:
        if vars(module).get(name) is not value:
            continue
        body = ast.parse(inspect.getsource(module)).body
        for node, after in itertools.pairwise(body):
            given = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(given, ast.Name) and given.id == name and isinstance(after, ast.Expr):
                return str(after.value.value) if isinstance(after.value, ast.Constant) else ""
    return ""


def fields(kind: type[Model]) -> Iterable[tuple[str, str, str]]:
    """Yields the name, type and description of each field of a model. The description is the string below the field."""
    for base in reversed(kind.__mro__):
        if base is Model or not issubclass(base, Model):
            continue
        body = ast.parse(dedent(inspect.getsource(base))).body[0]
        if not isinstance(body, ast.ClassDef):
            raise TypeError(f"{base} is not a class")
        for node, after in zip(body.body, [*body.body[1:], None], strict=True):
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            if node.target.id not in kind.model_fields:
                continue
            told = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                told = str(after.value.value)
            yield node.target.id, ast.unparse(node.annotation), " ".join(told.split())


def members(kind: type) -> Iterable[tuple[str, Any]]:
    """Yields the public methods and properties of a class and of its bases, if they belong to this package."""
    seen = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("svcnb"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            told = inspect.isfunction(inner) or isinstance(inner, property) or hasattr(inner, "attrname")
            own = getattr(inner, "__module__", base.__module__).startswith("svcnb")  # pydantic adds some
            if told and own and inspect.getdoc(inner):
                seen.add(name)
                yield name, inner


def signature(name: str, value: Any) -> str:
    """Returns a signature as Python, or an empty string if it is not readable. A long signature has several lines."""
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


_CITATION: Final = re.compile(r"docs/service/([\w-]+)\.md#([\w-]+)")
"""A reference to a heading of the pages about the service."""


def prose(text: str | None) -> str:
    """Returns a docstring as Markdown, with sections as lists, examples as code, and citations as links."""
    return _CITATION.sub(_link, _sections(text))


def _link(found: re.Match[str]) -> str:
    page, anchor = found.groups()
    return f"[{anchor.replace('-', ' ')}](../../service/{page}.md#{anchor})"


def _sections(text: str | None) -> str:
    lines: list[str] = []
    code = False

    def end() -> None:
        while code and lines and not lines[-1]:
            lines.pop()  # the empty lines at the end of an example
        lines.extend(["```", ""] if code else [])

    for line in (text or "").splitlines():
        stripped = line.strip()
        if found := _SECTION.match(stripped):
            end()
            code = found[1].startswith("Example")
            lines += ["", f"**{found[1]}**", ""] + (["```text"] if code else [])
        elif code and stripped and not line.startswith(" "):
            end()
            lines.append(line)
            code = False
        elif code:
            lines.append("" if stripped in {"::", "<BLANKLINE>"} else line[4:])
        elif re.match(r" {4}\w[\w.*]*( \([^)]*\))?: ", line) or (line.startswith("    *") and ":" in line):
            word, _, rest = stripped.partition(": ")
            lines.append(f"- `{word}`: {rest}")
        elif line.startswith("        "):
            lines.append(f"  {stripped}")
        else:
            lines.append(stripped.replace("::", ":") if stripped.endswith("::") else stripped)
    end()
    return "\n".join(lines).strip()
