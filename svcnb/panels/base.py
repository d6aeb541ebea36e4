"""What all panels have in common on the kernel's side."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import anywidget

from svcnb.client import AsyncClient, Client
from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.panels.loop import BACKGROUND
from svcnb.panels.wire import Channel

STATIC: Final = Path(__file__).with_name("static")

F = TypeVar("F", bound=Callable[..., object])


def command(work: F) -> F:
    """Makes a method of a panel a command that its browser side may call by name.

    The method takes JSON values as keyword arguments and returns one. It runs beside the notebook, on the panels' own
    thread: ``async def`` on its event loop (cancel stops it at its next wait), ``def`` on a worker thread (cancel
    abandons it). What it raises is shown in the panel, with its hint.
    """
    work.__svcnb_command__ = True  # type: ignore[attr-defined]  # functions take any attribute
    return work


class Panel(anywidget.AnyWidget):
    """The base of all panels.

    A subclass names its bundle, ``class MyPanel(Panel, bundle="my_panel")``, marks methods with `command` and writes
    what was done with `record`. Traits are saved into notebooks with the widget's state, so nothing secret may ever be
    one: secrets travel in answers to commands, which nobody saves.

    Args:
        client: The service; what it was given as key stays in the kernel.

    Raises:
        InvalidArgument: ``client`` is no `svcnb.Client`.
    """

    title: ClassVar[str] = "Panel"

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
        self._client = self._given = client
        self.lines: list[str] = []
        super().__init__(**traits)
        self.channel = Channel({name: getattr(self, name) for name in self._commands()}, self.send)
        self.on_msg(lambda _panel, content, _buffers: self.channel.receive(content))

    @classmethod
    def _commands(cls) -> set[str]:
        marked = {name: member for kind in reversed(cls.__mro__) for name, member in vars(kind).items()}
        return {name for name, member in marked.items() if getattr(member, "__svcnb_command__", False) is True}

    # --- the service --------------------------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        """The client that the panel was given.

        Raises:
            ConfigError: It was given none.
        """
        if self._client is None:
            raise ConfigError(
                f"this {type(self).__name__} has no client",
                hint=f"svcnb.panels.{type(self).__name__}(svcnb.Client(...))",
            )
        return self._client

    @client.setter
    def client(self, client: Client) -> None:
        self._client = client
        self._hang_up()

    @cached_property
    def service(self) -> AsyncClient:
        """The same service to await in commands, over connections of its own."""
        return self.client.to_async()

    def _hang_up(self) -> None:
        service: AsyncClient | None = self.__dict__.pop("service", None)
        if service is not None:
            BACKGROUND.submit(service.close())

    def close(self) -> None:
        """Ends the panel and its connections; the client that it was given stays open."""
        self._hang_up()
        super().close()

    # --- what was done, as Python -------------------------------------------------------------------------------

    def record(self, line: str) -> None:
        """Adds a line of Python to what `as_code` gives. It must hold no secret."""
        self.lines.append(line)
        self.channel.tell("code", {"code": self.as_code()})

    def as_code(self) -> str:
        """Returns what was done in this panel as Python that runs. A key is read from ``SVC_API_KEY``."""
        start = ["import svcnb", ""]
        if self._given is not None:
            note = "  # its key: SVC_API_KEY" if self._given.config.api_key else ""
            start.append(f"svc = svcnb.Client({self._given.base_url!r}){note}")
        return "\n".join([*start, *self.lines]) + "\n"

    @command
    def code(self) -> dict[str, str]:
        """What was done, for the panel's own button."""
        return {"code": self.as_code()}

    # --- display ------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, object]:
        """What the panel's repr tells: values that are the same at every run, none of them secret."""
        return {}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.about().items())
        return f"{type(self).__name__}({values})"
