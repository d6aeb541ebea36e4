"""Output of commands, with tables for people, JSON and CSV for programs, and only identifiers for pipes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Any, Final, TypeVar

import click

from svcnb.protocol.text import escaped_json

F = TypeVar("F", bound=Callable[..., Any])

_FORMAT: Final = "svcnb.output"
_QUIET: Final = "svcnb.quiet"
_IDENTIFIERS: Final = (
    *("wallet_address", "id", "hash", "api_key_hash", "address", "cid", "hashed_cid", "request_id", "what", "name"),
    *("file", "folder", "event", "status"),
)
"""Fields that identify an entry. ``--quiet`` prints the first of these fields that an entry has."""


def output_options(command: F) -> F:
    """Decorator that adds ``--output``, ``--json`` (short for ``--output json``) and ``--quiet``.

    The command receives the argument ``as_json``. It is True for JSON and CSV. The command must then pass all fields of
    its result to `show`.
    """

    @click.option(
        "--output",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="Output format: a table, a JSON document, or CSV with the JSON fields as columns.",
    )
    @click.option("--json", "json_flag", is_flag=True, help="Same as --output json.")
    @click.option("-q", "--quiet", is_flag=True, help="Print only identifiers, one per line.")
    @wraps(command)
    def inner(*given: Any, output: str, json_flag: bool, quiet: bool, **options: Any) -> Any:
        chosen = "json" if json_flag else output
        if quiet and chosen != "table":
            raise click.UsageError(f"--quiet and --output {chosen} are mutually exclusive: pass only one of them")
        meta = click.get_current_context().meta
        meta[_FORMAT], meta[_QUIET] = chosen, quiet
        return command(*given, as_json=chosen != "table", **options)

    return inner  # type: ignore[return-value] # the same command with other options


def quiet() -> bool:
    """Returns whether the running command received ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def show(value: object, *, as_json: bool, text: str | None = None, columns: Sequence[str] = ()) -> None:
    """Prints a result in the selected format.

    Args:
        value: A model, a mapping, a list of models or mappings, or a plain value.
        as_json: Whether to print one JSON document, or CSV with the option ``--output csv``.
        text: Text to print instead of the value. None prints the value, as a table if possible. With an empty string,
            the function does not print anything.
        columns: Header of the CSV output of an empty list. A `Listing` does not need this argument, because its model
            contains the columns.
    """
    plain = jsonable(value)
    if as_json:
        context = click.get_current_context(silent=True)
        if context is not None and context.meta.get(_FORMAT) == "csv":
            _write_csv(plain, columns or list(getattr(getattr(value, "kind", None), "model_fields", ())))
        else:
            click.echo(json_text(plain, indent=2))
    elif quiet():
        for entry in plain if isinstance(plain, list) else [plain]:
            click.echo(_identifier(entry))
    elif text is not None:
        if text:
            click.echo(text)
    elif isinstance(plain, list):
        _show_list(plain)
        if not plain:
            click.echo("No entries.", err=True)  # an empty output would look like a failure
    elif isinstance(plain, dict):
        _show_members(plain)
    else:
        click.echo(_line(plain))


def json_text(value: object, indent: int | None = None) -> str:
    """Returns JSON text in which characters that could control a terminal are escaped."""
    return escaped_json(json.dumps(value, indent=indent, ensure_ascii=False))


def _show_list(plain: list[Any]) -> None:
    lines = _table(plain)
    if len(lines) > len(plain):
        _echo_header(lines.pop(0))
    for line in lines:
        click.echo(line)


def _show_members(plain: dict[str, Any]) -> None:
    width = max((len(name) for name in plain), default=0)
    for name, entry in plain.items():
        several = isinstance(entry, list) and all(isinstance(each, dict) for each in entry)
        first, *more = (_table(entry) or ["-"]) if several else [_line(entry)]
        click.echo(f"{name:<{width}}  {first}".rstrip())
        for line in more:
            click.echo(f"{'':<{width}}  {line}")


def _echo_header(line: str) -> None:
    """Prints a line in bold on a terminal, unless NO_COLOR is set (no-color.org)."""
    if not _is_terminal() or os.environ.get("NO_COLOR"):
        click.echo(line)
        return
    # A filter removes control characters from all output. These two sequences are the program's own and bypass the
    # filter.
    raw = getattr(sys.stdout, "unfiltered", sys.stdout)
    raw.write("\x1b[1m")
    click.echo(line, nl=False)
    raw.write("\x1b[0m\n")


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def jsonable(value: object) -> Any:
    """Converts a result to JSON values. Secrets stay masked."""
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


def examples(*lines: str) -> str:
    """Returns the epilog of a command's help, with one line for each example. A test parses the examples."""
    return "\n".join(["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {line}" for line in lines)])


class CommandGroup(click.Group):
    """Command group whose help shows the complete first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands without truncation, because click would truncate the sentences."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, each.get_short_help_str(limit=1000)) for name, each in found if each is not None and not each.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def rename(self, old: str, command: click.Command) -> None:
        """Adds a deprecated name of a command, for one release.

        The help does not show the name. The command prints a warning on standard error.
        """
        former = copy(command)
        former.name = old
        former.hidden = True
        former.deprecated = f"Use {command.name!r}; {old!r} will be removed in the next release."
        self.add_command(former, old)


def _table(entries: Sequence[Any]) -> list[str]:
    """Returns the lines of a table: a header, and a line with aligned columns for each object.

    If an entry is not an object, the result has no header and no columns.
    """
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return [_line(entry) for entry in entries]
    names = [name for name in entries[0] if any(entry.get(name) not in (None, "") for entry in entries)]
    rows = [[name.upper().replace("_", " ") for name in names]]
    rows += [["" if entry.get(name) is None else _cell(entry[name]) for name in names] for entry in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    return ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _identifier(entry: Any) -> str:
    if not isinstance(entry, dict):
        return _line(entry)
    name = next((name for name in _IDENTIFIERS if entry.get(name) not in (None, "")), None)
    return _line(entry) if name is None else _line(entry[name])


def _write_csv(plain: Any, columns: Sequence[str]) -> None:
    import csv
    import io

    entries = plain if isinstance(plain, list) else [plain]
    rows = [entry if isinstance(entry, dict) else {"value": entry} for entry in entries]
    text = io.StringIO(newline="")
    names = list(dict.fromkeys(name for row in rows for name in row)) or columns
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _csv_cell(entry) for name, entry in row.items()} for row in rows)
    click.echo(text.getvalue(), nl=False)


def _csv_cell(value: Any) -> Any:
    """Returns the text of one cell.

    Lists, objects and booleans become JSON. An apostrophe precedes a text that a spreadsheet would execute as a
    formula.
    """
    if isinstance(value, (bool, list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def _cell(value: object) -> str:
    return " ".join(_line(value).splitlines())


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(str(entry) for entry in value.values() if entry not in (None, ""))
    if isinstance(value, list):
        return json_text(value)
    return str(value)
