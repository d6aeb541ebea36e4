"""Settings of a client. Their sources, in order of precedence, are argument, selected profile, environment and file.

The file is ``$SVCNB_CONFIG`` or ``~/.config/svcnb/config.toml``; `svcnb login` writes the file::

    base_url = "https://api.example.org"
    api_key = "..."                # allowed only if no other user can read the file: chmod 600

    [profiles.test]                # selected by SVC_PROFILE or --profile
    base_url = "https://test.example.org"

If the file contains both an address and a key, the client sends the key only to this address. A client with another
address ignores the key in the file.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.client.secret import Secret
from svcnb.files import MAX_TEXT_FILE_BYTES, read_text
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
        connect: Timeout for establishing a connection.
        read: Timeout for the response to a call that only reads data.
        write: Timeout for the response to a management call, which can include two chain transactions.
        run: Timeout for a run. The service's own limit is 15 minutes.

    Raises:
        InvalidArgument: A timeout is not a number above 0.

    Source: docs/service/client.md#timeouts-and-retries.
    """

    connect: float = 10.0
    read: float = 30.0
    write: float = 120.0
    run: float = 910.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:  # also true for NaN
                raise InvalidArgument(f"invalid timeout {name}={value}: expected a number of seconds above 0")


@dataclass(frozen=True)
class Retries:
    """Retry policy of a client.

    The client retries a call that the service rejected with status 429 or 503, because the service then did not execute
    the call. After a connection failure, the client retries only a call that is safe to repeat.

    Attributes:
        attempts: Maximum number of attempts of one call, including the first.
        first_delay: Mean delay before the second attempt, in seconds. Each later delay is twice as long. Every delay
            varies at random by up to half its length.
        longest_delay: Maximum mean delay between two attempts, in seconds.
        longest_retry_after: Maximum delay that a ``Retry-After`` header can cause, in seconds. The client treats a
            longer value of the header as this maximum.

    Source: docs/service/client.md#timeouts-and-retries.
    """

    attempts: int = 5
    first_delay: float = 0.5
    longest_delay: float = 8.0
    longest_retry_after: float = 30.0


