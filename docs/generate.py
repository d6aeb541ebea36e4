"""Reference pages derived from the code, so that they cannot be stale. Run by conf.py at every build."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path

import click

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
        folder: Where to; made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
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
        "A setting comes from the argument of `svcnb.Emulator` or the option of `svcnb emulator`, else from the "
        "environment, else its default."
    )
    return _document(
        "Settings of the emulator", intro, _table(("name", "option", "environment", "default", "what"), rows)
    )


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
    run = [
        (f"`{field.name}`", f"`{field.default}`", told[field.name])
        for field in dataclasses.fields(numbers.ActionLimits)
    ]
    return _document(
        "Limits",
        "The numbers of the interface; units stand in the names.",
        _table(("name", "value"), rows),
        "## One execution of an action",
        _table(("name", "value", "what"), run),
    )


@page("errors")
def errors() -> str:
    """Every error of the client, with the step that follows it."""
    from svcnb import launch, lessons  # noqa: F401 - their errors belong to the same tree
    from svcnb.client.errors import SvcnbError
    from svcnb.protocol.error_codes import ERROR_CODES

    rows = [
        (f"`{kind.__name__}`", _first_line(kind.__doc__), str(getattr(kind, "default_hint", "")))
        for kind in _tree(SvcnbError)
    ]
    codes = [(str(row.status), f"`{row.code}`", row.cause, "yes" if row.retry else "") for row in ERROR_CODES.values()]
    return _document(
        "Errors",
        "## What the service answers",
        _table(("status", "error", "cause", "may succeed later"), codes),
        "## What the client raises",
        _table(("error", "what happened", "next step"), rows),
    )


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

    root = click.Context(cli, info_name="svcnb", terminal_width=90)
    parts = [
        f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```" for context, command in _walk(root)
    ]
    return _document("Commands", "", *parts)


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
