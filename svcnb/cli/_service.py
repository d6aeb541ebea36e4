"""Shared options and client of the commands that use a service, and functions that read key and source files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from svcnb.files import MAX_FILE_BYTES, MAX_TEXT_FILE_BYTES, read_file
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.client.models.usage_keys import UsageKey


base_url_option = click.option(
    "--base-url",
    help="Address of the service, the part before /core/v1. Default: SVC_BASE_URL, otherwise the configuration file.",
)
triggers_url_option = click.option(
    "--triggers-url",
    help="Address of the triggers service. Default: SVC_TRIGGERS_URL, otherwise the configuration file.",
)


def with_service(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that passes a client to a command as its first argument.

    The decorator also adds the options ``--base-url``, ``--key-file`` and ``--profile``. Each setting of the client
    comes from an option, otherwise from the profile, the environment or the configuration file.

    No option accepts the key itself, because the process list would show the key to all users of the machine.
    """

    @base_url_option
    @click.option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        help="File that contains only the key, or that `svcnb apply` saved. Use - for standard input. Default: "
        "SVC_API_KEY, otherwise the configuration file.",
    )
    @profile_option
    @wraps(function)
    def command(*context: click.Context, base_url: str | None, key_file: Path | None, **options: Any) -> Any:
        from svcnb.client import Client

        key = None if key_file is None else read_key(key_file)
        with Client(base_url, api_key=key) as service:
            return function(service, *context, **options)

    return command


def profile_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the option ``--profile``. The option sets SVC_PROFILE while the command runs."""

    @click.option("--profile", metavar="NAME", help="Profile that `svcnb login` stored. Default: SVC_PROFILE.")
    @wraps(function)
    def command(*given: Any, profile: str | None, **options: Any) -> Any:
        with environment(SVC_PROFILE=profile) if profile is not None else nullcontext():
            return function(*given, **options)

    return command


def vocabulary_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the option ``--service-name``.

    The command receives the argument ``words``, a `Vocabulary` with the names that actions of this service use.
    """

    @click.option("--service-name", help="Name of the service in lower case. Default: SVC_SERVICE_NAME, otherwise svc.")
    @wraps(function)
    def command(*given: Any, service_name: str | None, **options: Any) -> Any:
        from svcnb.client.config import vocabulary
        from svcnb.protocol.vocabulary import Vocabulary

        words = Vocabulary(service=service_name) if service_name else vocabulary()
        return function(*given, words=words, **options)

    return command


@contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """Context manager that sets environment variables during a block, and removes variables whose value is None.

    At the end of the block, the function restores the old values.
    """
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


