"""Settings of a client: argument, then chosen profile, then environment, then file.

The file is ``$SVCNB_CONFIG`` or ``~/.config/svcnb/config.toml``; `svcnb login` writes it::

    base_url = "https://api.example.org"
    api_key = "..."                # allowed only when no one else may read the file: chmod 600

    [profiles.test]                # chosen by SVC_PROFILE or --profile
    base_url = "https://test.example.org"

A key in the file is only sent to the address in the same file. If the address comes from elsewhere, the key is not
used.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client.errors import ConfigError
from svcnb.client.secret import Secret
from svcnb.protocol.vocabulary import Vocabulary

API_PATH: Final = "/core/v1"

_ENVIRONMENT: Final = {
    "base_url": "SVC_BASE_URL",
    "api_key": "SVC_API_KEY",
    "triggers_url": "SVC_TRIGGERS_URL",
    "rpc_url": "SVC_RPC_URL",
    "service_name": "SVC_SERVICE_NAME",
    "processor_name": "SVC_PROCESSOR_NAME",
    "history": "SVC_HISTORY",
}


@dataclass(frozen=True)
class Timeouts:
    """Timeouts of a client, in seconds.

    Attributes:
        connect: For a connection.
        read: For an answer to a read.
        write: For an answer to a management call, which may wait for two chain transactions.
        run: For an execution; the service's own limit is 15 minutes.

    Source: reference facts 8.
    """

    connect: float = 10.0
    read: float = 30.0
    write: float = 120.0
    run: float = 910.0


@dataclass(frozen=True)
class Retries:
    """Rules for repeating calls that were certainly not charged (429, 503) or that change nothing.

    Attributes:
        attempts: Maximum number of attempts of one call, including the first.
        first_delay: Mean seconds before the second try; each later delay is twice as long. Each is varied at random by
            up to half.
        longest_delay: Maximum number of seconds between two attempts.
        longest_retry_after: Maximum number of seconds of a ``Retry-After`` header that are obeyed.

    Source: reference facts 8.
    """

    attempts: int = 5
    first_delay: float = 0.5
    longest_delay: float = 8.0
    longest_retry_after: float = 30.0


@dataclass(frozen=True)
class Config:
    """Settings of a client: addresses, credentials, names, timeouts and retries.

    Attributes:
        base_url: Address before ``/core/v1``, without a trailing slash.
        api_key: The credential; None for calls that need none.
        master_key: True when ``api_key`` is known to be an account's master key.
        triggers_url: Address of the triggers service; None when unknown.
        rpc_url: JSON-RPC address of the chain; None when unknown.
        control_token: The secret of an emulator's control plane, used to read traces; None if there is none.
        vocabulary: The service's and the processor's names.
        timeouts: Timeouts of each kind of call.
        retries: Rules for repeating calls.
        correlation_id: Sent with every call and echoed by the service; None for none.
        history: File in which runs are recorded; ``off`` for none, None for the default path.
        headers: Sent with every request to the service, for example for a gateway in front of it; never shown.
        wallet_auth: Makes the header with which a wallet, instead of a key, is authenticated at the billing endpoints;
            None otherwise.
    """

    base_url: str
    api_key: Secret | None = None
    master_key: bool = False
    triggers_url: str | None = None
    rpc_url: str | None = None
    control_token: Secret | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: Retries = field(default_factory=Retries)
    correlation_id: str | None = None
    history: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    wallet_auth: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)

    def replace(self, **changes: Any) -> Config:
        """Returns a copy with some settings changed."""
        return replace(self, **changes)


def load(
    *,
    base_url: str | None = None,
    api_key: str | Secret | None = None,
    triggers_url: str | None = None,
    rpc_url: str | None = None,
    control_token: str | Secret | None = None,
    vocabulary: Vocabulary | None = None,
    history: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    file: str | Path | None = None,
) -> Config:
    """Determines every setting: from the argument, else the environment, else the file.

    Args:
        base_url: Address of the service; a trailing ``/core/v1`` may be left on.
        api_key: Account or usage key.
        triggers_url: Address of the triggers service.
        rpc_url: JSON-RPC address of the chain.
        control_token: The secret of an emulator's control plane. Only accepted as an argument: one from the environment
            could be sent to the wrong service.
        vocabulary: The service's and the processor's names.
        history: File that runs are recorded in, or ``off``.
        environment: Read instead of the process's environment.
        file: Read instead of ``$SVCNB_CONFIG`` or ``~/.config/svcnb/config.toml``.

    Raises:
        ConfigError: No address was found, or a setting is invalid; the message says what to do.
    """
    environment = os.environ if environment is None else environment
    chosen, from_file = _read_file(file, environment)
    told = {name: environment.get(variable, "").strip() for name, variable in _ENVIRONMENT.items()}
    found = {name: value for name, value in told.items() if value}
    # A profile is an explicit choice, so it takes precedence over the environment. The rest of the file does not.
    found = found | from_file if chosen else from_file | found
    if "base_url" in from_file and "api_key" in from_file and found.get("api_key") == from_file["api_key"]:
        _keep_with_its_address(found, from_file["base_url"], base_url)
    if vocabulary is None:
        defaults = Vocabulary()
        try:
            vocabulary = Vocabulary(
                service=found.get("service_name", defaults.service),
                processor=found.get("processor_name", defaults.processor),
            )
        except ValueError as error:
            raise ConfigError(str(error), hint="Correct SVC_SERVICE_NAME, SVC_PROCESSOR_NAME or the file.") from error
    key = api_key if api_key is not None else found.get("api_key")
    address = base_url or found.get("base_url")
    if not address:
        raise ConfigError(
            "no address of the service was given",
            hint="Pass base_url=URL (--base-url on the command line), set SVC_BASE_URL, write base_url into "
            "~/.config/svcnb/config.toml, or start a local service: `svcnb emulator`, or in Python "
            "with svcnb.Emulator() as emu: svc = emu.client()",
        )
    return Config(
        base_url=clean_url(address, "base_url").removesuffix(API_PATH),
        api_key=clean_key(key) if key else None,
        triggers_url=_optional_url(triggers_url or found.get("triggers_url"), "triggers_url"),
        rpc_url=_optional_url(rpc_url or found.get("rpc_url"), "rpc_url"),
        control_token=Secret(control_token) if control_token else None,
        vocabulary=vocabulary,
        history=str(history) if history is not None else found.get("history"),
    )


def _keep_with_its_address(found: dict[str, str], home: str, given: str | None) -> None:
    """Removes the file's key if it was stored with another address than the one in use."""
    in_use = (given or found["base_url"]).strip().rstrip("/").removesuffix(API_PATH)
    if in_use != home.strip().rstrip("/").removesuffix(API_PATH):
        del found["api_key"]