@dataclass(frozen=True)
class Config:
    """Settings of a client: addresses, credentials, names, timeouts and retries.

    Attributes:
        base_url: Address of the service, the part before ``/core/v1``, without a trailing slash.
        api_key: Account key or usage key, or None.
        master_key: Whether ``api_key`` comes from an `Account`, and is therefore an account key.
        triggers_url: Address of the triggers service, or None if unknown.
        rpc_url: JSON-RPC address of the chain, or None if unknown.
        control_token: Token of an emulator's control plane, for reading traces, or None.
        vocabulary: Names of the service and of the payment processor.
        timeouts: Timeouts of each kind of call.
        retries: Retry policy.
        correlation_id: Id that the client sends with every call and that the service returns, or None.
        history: File in which the client records runs. ``off`` disables the recording. None selects the default path.
        headers: Headers of every request to the service, for example for a gateway. Displays never show headers.
        wallet_auth: Provider of the header that authenticates a wallet instead of a key at the billing endpoints, or
            None.
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
    """Returns all settings. Their sources, in order of precedence, are argument, profile, environment and file.

    Args:
        base_url: Address of the service. The client ignores a trailing ``/core/v1``.
        api_key: Account key or usage key.
        triggers_url: Address of the triggers service.
        rpc_url: JSON-RPC address of the chain.
        control_token: Token of an emulator's control plane. The client never reads this token from the environment,
            because the client could then send the token to a service that is not this emulator.
        vocabulary: Names of the service and of the payment processor.
        history: File in which the client records runs, or ``off``.
        environment: Environment variables to use instead of those of the process.
        file: File to read instead of ``$SVCNB_CONFIG`` or ``~/.config/svcnb/config.toml``.

    Raises:
        ConfigError: The address of the service is not set, or a setting is invalid. The hint contains the next step.
    """
    found = _found(base_url, file, os.environ if environment is None else environment)
    key = api_key if api_key is not None else found.get("api_key")
    chosen = base_url or found.get("base_url")
    if not chosen:
        raise ConfigError(
            "the service address is not set",
            hint="Pass base_url=URL (--base-url on the command line), set SVC_BASE_URL, or write base_url into "
            "`~/.config/svcnb/config.toml`. To start a local service, run `svcnb emulator`. In Python, use `with "
            "svcnb.Emulator() as emu: svc = emu.client()`.",
        )
    return Config(
        base_url=clean_url(chosen, "base_url").removesuffix(API_PATH),
        api_key=clean_key(key) if key else None,
        triggers_url=_optional_url(triggers_url or found.get("triggers_url"), "triggers_url"),
        rpc_url=_optional_url(rpc_url or found.get("rpc_url"), "rpc_url"),
        control_token=Secret(control_token) if control_token else None,
        vocabulary=_vocabulary(found) if vocabulary is None else vocabulary,
        history=str(history) if history is not None else found.get("history"),
    )


def address(name: str = "base_url") -> str | None:
    """Returns a configured address without a trailing slash, or None if the address is not configured.

    Args:
        name: Name of the setting, ``base_url`` or ``triggers_url``.

    Raises:
        ConfigError: A setting is invalid.
    """
    found = _found(None, None, os.environ).get(name)
    return clean_url(found, name).removesuffix(API_PATH) if found else None


def vocabulary() -> Vocabulary:
    """Returns the names of the service and of the payment processor in the configuration.

    Raises:
        ConfigError: A setting is invalid.
    """
    return _vocabulary(_found(None, None, os.environ))


def _vocabulary(found: Mapping[str, str]) -> Vocabulary:
    defaults = Vocabulary()
    try:
        return Vocabulary(
            service=found.get("service_name", defaults.service),
            processor=found.get("processor_name", defaults.processor),
        )
    except ValueError as error:
        raise ConfigError(
            str(error), hint="Correct the name in SVC_SERVICE_NAME or SVC_PROCESSOR_NAME, or in the configuration file."
        ) from error


def _found(base_url: str | None, file: str | Path | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of the profile, the environment and the file, by name."""
    chosen, from_file = _read_file(file, environment)
    told = {name: environment.get(variable, "").strip() for name, variable in _ENVIRONMENT.items()}
    found = {name: value for name, value in told.items() if value}
    # An explicitly selected profile takes precedence over the environment. Otherwise, the environment takes precedence.
    found = found | from_file if chosen else from_file | found
    if "base_url" in from_file and "api_key" in from_file and found.get("api_key") == from_file["api_key"]:
        in_use, home = (
            url.strip().rstrip("/").removesuffix(API_PATH)
            for url in (base_url or found["base_url"], from_file["base_url"])
        )
        if in_use != home:
            del found["api_key"]
    return found


def clean_url(url: str, name: str) -> str:
    """Returns an address without trailing slashes.

    Raises:
        ConfigError: The string is not an http or https address. The message does not contain a password, path or query,
            because these parts can contain the API key of a node provider.
    """
    text = str(url).strip().rstrip("/")
    shown = re.split(r"(?<![:/])/|[?#]", text, maxsplit=1)[0]
    if "@" in shown:
        raise ConfigError(
            f"{name} must not contain a user name or a password",
            hint="Remove the part before @ from the address: https://host instead of https://user:password@host.",
        )
    if not _is_http_address(text):
        raise ConfigError(
            f"invalid {name} {shown!r}: expected an http or https address",
            hint="Write the scheme, the host and, if necessary, the port (at most 65535): http://127.0.0.1:8000.",
        )
    if name == "base_url" and ("?" in text or "#" in text):
        raise ConfigError(
            f"base_url {shown!r} must not contain a query or a fragment",
            hint="Remove the part that starts with ? or #. The client adds the path of each call to the address.",
        )
    return text


def _is_http_address(text: str) -> bool:
    from httpx import URL, InvalidURL  # imported here, because `import svcnb` must not import httpx

    try:
        parts = urlsplit(text)
        host, _ = (parts.hostname or "").encode("idna"), parts.port
        _ = URL(text).host
    except (ValueError, InvalidURL):  # also an invalid port, and a host name that cannot be looked up
        return False
    return parts.scheme in {"http", "https"} and host != b"" and text.isprintable() and " " not in text


