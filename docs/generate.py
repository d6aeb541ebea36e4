"""Reference pages derived from the code, so that they cannot be stale. Run by conf.py at every build."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from svcnb.emulator.http.endpoint import Endpoint

PAGES: dict[str, Callable[[], str]] = {}


def page(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Registers a page by the name of its file."""

    def register(make: Callable[[], str]) -> Callable[[], str]:
        PAGES[name] = make
        return make

    return register


def write(folder: Path) -> None:
    """Writes every page.

    Args:
        folder: Target folder; created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(make(), encoding="utf-8")


@page("settings")
def settings() -> str:
    """Every setting of the emulator."""
    from svcnb.emulator.settings import ENVIRONMENT_PREFIX, Settings

    rows = [
        (
            f"`{name}`",
            f"`--{name.replace('_', '-')}`",
            f"`{ENVIRONMENT_PREFIX}{name.upper()}`",
            "none" if field.default is None else f"`{field.default}`",
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]
    intro = (
        "A setting is read from the argument of `svcnb.Emulator` or the option of `svcnb emulator`. Otherwise it is "
        "read from the environment, and otherwise the default holds. The option is the name with hyphens "
        f"(`--starter-credits`). The variable is `{ENVIRONMENT_PREFIX}` and the name in capitals "
        f"(`{ENVIRONMENT_PREFIX}STARTER_CREDITS`)."
    )
    told = [
        part
        for name, option, variable, default, what in rows
        for part in (f"## {name.strip('`')}", f"{what} Option {option}, environment {variable}, default {default}.")
    ]
    table = _table(("name", "default", "what"), [(name, default, what) for name, _, _, default, what in rows])
    return _document("Settings of the emulator", intro, table, *told)


@page("limits")
def limits() -> str:
    """Every number of the interface."""
    from svcnb.protocol import limits as numbers

    rows = [
        (f"`{name}`", f"`{value}`")
        for name, value in vars(numbers).items()
        if name.isupper() and isinstance(value, (int, float, tuple))
    ]
    told = _attributes(numbers.ActionLimits)
    run = [(f"`{name}`", f"`{default}`", told[name]) for name, default in numbers.ActionLimits._field_defaults.items()]
    return _document(
        "Limits",
        "All numeric limits of the interface. The names contain the units. [Limits of the service]"
        "(../service/limits.md) says what happens beyond the important ones.",
        _table(("name", "value"), rows),
        "## One execution of an action",
        _table(("name", "value", "what"), run),
    )


@page("errors")
def errors() -> str:
    """Every error of the client, with the step that follows it."""
    import reference

    for name in reference.MODULES:  # the error classes of all packages form one tree
        import_module(name)
    from svcnb.client.errors import SvcnbError
    from svcnb.protocol.error_codes import ERROR_CODES

    kinds = list(dict.fromkeys(_tree(SvcnbError)))
    rows = [
        (f"`{kind.__name__}`", _first_line(kind.__doc__), str(getattr(kind, "default_hint", "") or ""))
        for kind in kinds
    ]
    told = [
        part
        for kind in kinds
        for part in (
            f"### {kind.__name__}",
            f"{_first_line(kind.__doc__)} A kind of `{kind.__bases__[0].__name__}`.",
            getattr(kind, "default_hint", "") or "",
        )
    ]
    codes = [(str(row.status), f"`{row.code}`", row.cause, "yes" if row.retry else "") for row in ERROR_CODES.values()]
    return _document(
        "Errors",
        "## What the service answers",
        _table(("status", "error", "cause", "may succeed later"), codes),
        "## What the client raises",
        _table(("error", "what happened", "next step"), rows),
        "## One by one",
        *told,
    )


@page("error-messages")
def error_messages() -> str:
    """Every message of the client, the toolkit and the command line, with its fix."""
    import error_messages as source

    rows = [(_cell(each.text), f"`{each.error}`", _cell(each.fix)) for each in source.messages()]
    intro = (
        "This page lists the messages of the client, the toolkit, the panels and the command line. Three dots "
        "replace a value. [Errors](errors.md) describes the classes. Commands print the messages of `UsageError`, "
        "`BadParameter` and `ClickException`."
    )
    return _document("Error messages", intro, _table(("message", "error", "fix"), rows))


def _cell(text: str) -> str:
    """Text that Markdown does not interpret."""
    return f"``{text}``" if "`" in text else f"`{text}`" if text else ""


@page("exit-codes")
def exit_codes() -> str:
    """How a command ends."""
    import ast

    from svcnb import exit_codes as module

    body = ast.parse(inspect.getsource(module.ExitCode)).body[0]
    if not isinstance(body, ast.ClassDef):
        raise TypeError("ExitCode is a class")
    texts = [
        node.value.value for node in body.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    rows = [(f"{code.value}", str(text)) for code, text in zip(module.ExitCode, texts[1:], strict=True)]
    return _document("Exit codes", "", _table(("code", "what happened"), rows))


@page("commands")
def commands() -> str:
    """Every command with its own help text."""
    from svcnb.cli._root import cli

    root = click.Context(cli, info_name="svcnb", terminal_width=90, help_option_names=["-h", "--help"])
    parts = [
        f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```" for context, command in _walk(root)
    ]
    return _document("Commands", "", *parts)


@page("routes")
def routes() -> str:
    """Every route of the emulator's description, and how faithfully it is imitated."""
    described = openapi()
    schemas = described["components"]["schemas"]
    rows = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            state, why = ("partly", PARTLY[path]) if path in PARTLY else ("imitated", "")
            if operation.get("deprecated"):
                why = "deprecated"
            rows.append((operation["tags"][0], method.upper(), path, operation, state, why))
    parts = [
        _table(
            ("method", "path", "", "what differs"),
            [(f"`{method}`", f"`{path}`", state, why) for _, method, path, _, state, why in rows],
        ),
        "## Not imitated",
        _table(("what", "instead"), [(f"`{what}`", instead) for what, instead in NOT_IMITATED.items()]),
    ]
    for tag in dict.fromkeys(row[0] for row in rows):
        parts.append(f"## {tag}")
        for mine, method, path, operation, state, why in rows:
            if mine == tag:
                parts += [f"### {method} `{path}`", *_operation(operation, state, why, schemas)]
    intro = (
        "This page lists parameters, members and errors of every endpoint. It is generated from the description that "
        "the emulator serves at `/core/v1/openapi.json`. `svcnb doctor --live` compares that description with a live "
        "service. *Imitated* means that request, answer, errors, order of checks and price are those of the service. "
        "[The service](../service/index.md) explains the rules."
    )
    return _document("HTTP routes", intro, *parts)


