"""``svcnb login``."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._examples import examples
from svcnb.cli._service import environment, read_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svcnb.client.secret import Secret


@click.command(
    "login",
    epilog=examples("svcnb login --base-url https://api.example.org", "svcnb login --profile test --key-file test.key"),
)
@click.option("--base-url", help="Address of the service, the part before /core/v1. Asked for if it is left out.")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="File that holds the key; - is standard input. Asked for, without echo, if it is left out.",
)
@click.option("--profile", metavar="NAME", help="Store under this name, for --profile; default: the unnamed settings.")
@click.option("--check/--no-check", default=True, help="Whether to ask the service if the key belongs to an account.")
def command(base_url: str | None, key_file: Path | None, profile: str | None, *, check: bool) -> None:
    """Store an address and a key in the configuration file.

    The file is SVCNB_CONFIG or ~/.config/svcnb/config.toml, and only you may read it (0600). Its other settings and
    profiles stay. The key is never printed, and it is only sent to this address.
    """
    from svcnb.client.config import API_PATH, clean_key, clean_url, config_file, read_settings

    path = config_file()
    if path is None:
        raise click.UsageError("there is no home folder for the configuration file: set SVCNB_CONFIG to its path.")
    if profile is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", profile):
        raise click.BadParameter(f"{profile!r}: use letters, digits, - and _, at most 64.", param_hint="--profile")
    values = read_settings(path)
    address = base_url or click.prompt("Address of the service", err=True)
    url = clean_url(address, "base_url").removesuffix(API_PATH)
    key = clean_key(read_secret(key_file) if key_file else click.prompt("API key", hide_input=True, err=True))
    if check and not _belongs_to_an_account(url, key):
        raise click.ClickException(
            f"the key belongs to no account at {url}. Check it, or store it as it is with --no-check."
        )
    chosen = values.setdefault("profiles", {}).setdefault(profile, {}) if profile else values
    chosen |= {"base_url": url, "api_key": key.reveal()}
    _write(path, values)
    click.echo(f"Stored in {path}" + (f" as profile {profile}." if profile else "."))


def _belongs_to_an_account(url: str, key: Secret) -> bool:
    from svcnb.client import Client

    # The stored settings are about to be replaced, and need not be there yet.
    with environment(SVC_PROFILE=None, SVCNB_CONFIG=os.devnull), Client(url, api_key=key) as service:
        return service.accounts.exists()


def _write(path: Path, values: Mapping[str, Any]) -> None:
    """Replaces the file at once: a reader sees the old one or the new one, and never one that others may read."""
    lines = [f"{name} = {_text(value)}" for name, value in values.items() if name != "profiles"]
    for profile, settings in values.get("profiles", {}).items():
        lines += ["", f"[profiles.{_text(profile)}]", *(f"{name} = {_text(value)}" for name, value in settings.items())]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = path.resolve()  # a link stays a link
    new = target.with_name(f".{target.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).lstrip("\n") + "\n")
    new.replace(target)


def _text(value: str) -> str:
    """A basic string of TOML, which JSON's strings are; DEL needs an escape in TOML alone."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
