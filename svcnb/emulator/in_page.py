"""An emulator in a browser page: the same service, in the interpreter of the caller."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.main import build_app
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings
from svcnb.in_process import new_address, register, unregister, wait

if TYPE_CHECKING:
    from collections.abc import Coroutine

ABSENT: Final = {
    "action_engine": "a page has the engine 'fast' alone; `pip install svcnb` brings 'v8'",
    "chain_rpc": "a page has its own chain alone",
    "database": "a page has no database server",
    "idle_stop_s": "an emulator of a page ends with it",
    "state": "a page keeps no folders",
}
"""Reasons why settings are refused in a page, by name."""
_ALLOWED: Final = {"action_engine": "fast"}


class PageService:
    """A service of this page. For `svcnb.launch.Emulator` it replaces the process of an installed emulator.

    Args:
        settings: Settings by name.

    Raises:
        ValueError: A setting is unknown, out of range, or not available in a page.
    """

    pid = 0

    def __init__(self, settings: Mapping[str, object]) -> None:
        given = {name: value for name, value in settings.items() if value is not None}
        for name, reason in ABSENT.items():
            if name in given and given[name] != _ALLOWED.get(name):
                raise ValueError(f"{name} {given[name]!r}: {reason}")
        self._settings = Settings.load(**(given | {"action_engine": "fast", "chain_engine": "ethereumjs"}))
        self._service: Service | None = None
        self._url = new_address()

    @property
    def running(self) -> bool:
        """Whether the service answers."""
        return self._service is not None

    def log(self) -> str:
        """Empty, because the log is the interpreter's own."""
        return ""

    def wait(self) -> None:
        """Returns at once. The service ends with `stop`."""

    def wait_ready(self, timeout_s: float) -> dict[str, Any]:
        """Starts the service. Returns addresses and control token once it answers."""
        return wait(asyncio.wait_for(self._start(), timeout_s))

    async def _start(self) -> dict[str, Any]:
        service = Service(self._settings)
        service.listens_at(self._url)
        app = build_app(service)
        await service.start()
        self._service = service
        register(self._url, app)
        return service.addresses() | {"control_token": service.control_token}

    def stop(self) -> None:
        """Stops the service. May be called twice."""
        unregister(self._url)
        service, self._service = self._service, None
        if service is not None:
            _finish(service.stop())


def _finish(work: Coroutine[Any, Any, None]) -> None:
    from pyodide.ffi import can_run_sync

    if can_run_sync():
        wait(work)
    else:  # as objects are collected
        _ENDING.add(task := asyncio.ensure_future(work))
        task.add_done_callback(_ENDING.discard)


_ENDING: Final[set[asyncio.Future[None]]] = set()
