"""Options that every command with a service has, the client they make, and files with secrets and sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, TextIO

import click


def with_service(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command its client as first argument: options, then ``--profile``, the environment, the file.

    There is no option for the key itself: a list of processes would show it to everybody on the machine.
    """

    @click.option("--base-url", help="Address of the service, the part before /core/v1. Default: SVC_BASE_URL.")
    @click.option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        help="File that holds the key; - is standard input. Default: SVC_API_KEY.",
    )
    @profile_option
    @wraps(function)
    def command(*context: click.Context, base_url: str | None, key_file: Path | None, **options: Any) -> Any:
        from svcnb.client import Client

        key = None if key_file is None else read_secret(key_file)
        with Client(base_url, api_key=key) as service:
            return function(service, *context, **options)

    return command


def profile_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option ``--profile``, which the configuration reads from the environment of this process."""

    @click.option("--profile", metavar="NAME", help="Address and key that `svcnb login` stored. Default: SVC_PROFILE.")
    @wraps(function)
    def command(*given: Any, profile: str | None, **options: Any) -> Any:
        with environment(SVC_PROFILE=profile) if profile is not None else nullcontext():
            return function(*given, **options)

    return command


@contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """Sets variables of this process, or removes those that are None, and gives the old ones back at the end."""
    before = {name: os.environ.get(name) for name in values}
    try:
        _set(values)
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def read_secret(file: Path) -> str:
    """A secret from a file, without the line's end; ``-`` is standard input."""
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    return text.strip()


def read_source(file: Path) -> str:
    """An action's source as it stands, byte for byte; ``-`` is standard input.

    Raises:
        click.BadParameter: It is no text in UTF-8, as actions are.
    """
    # Bytes, not text: a changed line end would be another action.
    source = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.BadParameter(
            f"{file} is no text in UTF-8: byte {source[error.start]:#04x} at {error.start}. Save it as UTF-8.",
            param_hint="FILE",
        ) from None
    if not text:
        raise click.BadParameter(
            f"{file} is empty. Write for example: async function main({{ n }}) {{ return n + 1; }}", param_hint="FILE"
        )
    return text


def save_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option ``--save`` of every command that makes a key."""
    return click.option(
        "--save",
        "save",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Keep the key in this new file, which you alone may read, and do not print it; as --key-file takes it.",
    )(function)


@contextmanager
def new_key_file(file: Path | None) -> Iterator[TextIO | None]:
    """Makes the file for a key before the key is made: a key that found no room would be lost.

    Args:
        file: A file that does not exist; None to print the key instead.

    Raises:
        click.BadParameter: It exists. A key is never written over.
    """
    if file is None:
        yield None
        return
    try:
        opened = open(file, "x", encoding="utf-8", opener=_private)  # noqa: SIM115 - in the block below
    except FileExistsError:
        raise click.BadParameter(
            f"{file} exists, and a key is never written over. Name a new file.", param_hint="--save"
        ) from None
    try:
        with opened:
            yield opened
    except BaseException:
        if not file.stat().st_size:
            file.unlink()
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def tell_secret(name: str, secret: str, *, as_json: bool, beside: dict[str, Any], into: TextIO | None) -> None:
    """Prints a new key, which nobody can show again, on standard output, and the advice on standard error.

    Args:
        name: What the answer calls it.
        secret: The key.
        as_json: As one JSON document.
        beside: What is printed with it.
        into: Takes the key in place of standard output.
    """
    from svcnb.cli._output import quiet, show

    if into is not None:
        into.write(secret + "\n")
        into.flush()
        show(beside | {"key_file": into.name}, as_json=as_json)
        return
    if quiet():
        click.echo(secret)
        return
    show({name: secret} | beside, as_json=as_json)
    click.echo("The key is shown this once: store it now.", err=True)
