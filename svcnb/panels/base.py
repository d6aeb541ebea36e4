"""Base class of all panels, for the kernel side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import anywidget

from svcnb.bundles import bundle_exists, read_bundle
from svcnb.checked import checked_first
from svcnb.client import AsyncClient, Client
from svcnb.client.errors import ConfigError
from svcnb.client.models.chain import ether
from svcnb.control import EmulatorError
from svcnb.control.plane import ControlPlane
from svcnb.panels.session import Session
from svcnb.panels.wire import Channel
from svcnb.protocol.in_page import IN_PAGE

STATIC: Final = Path(__file__).with_name("static")

F = TypeVar("F", bound=Callable[..., object])


def command(work: F) -> F:
    """Decorator that turns a panel's method into a command. The browser side can call a command by name.

    The method takes JSON values as keyword arguments and returns a JSON value. A coroutine function runs on the event
    loop of the panels, and stops at its next await after a cancellation. A plain function runs on a worker thread, and
    a cancellation discards its result. Commands therefore do not block the notebook, except in a browser page, which
    has only one thread. The panel shows errors with their hints.
    """
    work.__svcnb_command__ = True  # type: ignore[attr-defined]  # functions accept any attribute
    return work


class Panel(anywidget.AnyWidget):
    """Base class of all panels.

    A subclass names its bundle: ``class MyPanel(Panel, bundle="my_panel")``. The subclass marks methods with `command`,
    and records the user's steps with `record`. Jupyter saves traits into notebooks with the widget's state, so a trait
    must never contain a secret. Only responses to commands can contain secrets, because Jupyter does not save the
    responses.

    Args:
        client: Client of the service, or None for a panel without a service. The panel never sends a key that
            the client already has to the browser.

    Raises:
        InvalidType: ``client`` is not a `svcnb.Client`.
    """

    title: ClassVar[str] = "Panel"
    _session: Session | None = None

    def __init_subclass__(cls, *, bundle: str | None = None, **options: Any) -> None:
        """Loads the JavaScript and the CSS of the panel from ``svcnb/panels/static``."""
        if bundle is not None:
            script = STATIC / f"{bundle}.js"
            if not bundle_exists(script):
                raise ConfigError(
                    f"the front-end bundle of {cls.__name__} is not built: {script.name} is missing",
                    hint="In a working copy, run: python hatch_build.py. If svcnb is installed as a package, "
                    "reinstall it.",
                )
            cls._esm = read_bundle(script).decode()
            cls._css = read_bundle(script.with_suffix(".css")).decode()
        if "__init__" in vars(cls):
            setattr(cls, "__init__", checked_first(vars(cls)["__init__"]))  # noqa: B010 - mypy rejects a direct assignment
        super().__init_subclass__(**options)

    @checked_first
    def __init__(self, client: Client | None = None, **traits: Any) -> None:
        self._session = None if client is None else Session.of(client)
        self._own_lines: list[str] = []
        super().__init__(**traits)
        self.channel = Channel({name: getattr(self, name) for name in self._commands()}, self._deliver)
        self.on_msg(lambda _panel, content, _buffers: self.channel.receive(content))
        if self._session is not None:
            self._session.watch(self._changed)

    def _deliver(self, message: Mapping[str, object]) -> None:
        """Sends a message to all views.

        In a browser page, the method sends the message as JSON text. As a JavaScript object, the message would lose the
        fields that are None.
        """
        self.send({"json": json.dumps(message)} if IN_PAGE else message)

    @classmethod
    def _commands(cls) -> set[str]:
        marked = {name: member for kind in reversed(cls.__mro__) for name, member in vars(kind).items()}
        return {name for name, member in marked.items() if getattr(member, "__svcnb_command__", False) is True}

    # --- the service --------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """Session that this panel shares with all other panels of its client.

        Raises:
            ConfigError: The panel has no client.
        """
        if self._session is None:
            raise ConfigError(
                f"this {type(self).__name__} has no client",
                hint=f"Pass a client: svcnb.panels.{type(self).__name__}(svcnb.Client(...)).",
            )
        return self._session

    @property
    def client(self) -> Client:
        """The client of the panel.

        When a user opens an account in API mode in any panel of the client, the client uses the key of this account.

        Raises:
            ConfigError: The panel has no client.
        """
        return self.session.client

    @client.setter
    def client(self, client: Client) -> None:
        if self._session is not None:
            self._session.unwatch(self._changed)
        self._session = Session.of(client)
        self._session.watch(self._changed)

    @property
    def service(self) -> AsyncClient:
        """Async client for the panel's commands. It uses the same service as `client`, with its own connections."""
        return self.session.service

    def _changed(self, what: frozenset[str]) -> None:
        if what == {"code"}:
            self.channel.tell("code", {"code": self.as_code()})
        else:
            self.session_changed(what)
            self.channel.tell("session", {"changed": sorted(what), "session": self.session.view()})

    def session_changed(self, what: frozenset[str]) -> None:
        """Updates the panel after a change of the session by this panel, another panel or a notebook cell.

        Args:
            what: Names of the changes; see `svcnb.panels.session.Session`.
        """

    @command
    def shared(self) -> dict[str, Any]:
        """Returns the displayed values of the session."""
        return self.session.view()

    # --- gas on an emulator -------------------------------------------------------------------------------------

    @command
    def has_faucet(self) -> bool:
        """Returns whether the service is an emulator that this client can control, as `fund` requires."""
        try:
            self._control.request("GET", "/state")
        except EmulatorError:
            return False
        return True

    @command
    def fund(self, address: str) -> str:
        """Adds test ETH to a wallet on the emulator's chain, and returns the amount as text with its unit."""
        added = int(self._control.request("POST", "/faucet", {"address": address})["wei"])
        self.record(f"svcnb.Emulator.connect(svc.base_url).faucet({address!r})")
        return ether(added)

    @property
    def _control(self) -> ControlPlane:
        config = self.client.config
        token = config.control_token
        return ControlPlane(f"{config.base_url}/_emulator", token.reveal() if token else None)

    def close(self) -> None:
        """Closes the panel. The client stays open."""
        if self._session is not None:
            if self._session.host is self:
                self._session.host = None
            self._session.unwatch(self._changed)
        super().close()

    # --- recorded Python ----------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        """Python code of the user's steps in all panels of the client, in chronological order."""
        return self._own_lines if self._session is None else self._session.lines

    def record(self, line: str) -> None:
        """Adds a line of Python to the result of `as_code`. The line must not contain a secret."""
        if self._session is None:
            self.lines.append(line)
            self.channel.tell("code", {"code": self.as_code()})
        else:
            self._session.record(line)

    def as_code(self) -> str:
        """Returns the user's steps in all panels of the client, as runnable Python.

        If the client was created with a key, the code reads the key from ``SVC_API_KEY``.
        """
        start = ["import svcnb", ""]
        if self._session is not None:
            note = "  # reads the key from SVC_API_KEY" if self._session.given_key else ""
            start.append(f"svc = svcnb.Client({self.client.base_url!r}){note}")
        return "\n".join([*start, *self.lines]) + "\n"

    @command
    def code(self) -> dict[str, str]:
        """Returns the user's steps as Python, for the button in the panel."""
        return {"code": self.as_code()}

    # --- display ------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, object]:
        """Returns the values that the `repr` of the panel shows.

        The values contain no secrets, and are the same in every run of a notebook.
        """
        return {}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.about().items())
        return f"{type(self).__name__}({values})"