def clean_url(url: str, name: str) -> str:
    """Returns an address without trailing slashes.

    Raises:
        ConfigError: It is not an http or https address.
    """
    text = str(url).strip().rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            f"{name} {text!r} is not an address", hint="Write it with its scheme, for example http://127.0.0.1:8000"
        )
    if parts.username or parts.password:
        raise ConfigError(f"{name} holds a user name or password", hint="Leave them out; keys travel in a header.")
    return text


def clean_key(key: str | Secret) -> Secret:
    """Returns a key as a secret, without blanks at its ends.

    Raises:
        ConfigError: The string cannot be a key. The message does not contain it.
    """
    text = Secret(key).reveal().strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(
            "the API key holds blanks or characters that no key has",
            hint="Copy it again, without quotes or line breaks.",
        )
    if len(text) == 66 and text.startswith("0x"):  # noqa: PLR2004 - 0x and 64 digits
        raise ConfigError(
            "this is a key's hash (0x and 64 digits), not a key",
            hint="Use the key that was shown once when it was made; a lost key cannot be recovered from its hash.",
        )
    return Secret(text)


def _optional_url(url: str | None, name: str) -> str | None:
    return clean_url(url, name) if url else None


def config_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """The path of the settings file; None without a home folder. It may not exist."""
    environment = os.environ if environment is None else environment
    named = environment.get("SVCNB_CONFIG")
    return Path(named).expanduser() if named else _default_file(environment)


def _read_file(file: str | Path | None, environment: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Returns the chosen profile and its settings; without a profile, the settings at the top of the file."""
    profile = environment.get("SVC_PROFILE", "").strip() or None
    path = Path(file).expanduser() if file else config_file(environment)
    required = bool(file or environment.get("SVCNB_CONFIG"))
    values = {} if path is None else read_settings(path, required=required)
    profiles = values.pop("profiles", {})
    if profile is None:
        return None, values
    if profile not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(
            f"there is no profile {profile!r} in {path}: it has {known}",
            hint=f"Run: svcnb login --profile {profile}",
        )
    return profile, dict(profiles[profile])


def read_settings(path: Path, *, required: bool = False) -> dict[str, Any]:
    """Reads a settings file. Returns its settings, with those of each profile under ``profiles``.

    Args:
        path: The file.
        required: Whether a missing file is an error; otherwise it counts as empty.

    Raises:
        ConfigError: The file cannot be read, is not TOML, has unknown settings, or contains a key that others may read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if required:
            raise ConfigError(f"the settings file {path} does not exist", hint="Correct SVCNB_CONFIG.") from None
        return {}
    except (OSError, ValueError) as error:  # the file is not UTF-8, or the path contains NUL
        raise ConfigError(f"the settings file {path} cannot be read: {error}", hint="Correct its rights.") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the settings file {path} is not TOML: {error}", hint="Correct that line.") from error
    profiles = values.pop("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(each, dict) for each in profiles.values()):
        raise ConfigError(f"profiles in {path} is not a table", hint="Write [profiles.NAME] above its settings.")
    for settings in (values, *profiles.values()):
        _check_settings(path, settings)
    if (
        any("api_key" in settings for settings in (values, *profiles.values()))
        and os.name == "posix"
        and stat.S_IMODE(path.stat().st_mode) & 0o077
    ):
        raise ConfigError(f"the settings file {path} holds a key and others may read it", hint=f"Run: chmod 600 {path}")
    return values | ({"profiles": profiles} if profiles else {})


def _check_settings(path: Path, settings: Mapping[str, object]) -> None:
    for name, value in settings.items():
        if name not in _ENVIRONMENT:
            raise ConfigError(
                f"the settings file {path} has an unknown setting {name!r}",
                hint=f"Allowed are: {', '.join(sorted(_ENVIRONMENT))}, and tables [profiles.NAME].",
            )
        if not isinstance(value, str):
            raise ConfigError(f"{name} in {path} is not a text", hint=f'Write {name} = "..."')


def _default_file(environment: Mapping[str, str]) -> Path | None:
    root = environment.get("XDG_CONFIG_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".config"
    except RuntimeError:  # no home folder, as in some containers
        return None
    return folder / "svcnb" / "config.toml"
