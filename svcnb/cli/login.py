"""Command ``svcnb login``, which stores an address and a key in the configuration file."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import examples
from svcnb.cli._service import ask_secret, environment, read_key
from svcnb.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svcnb.client.secret import Secret


@click.command(
    "login",
    epilog=examples("svcnb login --base-url https://api.example.org", "svcnb login --profile test --key-file test.key"),
)
@click.option(
    "--base-url",
    help="Address of the service, the part before /core/v1. Without this option, the command prompts for the address.",
)
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="File that contains the key. Use - for standard input. Without this option, the command prompts for the "
    "key, and does not show the input.",
)
@click.option(
    "--profile", metavar="NAME", help="Profile to change or create. Default: the settings outside of all profiles."
)
@click.option(
    "--check/--no-check",
    default=True,
    help="Whether to check that the key belongs to an account of the service.",
)
def command(base_url: str | None, key_file: Path | None, profile: str | None, *, check: bool) -> None:
    """Store a service address and a key in the configuration file.

    SVCNB_CONFIG sets the path of the file. The default is svcnb/config.toml in XDG_CONFIG_HOME or ~/.config. Only you
    can read the file (0600). Other settings and profiles stay unchanged. The command never prints the key. Clients send
    the stored key only to the stored address.
    """
    from svcnb.client.config import API_PATH, clean_key, clean_url, config_file, read_settings

    path = config_file()
    if path is None:
        raise click.UsageError(
            "the path of the configuration file is unknown, because this user has no home folder: set SVCNB_CONFIG to "
            "the path of the file"
        )
    if profile is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", profile):
        raise click.BadParameter(
            f"invalid profile name {profile!r}: use 1 to 64 letters, digits, hyphens and underscores",
            param_hint="--profile",
        )
    values = read_settings(path)
    address = base_url or click.prompt("Address of the service", err=True)
    url = clean_url(address, "base_url").removesuffix(API_PATH)
    key = clean_key(read_key(key_file) if key_file else ask_secret("API key"))
    if check and not _is_valid(url, key):
        raise click.ClickException(
            f"the key does not belong to any account at {url}. Check the key, or skip this check with --no-check."
        )
    chosen = values.setdefault("profiles", {}).setdefault(profile, {}) if profile else values
    chosen |= {"base_url": url, "api_key": key.reveal()}
    _write(path, values)
    click.echo(f"Stored in {path}" + (f" as profile {profile}." if profile else "."))


def _is_valid(url: str, key: Secret) -> bool:
    from svcnb.client import Client
    from svcnb.client.key_check import is_key_valid

    # Ignore the stored settings, because this command replaces them.
    with environment(SVC_PROFILE=None, SVCNB_CONFIG=os.devnull), Client(url, api_key=key) as service:
        return is_key_valid(service)


def _write(path: Path, values: Mapping[str, Any]) -> None:
    """Replaces the configuration file, or the target of a symbolic link, with the given values as TOML.

    Other users can never read the file.
    """
    lines = [f"{name} = {_text(value)}" for name, value in values.items() if name != "profiles"]
    for profile, settings in values.get("profiles", {}).items():
        lines += ["", f"[profiles.{_text(profile)}]", *(f"{name} = {_text(value)}" for name, value in settings.items())]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path.resolve(), "\n".join(lines).lstrip("\n") + "\n")


def _text(value: str) -> str:
    """Returns a TOML basic string. JSON strings have the same format, except that TOML requires an escaped DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
