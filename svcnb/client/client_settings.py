"""Settings shared by `Client` and `AsyncClient`: key, timeouts, retries, listeners."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from svcnb.checked import Checked
from svcnb.client.config import Config, Retries, Timeouts, clean_key
from svcnb.client.errors import InvalidArgument, InvalidType
from svcnb.client.models.accounts import Account
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.recorder import OFF, Recorder, default_path
from svcnb.client.running import RunRecord
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession, Listener, SyncSession

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary

SessionT = TypeVar("SessionT", SyncSession, AsyncSession)
AnyKey = str | Secret | UsageKey | Account


class ClientSettings(Checked, Generic[SessionT]):
    """Base class of `Client` and `AsyncClient`, with the settings and the methods that do not send requests."""

    on_run: list[Listener]
    _session: SessionT

    def _start(self, session: SessionT, *, owner: bool) -> None:
        self._session = session
        self._config = session.config
        self._owner = owner
        self.on_run = session.listeners

    @property
    def config(self) -> Config:
        """Current settings of this client. Displays of the settings mask the key."""
        return self._config

    @property
    def base_url(self) -> str:
        """Address of the service, the part before ``/core/v1``."""
        return self._config.base_url

    @property
    def vocabulary(self) -> Vocabulary:
        """Names of the service and of the payment processor, as they appear in paths and headers."""
        return self._config.vocabulary

    def __repr__(self) -> str:
        key = "with a key" if self._config.api_key else "without a key"
        return f"{type(self).__name__}({self._config.base_url!r}, {key})"

    def _derive(self, session: SessionT) -> Self:
        derived = type(self).__new__(type(self))
        derived._start(session, owner=False)  # noqa: SLF001 - an object of the same class
        return derived

    def _with(self, config: Config) -> Self:
        return self._derive(self._session.with_settings(config, self.on_run))

    def with_key(self, key: AnyKey | None) -> Self:
        """Returns a client that uses another key and the same connections.

        Args:
            key: Text of a key, or the account or usage key that the creation method returned. None removes the key.

        Raises:
            InvalidArgument: The usage key comes from a listing, which never contains secrets.
            ConfigError: The string is not a valid key.
        """
        return self._with(keyed(self._config, key))

    def use_key(self, key: AnyKey | None) -> None:
        """Changes the key of this client for all code that uses the client.

        To get a new client instead, call `with_key`.

        Panels call this method, so that the notebook's client uses the account that is open in the panel.

        Args:
            key: Account key or usage key. None removes the key.

        Raises:
            InvalidArgument: The usage key comes from a listing, which never contains secrets.
            ConfigError: The string is not a valid key.
        """
        self._config = self._session.config = keyed(self._config, key)

    def with_options(
        self,
        *,
        timeout: float | Timeouts | None = None,
        retries: int | Retries | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """Returns a client that uses other settings and the same connections. Omitted settings stay unchanged.

        Args:
            timeout: Timeout of every call in seconds, or `Timeouts` with one value for each kind of call.
            retries: Maximum number of retries of a call that is safe to repeat, or `Retries`. 0 disables retries.
            correlation_id: Id to send with every call. The service returns the id, and the action can read it.
            headers: Headers to send with every request to the service, instead of the ``headers`` of this client.
        """
        return self._with(optioned(self._config, timeout, retries, correlation_id, headers))

    @property
    def clock_skew(self) -> float | None:
        """Seconds by which the service's clock is ahead of this machine's clock, accurate to about a second.

        The value is None before the first response.
        """
        return self._session.transport.clock.skew

    def now(self) -> float:
        """Returns the estimated time of the service in Unix seconds."""
        return time.time() + (self._session.transport.clock.skew or 0.0)


def keyed(config: Config, key: AnyKey | None) -> Config:
    """Returns a copy of ``config`` that contains ``key``, or no key if ``key`` is None.

    `ClientSettings.with_key` describes the argument ``key``.
    """
    if key is None:
        return config.replace(api_key=None, master_key=False)
    if isinstance(key, Account):
        return config.replace(api_key=key.api_key, master_key=True)
    if isinstance(key, UsageKey):
        if key.usage_api_key is None:
            raise InvalidArgument(
                f"the usage key {key.name!r} has no secret, because a list call returned this object",
                hint="Use the object that svc.usage_keys.create returned, or the key string that you saved.",
            )
        return config.replace(api_key=key.usage_api_key, master_key=False)
    return config.replace(api_key=clean_key(key), master_key=False)


def optioned(
    config: Config,
    timeout: float | Timeouts | None,
    retries: int | Retries | None,
    correlation_id: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Config:
    """Returns a copy of ``config`` in which the arguments that are not None replace the settings.

    `Client.with_options` describes the arguments.
    """
    changes: dict[str, Any] = {}
    if isinstance(timeout, Timeouts):
        changes["timeouts"] = timeout
    elif timeout is not None:
        changes["timeouts"] = Timeouts(connect=min(timeout, 10.0), read=timeout, write=timeout, run=timeout)
    if isinstance(retries, Retries):
        changes["retries"] = retries
    elif retries is not None:
        changes["retries"] = Retries(attempts=retries + 1)
    if correlation_id is not None:
        changes["correlation_id"] = correlation_id
    if headers is not None:
        changes["headers"] = checked_headers(headers)
    return config.replace(**changes)


_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def checked_headers(headers: object) -> dict[str, str]:
    """Checks the headers for every request, and returns them with lowercase names.

    Raises:
        InvalidArgument: A name or a value cannot be sent, or the client sets the header itself. The message never
            contains a value.
    """
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise InvalidType(f"invalid headers of type {type(headers).__name__}: expected a mapping of names to strings")
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidArgument(
                f"invalid header name {name!r}: expected ASCII letters, digits and the characters !#$%&'*+-.^_`|~"
            )
        if name.lower() in _OWN_HEADERS:
            raise InvalidArgument(
                f"the header {name} is not allowed, because the client sets this header",
                hint=_OWN_HEADERS[name.lower()],
            )
        if not isinstance(value, str) or not value.isascii() or not value.isprintable():
            raise InvalidArgument(f"invalid value of the header {name}: expected printable ASCII text")
    return {name.lower(): value for name, value in headers.items()}


_OWN_HEADERS = {
    "accept": "Omit this header: the service returns JSON.",
    "content-length": "Omit this header.",
    "content-type": "Omit this header: the client sends JSON.",
    "host": "Omit this header, or pass the address of the service as base_url.",
    "transfer-encoding": "Omit this header.",
    "x-api-key": "Omit this header, and pass the key as api_key.",
    "x-correlation-id": "Omit this header, and call svc.with_options(correlation_id=text).",
}


def history_setting(chosen: str | Path | bool | None) -> str | None:  # noqa: FBT001 - the argument as the caller passed it
    """Returns the value of `Config.history` for the argument ``history`` of a client."""
    if chosen is True:
        chosen = default_path()
    return OFF if chosen is False else None if chosen is None else str(chosen)


def listeners(on_run: Callable[[RunRecord], object] | Sequence[Listener], config: Config) -> list[Listener]:
    """Returns the listeners of a client: those in ``on_run``, and a `Recorder` if the history is enabled."""
    given = [on_run] if callable(on_run) else list(on_run)
    path = default_path() if config.history is None else config.history
    return given if path is None or str(path) == OFF else [*given, Recorder(path)]


def close_recorders(told: Sequence[Listener]) -> None:
    """Closes the files of a client's recorders."""
    for listener in told:
        if isinstance(listener, Recorder):
            listener.close()
