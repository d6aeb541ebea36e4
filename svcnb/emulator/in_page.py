"""Emulator in a browser page, which runs the same service in the caller's Python interpreter."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from svcnb import page_storage
from svcnb.emulator.errors import StateLocked, StateUnusable
from svcnb.emulator.main import build_app
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings
from svcnb.in_process import new_address, register, unregister, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from svcnb.in_process import App

ABSENT: Final = {
    "action_engine": "an emulator in a browser page supports only the engine 'fast'. Omit action_engine, or install "
    "svcnb outside the browser.",
    "chain_rpc": "an emulator in a browser page supports only the emulator's own chain. Omit chain_rpc.",
    "database": "an emulator in a browser page cannot use a database. Omit database, and set state to store data.",
    "idle_stop_s": "an emulator in a browser page stops when the page closes. Omit idle_stop_s.",
}
"""Error messages for settings that are not available in a page, by name."""
_ALLOWED: Final = {"action_engine": "fast"}
_SAVE_AFTER_S: Final = 0.3
_NEVER_S: Final = 1e9


class PageService:
    """Emulator in this browser page. `svcnb.launch.Emulator` uses this class instead of a process.

    Args:
        settings: Settings by name. ``state`` is the name of a state in the browser's storage (`svcnb.page_storage`).

    Raises:
        ValueError: A setting is unknown, out of range, or not available in a page.
    """

    pid = 0
    state_refused: tuple[type[Exception], ...] = (StateUnusable,)
    """Classes of the errors that `wait_ready` raises if the state cannot be used."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        given = {name: value for name, value in settings.items() if value is not None}
        for name, reason in ABSENT.items():
            if name in given and given[name] != _ALLOWED.get(name):
                # The address of a database can contain a password.
                shown = name if name == "database" else f"{name} {given[name]!r}"
                raise ValueError(f"{shown}: {reason}")
        self._state = None if given.get("state") is None else str(given["state"])
        if self._state is not None:
            # The next start continues with the same time and random number generators, as after an idle stop.
            given |= {"state": page_storage.folder(self._state), "idle_stop_s": _NEVER_S}
        self._settings = Settings.load(**(given | {"action_engine": "fast", "chain_engine": "ethereumjs"}))
        self._service: Service | None = None
        self._url = new_address()
        self._release: Callable[[], None] | None = None
        self._saving: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether the service has started, and has not been stopped since then."""
        return self._service is not None

    def log(self) -> str:
        """Returns an empty string, because log messages go to the interpreter's own log."""
        return ""

    def wait(self) -> None:
        """Returns immediately, because only `stop` ends the service."""

    def wait_ready(self, timeout_s: float) -> dict[str, Any]:
        """Starts the service, and returns the service's URLs and the control token.

        Args:
            timeout_s: Seconds to wait until the service is ready.

        Raises:
            StateUnusable: The stored state cannot be used, or another emulator uses it.
            TimeoutError: The service was not ready in time.
        """
        return wait(asyncio.wait_for(self._start(), timeout_s))

    async def _start(self) -> dict[str, Any]:
        if self._state is not None:
            await page_storage.load()
            self._release = await page_storage.claim(self._state)
            if self._release is None:
                raise StateLocked(
                    f"the state {self._state!r} is in use in another tab or emulator: stop that emulator first"
                )
        try:
            service = Service(self._settings)
            service.listens_at(self._url)
            app = build_app(service)
            await service.start()
        except BaseException:
            self._unlock()
            raise
        self._service = service
        register(self._url, app if self._state is None else self._saved_after(app))
        return service.addresses() | {"control_token": service.control_token}

    def stop(self) -> None:
        """Stops the service. Saves a named state in the browser's storage. Repeated calls have no effect."""
        unregister(self._url)
        service, self._service = self._service, None
        if service is not None:
            _finish(self._end(service))

    def _saved_after(self, app: App) -> App:
        """Returns a wrapper of the application that saves the state in the browser's storage after each request."""

        async def handle(scope: Any, receive: Any, send: Any) -> None:
            try:
                await app(scope, receive, send)
            finally:
                if self._saving is None or self._saving.done():
                    self._saving = asyncio.ensure_future(self._save_soon())

        return handle

    async def _save_soon(self) -> None:
        await asyncio.sleep(_SAVE_AFTER_S)
        if (service := self._service) is not None:
            await service.runs.flush()
            service.keep_streams()
            await page_storage.save()

    async def _end(self, service: Service) -> None:
        await service.stop()
        if self._state is not None:
            await page_storage.save()
        self._unlock()

    def _unlock(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None


def _finish(work: Coroutine[Any, Any, None]) -> None:
    from pyodide.ffi import can_run_sync

    if can_run_sync():
        wait(work)
    else:  # the caller cannot wait in this browser, so the service stops in the background
        _ENDING.add(task := asyncio.ensure_future(work))
        task.add_done_callback(_ENDING.discard)


# References to tasks that stop services. The event loop keeps only weak references to tasks.
_ENDING: Final[set[asyncio.Future[None]]] = set()
