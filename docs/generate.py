"""Generates the reference pages from the code. `conf.py` runs it at every build."""

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
    from svcnb.emulator.http.routing import Endpoint

PAGES: dict[str, Callable[[], str]] = {}


def page(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Returns a decorator that registers a page by the name of its file."""

    def register(make: Callable[[], str]) -> Callable[[], str]:
        PAGES[name] = make
        return make

    return register


def write(folder: Path) -> None:
    """Writes all pages.

    Args:
        folder: Target folder; created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(make(), encoding="utf-8")


@page("settings")
def settings() -> str:
    """Returns the page of all settings of the emulator."""
    from svcnb.emulator.settings import ENVIRONMENT_PREFIX, Settings

    rows = [
        (
            f"`{name}`",
            f"`--{name.replace('_', '-')}`",
            f"`{ENVIRONMENT_PREFIX}{name.upper()}`",
            "none" if field.default in (None, ()) else f"`{field.default}`",
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]
    intro = (
        "You can pass a setting as an argument of `svcnb.Emulator`, as an option of `svcnb emulator`, or in an "
        "environment variable. An argument or an option overrides the variable. The names of options contain hyphens "
        f"(`--starter-credits`). The names of variables have the prefix `{ENVIRONMENT_PREFIX}` and upper-case letters "
        f"(`{ENVIRONMENT_PREFIX}STARTER_CREDITS`)."
    )
    told = [
        part
        for name, option, variable, default, what in rows
        for part in (
            f"## {name.strip('`')}",
            f"{what} Option: {option}. Environment variable: {variable}. Default: {default}.",
        )
    ]
    table = _table(("name", "default", "description"), [(name, default, what) for name, _, _, default, what in rows])
    return _document("Settings of the emulator", intro, table, *told)


@page("limits")
def limits() -> str:
    """Returns the page of all numeric limits of the service's interface."""
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
        "This page lists all numeric limits of the service's interface. If a value is a size, a time or an amount of "
        "money, its name contains the unit: `_BYTES`, `_CHARS` (characters), `_S` (seconds), `_MS` (milliseconds) or "
        "`_CENTS`. Most other values are counts. [Limits of the service](../service/limits.md) describes the effect of "
        "the most important limits.",
        _table(("name", "value"), rows),
        "## One run of an action",
        _table(("name", "value", "description"), run),
    )


@page("errors")
def errors() -> str:
    """Returns the page of all error codes and error classes, with the next step for each."""
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
            f"{_first_line(kind.__doc__)} Subclass of `{kind.__bases__[0].__name__}`.",
            getattr(kind, "default_hint", "") or "",
        )
    ]
    codes = [(str(row.status), f"`{row.code}`", row.cause, "yes" if row.retry else "") for row in ERROR_CODES.values()]
    return _document(
        "Errors",
        "This page lists the errors of the service, and the error classes of the client with the next step for each. "
        "In the column *retry*, *yes* means that a later repetition of the same request can succeed.",
        "## Errors of the service",
        _table(("status", "error", "cause", "retry"), codes),
        "## Error classes of the client",
        _table(("error", "description", "next step"), rows),
        "## Details of the error classes",
        *told,
    )


@page("error-messages")
def error_messages() -> str:
    """Returns the page of all messages of the client, the toolkit and the command line, with their fixes."""
    import error_messages as source

    rows = [(_cell(each.text), f"`{each.error}`", _cell(each.fix)) for each in source.messages()]
    intro = (
        "This page lists the error messages of the client, the toolkit, the panels and the command line. In a message, "
        "three dots replace each value that depends on the call. [Errors](errors.md) describes the error classes. "
        "`UsageError`, `BadParameter` and `ClickException` are errors of commands, which print the message."
    )
    return _document("Error messages", intro, _table(("message", "error", "fix or allowed values"), rows))


def _cell(text: str) -> str:
    """Returns the text as code, so that Markdown does not interpret it."""
    return f"``{text}``" if "`" in text else f"`{text}`" if text else ""