PARTLY = {
    "/core/v1/svc_action": "imports resolve to local packages only (`action_packages`), not to a CDN",
    "/core/v1/billing/create_payment_intent": "the emulator's payment processor takes play money",
    "/core/v1/billing/confirm_payment": "asks the emulator's payment processor",
    "/api/triggers": "chain events come from the built-in chain unless an RPC is set",
}
"""Routes that differ from the service in how they are implemented."""

NOT_IMITATED = {
    "the attestation of the execution environment": "none: a local process is not a trusted execution environment",
    "the dashboard's pages": "notebooks, panels and the payment page",
    "the processor's own API": "`/processor/v1/payment_intents/...`, just enough to pay",
}
"""What the emulator does not have, and what to use."""


def openapi() -> dict[str, Any]:
    """The description that an emulator with default settings serves."""
    from svcnb.emulator.http.openapi import describe
    from svcnb.protocol.vocabulary import Vocabulary

    return describe(_endpoints(), Vocabulary())


@functools.cache
def _endpoints() -> list[Endpoint]:
    from svcnb.emulator.areas import first_endpoints, other_endpoints
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    service = Service(Settings.load({}))
    first = first_endpoints(service)
    found = [*first, *other_endpoints(service, first)]
    asyncio.run(service.stop())
    return found


