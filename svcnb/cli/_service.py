"""Options that every command with a service has, and the client they make."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click


def with_service(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command its client as first argument, from ``--base-url``, ``--key-file``, environment or file.

    There is no option for the key itself: a list of processes would show it to everybody on the machine.
    """

    @click.option("--base-url", help="Address of the service, the part before /core/v1. Default: SVC_BASE_URL.")
    @click.option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        help="File that holds the key; - is standard input. Default: SVC_API_KEY.",
    )
    @wraps(function)
    def command(*context: click.Context, base_url: str | None, key_file: Path | None, **options: Any) -> Any:
        from svcnb.client import Client

        key = None if key_file is None else read_secret(key_file)
        with Client(base_url, api_key=key) as service:
            return function(service, *context, **options)

    return command


def read_secret(file: Path) -> str:
    """A secret from a file, without the line's end; ``-`` is standard input."""
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    return text.strip()


def tell_secret(name: str, secret: str, *, as_json: bool, beside: dict[str, Any]) -> None:
    """Prints a new key, which nobody can show again, on standard output, and the advice on standard error."""
    from svcnb.cli._output import show

    show({name: secret} | beside, as_json=as_json)
    click.echo("The key is shown this once: store it now.", err=True)
