"""How commands show results: JSON for programs, short lines for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

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
        click.echo(json.dumps(plain, indent=2, ensure_ascii=False))
    elif isinstance(plain, list):
        for entry in plain:
            click.echo(_line(entry))
    elif isinstance(plain, dict):
        width = max((len(name) for name in plain), default=0)
        for name, entry in plain.items():
            click.echo(f"{name:<{width}}  {_line(entry)}")
    else:
        click.echo(_line(plain))


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


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(str(entry) for entry in value.values() if entry not in (None, ""))
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