def read_input(file: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Returns the content of a regular file or, if its path is ``-``, of standard input.

    Raises:
        BadParameter: Standard input has more than ``limit`` bytes.
        OSError: The file cannot be read, or has more than ``limit`` bytes.
    """
    if str(file) != "-":
        return read_file(file, limit)
    content = bytearray()
    while part := sys.stdin.buffer.read(_PART_BYTES):
        content += part
        if len(content) > limit:
            raise click.BadParameter(f"standard input has more than {limit:,} bytes. Pass a shorter input.")
    return bytes(content)


_PART_BYTES = 64 * 1024


def name_of(file: Path) -> str:
    """Returns the name of an input file for messages: its path, or ``standard input`` for the path ``-``."""
    return "standard input" if str(file) == "-" else str(file)


def read_secret(file: Path) -> str:
    """Returns the secret in a file, without surrounding white space. ``-`` means standard input.

    Error messages do not contain any part of the file.
    """
    try:
        text = read_input(file, MAX_TEXT_FILE_BYTES).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise click.BadParameter(
            f"{name_of(file)} is not UTF-8 text. Pass a text file that contains only the key or the token."
        ) from None
    if not text:
        raise click.BadParameter(f"{name_of(file)} is empty. Pass a file that contains the key or the token.")
    return text


def read_key(file: Path) -> str:
    """Returns the key in a file that contains only the key, or in a JSON file with one key that ``svcnb apply`` saved.

    ``-`` means standard input. Error messages contain only the names of keys.
    """
    text = read_secret(file)
    if not text.startswith("{"):
        return text
    keys: Any = None
    with suppress(ValueError):
        keys = parse(text)
    if keys is None or not all(isinstance(key, str) for key in keys.values()):
        raise click.BadParameter(
            f"{name_of(file)} starts with {{, but is not a JSON object with names and keys. Pass a file that contains "
            "only a key, or a file that `svcnb apply` saved.",
            param_hint="--key-file",
        )
    if not keys:
        problem = f"{name_of(file)} contains no key: pass a file that contains one key"
        raise click.BadParameter(problem, param_hint="--key-file")
    if len(keys) > 1:
        problem = (
            f"{name_of(file)} contains {len(keys)} keys ({', '.join(keys)}), but only one is allowed: save each key in "
            "its own file"
        )
        raise click.BadParameter(problem, param_hint="--key-file")
    return str(next(iter(keys.values())))


def read_source(file: Path) -> str:
    """Returns the source of an action from a file, without changes. ``-`` means standard input."""
    # Read bytes, because a changed line ending would change the CID.
    source = read_input(file)
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.BadParameter(
            f"{name_of(file)} is not UTF-8 text: invalid byte {source[error.start]:#04x} at position {error.start}. "
            "Save the source as UTF-8.",
            param_hint="FILE",
        ) from None
    if not text:
        raise click.BadParameter(
            f"{name_of(file)} is empty: write an action, for example: async function main({{ n }}) {{ return n + 1; }}",
            param_hint="FILE",
        )
    return text


def ask_secret(prompt: str) -> str:
    """Asks for a secret, and does not show the input on a terminal."""
    import warnings
    from getpass import GetPassWarning

    with warnings.catch_warnings():
        # Without a terminal, there is nothing to hide, and the warning would show a line of Python.
        warnings.simplefilter("ignore", GetPassWarning)
        secret: str = click.prompt(prompt, hide_input=True, err=True)
    return secret


def save_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the option ``--save`` to a command that creates a key."""
    return click.option(
        "--save",
        "save",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=(
            "Save the key in this new file, readable only by you, instead of printing it. To use the key, pass the "
            "file with --key-file."
        ),
    )(function)


@contextmanager
def new_key_file(file: Path | None) -> Iterator[TextIO | None]:
    """Context manager that creates the file for a key and reserves its disk space, before the block creates the key.

    A full disk or a missing permission therefore cannot cause the loss of a new key. The function does not overwrite
    files. Without a path, the block must print the key.
    """
    if file is None:
        yield None
        return
    try:
        opened = open(file, "x", encoding="utf-8", opener=_private)  # noqa: SIM115 - the block below closes the file
    except FileExistsError:
        raise click.BadParameter(
            f"{file} already exists, and the command does not overwrite files. Pass the path of a new file.",
            param_hint="--save",
        ) from None
    try:
        with opened:
            # Reserve the space now. If the disk is full, the command fails before it creates a key.
            opened.write(" " * _KEY_SPACE)
            opened.flush()
            os.fsync(opened.fileno())
            opened.seek(0)
            yield opened
            opened.truncate()
    except BaseException:
        if not file.read_text(encoding="utf-8").strip():
            file.unlink()
        raise


_KEY_SPACE = 1024
"""Number of bytes to reserve in a key file. This is more than any key needs."""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def print_usage_key(key: UsageKey, *, as_json: bool, into: TextIO | None) -> None:
    """Prints a new usage key with its hash, or writes the key to a file. For the arguments, see `print_secret`."""
    secret = key.usage_api_key.reveal() if key.usage_api_key else ""
    print_secret("usage_api_key", secret, as_json=as_json, beside={"api_key_hash": key.api_key_hash}, into=into)


def print_secret(name: str, secret: str, *, as_json: bool, beside: dict[str, Any], into: TextIO | None) -> None:
    """Prints a new key, or writes the key to a file. If it prints the key, it also reminds the user to store the key.

    If the key cannot be printed, the function saves it in a new temporary file, because the service shows it only once.

    Args:
        name: Name of the key in the output.
        secret: Text of the new key.
        as_json: Whether to print one JSON document.
        beside: Other values to print with the key.
        into: Open file to write the key to. None prints the key on standard output.
    """
    from svcnb.cli._output import quiet, show
    from svcnb.client.errors import SvcnbError

    if into is not None:
        into.write(secret + "\n")
        into.flush()
        show(beside | {"key_file": into.name}, as_json=as_json)
        return
    try:
        if quiet():
            click.echo(secret)
            return
        show({name: secret} | beside, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        descriptor, file = tempfile.mkstemp(prefix="svcnb-", suffix=".key")
        with os.fdopen(descriptor, "w", encoding="utf-8") as saved:
            saved.write(secret + "\n")
        raise SvcnbError(
            f"the new key cannot be printed: {error.strerror}",
            hint=f"The key was created and stored in {file}, which only you can read. Move the file to a safe place.",
        ) from error
    click.echo("The key is shown only once: store the key now.", err=True)
