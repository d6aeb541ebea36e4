"""Base class of all panels on the kernel's side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import anywidget

from svcnb.client import AsyncClient, Client
from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.panels.session import Session
from svcnb.panels.wire import Channel

STATIC: Final = Path(__file__).with_name("static")

F = TypeVar("F", bound=Callable[..., object])


def command(work: F) -> F:
    """Decorator that makes a method of a panel a command, which its browser side may call by name.

    The method takes JSON values as keyword arguments and returns one. It does not run on the notebook's thread. A
    coroutine function runs on the event loop of the panels, and cancel stops it at its next await. A plain function
    runs on a worker thread, and cancel ignores its result. The panel shows errors with their hints.
    """
    work.__svcnb_command__ = True  # type: ignore[attr-defined]  # functions take any attribute
    return work


class Panel(anywidget.AnyWidget):
    """Base class of all panels.

    A subclass names its bundle, ``class MyPanel(Panel, bundle="my_panel")``, marks methods with `command` and writes
    the performed actions with `record`. Traits are saved into notebooks with the widget's state, so a trait must never
    contain a secret. Secrets are only sent in answers to commands, which are not saved.

    Args:
        client: The service. Its key stays in the kernel.

    Raises:
        InvalidArgument: ``client`` is not a `svcnb.Client`.
    """

    title: ClassVar[str] = "Panel"
    _session: Session | None = None

    def __init_subclass__(cls, *, bundle: str | None = None, **options: Any) -> None:
        """Finds the browser side in ``svcnb/panels/static``."""
        if bundle is not None:
            script = STATIC / f"{bundle}.js"
            if not script.is_file():
                raise ConfigError(
                    f"the browser side of {cls.__name__} is not built: {script.name} is missing",
                    hint="In a working copy: python hatch_build.py. An installed package brings it: reinstall svcnb.",
                )
            cls._esm = script
            cls._css = script.with_suffix(".css")
        super().__init_subclass__(**options)

    def __init__(self, client: Client | None = None, **traits: Any) -> None:
        if client is not None and not isinstance(client, Client):
            raise InvalidArgument(
                f"a panel takes a client first, not {type(client).__name__}",
                hint=f"svcnb.panels.{type(self).__name__}(svcnb.Client(...))",
            )
        self._session = None if client is None else Session.of(client)
        self._own_lines: list[str] = []
        super().__init__(**traits)
        self.channel = Channel({name: getattr(self, name) for name in self._commands()}, self.send)
        self.on_msg(lambda _panel, content, _buffers: self.channel.receive(content))
        if self._session is not None:
            self._session.watch(self._changed)

    @classmethod
    def _commands(cls) -> set[str]:
        marked = {name: member for kind in reversed(cls.__mro__) for name, member in vars(kind).items()}
        return {name for name, member in marked.items() if getattr(member, "__svcnb_command__", False) is True}

    # --- the service --------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """State that this panel shares with all other panels of its client.

        Raises:
            ConfigError: The panel has no client.
        """
        if self._session is None:
            raise ConfigError(
                f"this {type(self).__name__} has no client",
                hint=f"svcnb.panels.{type(self).__name__}(svcnb.Client(...))",
            )
        return self._session

    @property
    def client(self) -> Client:
        """The client of the panel. Opening an account in any of its panels changes this client's key.

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
        """Async client of the same service for commands, with its own connections."""
        return self.session.service

    def _changed(self, what: frozenset[str]) -> None:
        if what == {"code"}:
            self.channel.tell("code", {"code": self.as_code()})
        else:
            self.session_changed(what)
            self.channel.tell("session", {"changed": sorted(what), "session": self.session.view()})

    def session_changed(self, what: frozenset[str]) -> None:
        """Called after another panel, a cell of the notebook or this panel changed the session."""

    @command
    def shared(self) -> dict[str, Any]:
        """Returns the displayed values of the session."""
        return self.session.view()

    def close(self) -> None:
        """Ends the panel; the client stays open."""
        if self._session is not None:
            self._session.unwatch(self._changed)
        super().close()

    # --- recorded Python ----------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        """Actions performed in all panels of the client, in order, as Python."""
        return self._own_lines if self._session is None else self._session.lines

    def record(self, line: str) -> None:
        """Adds a line of Python to the result of `as_code`. It must not contain a secret."""
        if self._session is None:
            self.lines.append(line)
            self.channel.tell("code", {"code": self.as_code()})
        else:
            self._session.record(line)

    def as_code(self) -> str:
        """Returns the actions performed in all panels of the client, as runnable Python.

        The code reads the key from ``SVC_API_KEY``.
        """
        start = ["import svcnb", ""]
        if self._session is not None:
            note = "  # its key: SVC_API_KEY" if self._session.given_key else ""
            start.append(f"svc = svcnb.Client({self.client.base_url!r}){note}")
        return "\n".join([*start, *self.lines]) + "\n"

    @command
    def code(self) -> dict[str, str]:
        """Returns the performed actions as Python, for the panel's own button."""
        return {"code": self.as_code()}

    # --- display ------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, object]:
        """Values for the panel's repr. They are the same at every run, and none is secret."""
        return {}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.about().items())
        return f"{type(self).__name__}({values})"