def _operation(operation: dict[str, Any], state: str, why: str, schemas: dict[str, Any]) -> list[str]:
    says = _first_line(operation.get("summary") or operation.get("description"))
    parts = [f"{says} *{state.capitalize()}*{': ' + why if why else ''}."]
    if credentials := [name for each in operation["security"] for name in each]:
        parts.append(f"Credential: {' or '.join(f'`{name}`' for name in credentials)}.")
    if given := [each for each in operation.get("parameters", ()) if "name" in each]:
        rows = [
            (f"`{each['name']}`", each["in"], _type(each["schema"], schemas), _first_line(each.get("description")))
            for each in given
        ]
        parts.append(_table(("parameter", "in", "type", "what"), rows))
    if body := operation.get("requestBody"):
        parts += _body("Body", body["content"], schemas)
    answers = operation["responses"]
    for status, answer in answers.items():
        if status.startswith("2"):
            parts += _body(f"Answer {status}", answer.get("content", {}), schemas)
    failures = [
        f"{status} {_first_line(answer.get('description'))}".rstrip(".")
        for status, answer in answers.items()
        if not status.startswith("2")
    ]
    parts.append("Errors: " + "; ".join(failures) + ".")
    return parts


def _body(title: str, content: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """The members of a JSON body; for any other value its type."""
    schema = next((each["schema"] for each in content.values() if "schema" in each), None)
    if schema is None:
        return [f"{title}: none."]
    kind = _type(schema, schemas)
    found = _resolved(schema, schemas)
    if found.get("type") == "array":
        found = _resolved(found.get("items", {}), schemas)
    members = found.get("properties", {})
    if not members:
        return [f"{title}: {kind}."]
    needed = found.get("required", ())
    rows = [
        (
            f"`{name}`",
            _type(member, schemas),
            "yes" if name in needed else "",
            " ".join(str(member.get("description", "")).split()),
        )
        for name, member in members.items()
    ]
    return [f"{title}: {kind}.", _table(("member", "type", "required", "what"), rows)]


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The type of a JSON value in words: ``list of string``, ``integer or null``."""
    if "$ref" in schema:
        inner = _resolved(schema, schemas)
        return "object" if inner.get("properties") else _type(inner, schemas)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(each, schemas) for each in choices))
    if schema.get("enum"):
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any JSON value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), schemas)}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


@page("control")
def control() -> str:
    """The routes of the control plane."""
    rows = [
        (f"`{row.method}`", f"`{row.path}`", _first_line(row.handler.__doc__))
        for row in _endpoints()
        if row.path.startswith("/_emulator")
    ]
    intro = (
        "Time, faults, credit and snapshots of the emulator. `svcnb.Emulator` has a method for each. A live service "
        "does not have these routes."
    )
    return _document("Control plane", intro, _table(("method", "path", "what"), rows))


@page("magics")
def magics() -> str:
    """The magics, with their own help."""
    from IPython.testing.globalipapp import start_ipython

    from svcnb.magics import CELL, LINE, load

    shell = start_ipython()
    load(shell)
    parts = []
    for kind, name, sign in (("line", LINE, "%"), ("cell", CELL, "%%")):
        function = shell.magics_manager.magics[kind][name]
        parts += [f"## `{sign}{name}`", f"```text\n{inspect.getdoc(function)}\n```"]
    return _document("Magics", "`%load_ext svcnb` loads the magics.", *parts)


def _register_reference() -> None:
    import reference

    for name in reference.MODULES:
        PAGES[f"api/{name}"] = functools.partial(reference.module_page, name)
    PAGES["api/nouns"] = reference.nouns_page
    PAGES["api/results"] = reference.results_page


_register_reference()


def _walk(context: click.Context) -> Iterable[tuple[click.Context, click.Command]]:
    yield context, context.command
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            inner = context.command.get_command(context, name)
            if inner is not None:
                yield from _walk(click.Context(inner, info_name=name, parent=context, terminal_width=90))


def _tree(kind: type[Exception]) -> Iterable[type[Exception]]:
    yield kind
    for inner in sorted(kind.__subclasses__(), key=lambda each: each.__name__):
        yield from _tree(inner)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _attributes(kind: type) -> dict[str, str]:
    """What a class says of its attributes, by name."""
    _, _, told = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    lines = (line.strip() for line in told.partition("\n\n")[0].splitlines())
    return {name: text.strip() for name, colon, text in (line.partition(":") for line in lines) if colon}


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _document(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"