@page("exit-codes")
def exit_codes() -> str:
    """Returns the page of the exit codes."""
    import ast

    from svcnb import exit_codes as module

    body = ast.parse(inspect.getsource(module.ExitCode)).body[0]
    if not isinstance(body, ast.ClassDef):
        raise TypeError("ExitCode is not a class")
    texts = [
        node.value.value for node in body.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    rows = [(f"{code.value}", str(text)) for code, text in zip(module.ExitCode, texts[1:], strict=True)]
    return _document("Exit codes", "Every command exits with one of these codes.", _table(("code", "meaning"), rows))


@page("commands")
def commands() -> str:
    """Returns the page of all commands with their help texts."""
    from svcnb.cli._root import cli

    root = click.Context(cli, info_name="svcnb", terminal_width=90, help_option_names=["-h", "--help"])
    parts = [
        f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```" for context, command in _walk(root)
    ]
    return _document("Commands", "This page contains the help text of every command.", *parts)


@page("routes")
def routes() -> str:
    """Returns the page of all HTTP routes, with the differences between the emulator and the service."""
    described = openapi()
    schemas = described["components"]["schemas"]
    rows = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            state, why = ("partial", PARTLY[path]) if path in PARTLY else ("complete", "")
            if operation.get("deprecated"):
                why = "deprecated"
            rows.append((operation["tags"][0], method.upper(), path, operation, state, why))
    parts = [
        _table(
            ("method", "path", "state", "difference"),
            [(f"`{method}`", f"`{path}`", state, why) for _, method, path, _, state, why in rows],
        ),
        "## Not available in the emulator",
        _table(
            ("feature of the service", "alternative"),
            NOT_EMULATED.items(),
        ),
    ]
    for tag in dict.fromkeys(row[0] for row in rows):
        parts.append(f"## {tag}")
        for mine, method, path, operation, state, why in rows:
            if mine == tag:
                parts += [f"### {method} `{path}`", *_operation(operation, state, why, schemas)]
    intro = (
        "This page lists the parameters, fields and errors of every endpoint. It is generated from the description "
        "that the emulator serves at `/core/v1/openapi.json`. `svcnb doctor --live` compares this description with a "
        "live service. In the column *state*, *complete* means that requests, responses, errors, the order of checks, "
        "and prices are the same as in the service. *Partial* means that the endpoint differs from the service as the "
        "last column states. [The service](../service/index.md) explains the rules."
    )
    return _document("HTTP routes", intro, *parts)


PARTLY = {
    "/core/v1/svc_action": "actions can import only local packages (setting `action_packages`), not packages of a CDN",
    "/core/v1/billing/create_payment_intent": "the payment processor of the emulator uses play money",
    "/core/v1/billing/confirm_payment": "the emulator checks the payment with its own payment processor",
    "/api/triggers": "chain events come from the emulator's own chain, unless you set an RPC address",
}
"""Routes whose implementation differs from that of the service, with the difference."""

NOT_EMULATED = {
    "attestation of the execution environment": "none, because a local process is not a trusted environment",
    "the pages of the dashboard": "notebooks, panels and the payment page",
    "the API of the payment processor": "`/processor/v1/payment_intents/...`, which supports only payments",
}
"""Features of the service that the emulator does not have, with alternatives."""


def openapi() -> dict[str, Any]:
    """Returns the OpenAPI description that an emulator with default settings serves."""
    from svcnb.emulator.http.openapi import describe
    from svcnb.protocol.vocabulary import Vocabulary

    return describe(_endpoints(), Vocabulary())


@functools.cache
def _endpoints() -> list[Endpoint]:
    from svcnb.emulator.areas import first_endpoints, other_endpoints
    from svcnb.emulator.http.body import ToleratedRequests
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    service = Service(Settings.load({}))
    first = first_endpoints(service)
    found = [*first, *other_endpoints(service, first, ToleratedRequests())]
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
        parts.append(_table(("parameter", "in", "type", "description"), rows))
    if body := operation.get("requestBody"):
        parts += _body("Body", body["content"], schemas)
    answers = operation["responses"]
    for status, answer in answers.items():
        if status.startswith("2"):
            parts += _body(f"Response {status}", answer.get("content", {}), schemas)
    failures = [
        (status, _first_line(answer.get("description")))
        for status, answer in answers.items()
        if not status.startswith("2")
    ]
    parts.append(_table(("error status", "cause"), failures))
    return parts


def _body(title: str, content: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Returns the fields of a JSON body, or the type of any other value."""
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
    return [f"{title}: {kind}.", _table(("field", "type", "required", "description"), rows)]


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Returns the type of a JSON value in words, for example ``list of string`` or ``integer or null``."""
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
    """Returns the page of the routes of the control plane."""
    rows = [
        (f"`{row.method}`", f"`{row.path}`", _first_line(row.handler.__doc__))
        for row in _endpoints()
        if row.path.startswith("/_emulator")
    ]
    intro = (
        "These routes control the time, faults, credit and snapshots of the emulator. `svcnb.Emulator` has a method "
        "for each route. A live service does not have these routes."
    )
    return _document("Control plane", intro, _table(("method", "path", "effect"), rows))


@page("magics")
def magics() -> str:
    """Returns the page of the IPython magics, with their help texts."""
    from IPython.testing.globalipapp import start_ipython

    from svcnb.magics import CELL, LINE, load

    shell = start_ipython()
    load(shell)
    parts = []
    for kind, name, sign in (("line", LINE, "%"), ("cell", CELL, "%%")):
        function = shell.magics_manager.magics[kind][name]
        parts += [f"## `{sign}{name}`", f"```text\n{inspect.getdoc(function)}\n```"]
    return _document("Magics", "To load the magics into a notebook, run `%load_ext svcnb`.", *parts)


def _register_reference() -> None:
    import reference

    for name in reference.MODULES:
        PAGES[f"api/{name}"] = functools.partial(reference.module_page, name)
    PAGES["api/resources"] = reference.resources_page
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
    """Returns the descriptions of the attributes in a class docstring, by name."""
    _, _, told = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    lines = (line.strip() for line in told.partition("\n\n")[0].splitlines())
    return {name: text.strip() for name, colon, text in (line.partition(":") for line in lines) if colon}


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _document(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"