def clean_key(key: str | Secret) -> Secret:
    """Returns a key as a secret, without surrounding whitespace.

    Raises:
        ConfigError: The string is not a valid key. The message does not contain the string.
    """
    text = Secret(key).reveal().strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(
            "invalid API key: expected printable ASCII characters without spaces",
            hint="Copy the key again, without quotes or line breaks.",
        )
    if len(text) == 66 and text.startswith("0x"):  # noqa: PLR2004 - length of 0x and 64 digits
        raise ConfigError(
            "expected a key, got the hash of a key (0x and 64 hex digits)",
            hint="Use the key itself, which is shown only when the key is created. A lost key cannot be recovered "
            "from its hash.",
        )
    return Secret(text)


def _optional_url(url: str | None, name: str) -> str | None:
    return clean_url(url, name) if url else None


def config_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """Returns the path of the configuration file, even if it does not exist, or None without a home folder."""
    environment = os.environ if environment is None else environment
    named = environment.get("SVCNB_CONFIG")
    return Path(named).expanduser() if named else _default_file(environment)


def _read_file(file: str | Path | None, environment: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Returns the selected profile and its settings, or None and the top-level settings if no profile is selected."""
    profile = environment.get("SVC_PROFILE", "").strip() or None
    path = Path(file).expanduser() if file else config_file(environment)
    values = {} if path is None else read_settings(path, required=bool(file or environment.get("SVCNB_CONFIG")))
    profiles = values.pop("profiles", {})
    if profile is None:
        return None, values
    if profile not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(
            f"profile {profile!r} not found in {path or 'the configuration file'} (available profiles: {known})",
            hint=f"To create the profile, run: svcnb login --profile {profile}",
        )
    return profile, dict(profiles[profile])


def read_settings(path: Path, *, required: bool = False) -> dict[str, Any]:
    """Reads a configuration file, and returns its settings, with the settings of each profile in ``profiles``.

    Args:
        path: Path of the file.
        required: Whether a missing file is an error. Otherwise, the function treats a missing file as an empty file.

    Raises:
        ConfigError: The file cannot be read, is not TOML, has unknown settings, or contains a key that other users can
            read.
    """
    try:
        text = read_text(path, MAX_TEXT_FILE_BYTES)
    except FileNotFoundError:
        if required:
            raise ConfigError(
                f"the configuration file {path} does not exist",
                hint="Set SVCNB_CONFIG or config_file to the path of an existing file.",
            ) from None
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"the configuration file {path} is not UTF-8 text: invalid byte {error.object[error.start]:#04x} at "
            f"position {error.start}",
            hint="Save the file as UTF-8.",
        ) from None
    except (OSError, ValueError) as error:  # ValueError: the path contains a null character
        raise ConfigError(
            f"the configuration file {path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="Check that the path is a regular file, and that you can read it.",
        ) from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"the configuration file {path} is not valid TOML: {error}",
            hint="Correct the line that this error names.",
        ) from error
    profiles = values.pop("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(each, dict) for each in profiles.values()):
        raise ConfigError(
            f"invalid setting 'profiles' in {path}: expected one table for each profile",
            hint="Write [profiles.NAME] above the settings of each profile.",
        )
    tables = (values, *profiles.values())
    for settings in tables:
        _check_settings(path, settings)
    if any("api_key" in each for each in tables) and os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigError(
            f"the configuration file {path} contains a key, but other users can read it", hint=f"Run: chmod 600 {path}"
        )
    return values | ({"profiles": profiles} if profiles else {})


def _check_settings(path: Path, settings: Mapping[str, object]) -> None:
    for name, value in settings.items():
        if name not in _ENVIRONMENT:
            raise ConfigError(
                f"the configuration file {path} has an unknown setting {name!r}",
                hint=f"Use only the settings {', '.join(sorted(_ENVIRONMENT))}, and tables [profiles.NAME].",
            )
        if not isinstance(value, str):
            raise ConfigError(
                f"invalid setting {name!r} in {path}: expected a string, got {type(value).__name__}",
                hint=f'Write the value in quotation marks: {name} = "...".',
            )


def _default_file(environment: Mapping[str, str]) -> Path | None:
    root = environment.get("XDG_CONFIG_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".config"
    except RuntimeError:  # some containers have no home folder
        return None
    return folder / "svcnb" / "config.toml"
