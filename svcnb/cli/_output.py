"""How commands show results: JSON for programs, short lines for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from svcnb.protocol.text import escaped_json

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """The option ``--json`` of every command that reads."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def show(value: object, *, as_json: bool) -> None:
    """Prints a result.

    Args:
        value: A model, a mapping, a list of them, or a plain value.
        as_json: As one JSON document.
    """
    plain = jsonable(value)
    if as_json:
        click.echo(json_text(plain, indent=2))
    elif isinstance(plain, list):
        for line in _table(plain):
            click.echo(line)
        if not plain:
            click.echo("There are none.", err=True)  # silence would look like a failure
    elif isinstance(plain, dict):
        width = max((len(name) for name in plain), default=0)
        for name, entry in plain.items():
            several = isinstance(entry, list) and all(isinstance(each, dict) for each in entry)
            first, *more = (_table(entry) or ["-"]) if several else [_line(entry)]
            click.echo(f"{name:<{width}}  {first}".rstrip())
            for line in more:
                click.echo(f"{'':<{width}}  {line}")
    else:
        click.echo(_line(plain))


def json_text(value: object, indent: int | None = None) -> str:
    """Returns JSON in which characters that could control a terminal are escaped.

    Args:
        value: JSON values.
        indent: Spaces of each level; one line when None.
    """
    return escaped_json(json.dumps(value, indent=indent, ensure_ascii=False))


def jsonable(value: object) -> Any:
    """A result as JSON values; secrets stay masked."""
    fields = getattr(type(value), "model_fields", None)
    if fields is not None:
        return {name: jsonable(getattr(value, name)) for name in fields}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): jsonable(entry) for name, entry in value.items()}
    if isinstance(value, Iterable):
        return [jsonable(entry) for entry in value]
    return str(value)


class Noun(click.Group):
    """A group of commands whose list tells each one's first sentence whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list; click would cut the sentences at the edge of the terminal."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, each.get_short_help_str(limit=1000)) for name, each in found if each is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _table(entries: Sequence[Any]) -> list[str]:
    """Lines with their columns under each other; a terminal, where a person reads, gets their names above."""
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return [_line(entry) for entry in entries]
    names = [name for name in entries[0] if any(entry.get(name) not in (None, "") for entry in entries)]
    rows = [["" if entry.get(name) is None else _cell(entry[name]) for name in names] for entry in entries]
    if sys.stdout.isatty():
        rows.insert(0, [name.upper().replace("_", " ") for name in names])
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    return ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: object) -> str:
    return " ".join(_line(value).splitlines())


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(str(entry) for entry in value.values() if entry not in (None, ""))
    if isinstance(value, list):
        return json_text(value)
    return str(value)
