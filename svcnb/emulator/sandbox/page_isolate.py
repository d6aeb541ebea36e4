"""One worker of the engine `fast` in a browser page. See `svcnb.emulator.sandbox.isolate.Isolate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from svcnb.emulator.sandbox.isolate import READY, StartFailed
from svcnb.emulator.sandbox.object_url import object_url, revoke
from svcnb.emulator.sandbox.process import Exit

STATIC: Final = Path(__file__).with_name("static")
BUNDLE: Final = STATIC / "fast_page.js"


class PageIsolate:
    """The service's side of one worker. Ending the worker also ends its run."""

    def __init__(self) -> None:
        self._worker: Any = None
        self._proxies: list[Any] = []
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_data: Callable[[bytes], None] | None = None
        self._on_lost: Callable[[], None] | None = None
        self._held: list[bytes] | None = None

    async def start(self, names: str, timeout_s: float) -> None:
        """Starts the worker and waits until it is warm.

        Args:
            names: The names that actions see, as JSON.
            timeout_s: Maximum duration of the start, in seconds.

        Raises:
            StartFailed: It failed or took too long.
        """
        from js import Object, Worker
        from pyodide.ffi import create_proxy, to_js

        files = {
            "image": (STATIC / "fast.image").read_bytes(),
            "quickjs": (STATIC / "quickjs.wasm").read_bytes(),
            "secp256k1": (STATIC / "secp256k1.wasm").read_bytes(),
        }
        url = object_url(BUNDLE.read_bytes())
        try:
            self._worker = Worker.new(url, to_js({"type": "module"}, dict_converter=Object.fromEntries))
            self._proxies = [create_proxy(self._heard), create_proxy(self._failed)]
            self._worker.onmessage, self._worker.onerror = self._proxies
            self._worker.postMessage(to_js({"names": names} | files, dict_converter=Object.fromEntries))
            async with asyncio.timeout(timeout_s):
                await self._ready
        except TimeoutError:
            self.close()
            raise StartFailed(f"a worker was not ready within {timeout_s:g} s") from None
        except BaseException:
            self.close()
            raise
        finally:
            revoke(url)

    @property
    def usable(self) -> bool:
        """Whether it is warm and alive."""
        return self._worker is not None and self._ready.done()

    def grown_bytes(self) -> int | None:
        """None: a browser does not report it. The engine has a limit of its own."""
        return None

    async def most_grown_bytes(self) -> int:
        """0, for the same reason."""
        return 0

    def begin(self, job: bytes, on_data: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        """Gives the worker a job. Arguments are those of `Isolate.begin`."""
        self._on_data, self._on_lost = on_data, on_lost
        self.write(job)

    def write(self, data: bytes | bytearray) -> None:
        """Sends bytes. They are lost when the worker was ended."""
        if self._worker is not None:
            from pyodide.ffi import to_js

            self._worker.postMessage(to_js(data))

    async def drained(self) -> None:
        """Returns at once, because the browser buffers the bytes."""

    def rest(self) -> None:
        """Ignores its output until it is given another job."""
        self._on_data = self._on_lost = None
        self._held = None

    def deafen(self) -> None:
        """Ignores all further output."""
        self.rest()

    def lower(self, *, aside: bool) -> None:
        """Does nothing: a browser schedules its workers without control by a page."""

    def pause(self) -> None:
        """Buffers the output until `resume`."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        """Delivers the buffered output."""
        held, self._held = self._held or [], None
        for data in held:
            self._hear(data)

    async def died(self, timeout_s: float = 5.0) -> tuple[Exit, str]:  # noqa: ARG002 - as of `Isolate`
        """How it ended."""
        return Exit(None, reason="the worker failed"), ""

    def close(self) -> None:
        """Ends the worker."""
        if self._worker is not None:
            self._worker.terminate()
            self._worker = None
        for proxy in self._proxies:
            proxy.destroy()
        self._proxies = []
        self.rest()
        if not self._ready.done():
            self._ready.cancel()

    def _heard(self, event: Any) -> None:
        self._hear(event.data.to_bytes())

    def _hear(self, data: bytes) -> None:
        if not self._ready.done():
            if data == READY:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(StartFailed(f"it greeted with {data[:64]!r}"))
        elif self._held is not None:
            self._held.append(data)
        elif self._on_data is not None:
            self._on_data(data)

    def _failed(self, event: Any) -> None:
        if not self._ready.done():
            self._ready.set_exception(StartFailed(str(getattr(event, "message", "")) or "the worker failed"))
        elif self._on_lost is not None:
            self._on_lost()
