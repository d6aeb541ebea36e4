"""Web worker of the engine `fast` in a browser page. See `svcnb.emulator.sandbox.isolate.Isolate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from svcnb.bundles import read_bundle, read_stored
from svcnb.emulator.sandbox.isolate import READY, ProcessorUse, StartFailed
from svcnb.emulator.sandbox.process import Exit
from svcnb.protocol.in_page import object_url, revoke

STATIC: Final = Path(__file__).with_name("static")
BUNDLE: Final = STATIC / "fast_page.js"


class PageIsolate:
    """Connection of the emulator to one web worker that runs actions. If the worker fails, its run also fails."""

    def __init__(self) -> None:
        self._worker: Any = None
        self._proxies: list[Any] = []
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_data: Callable[[bytes], None] | None = None
        self._on_lost: Callable[[], None] | None = None
        self._held: list[bytes] | None = None

    async def start(self, names: str, timeout_s: float) -> None:
        """Starts the worker and waits until it is warmed up.

        Args:
            names: Names that are visible to actions, as JSON text.
            timeout_s: Maximum duration of the start, in seconds.

        Raises:
            StartFailed: The worker failed or took too long.
        """
        from js import Object, Worker
        from pyodide.ffi import create_proxy, to_js

        # The browser decompresses the files faster than Python.
        files = {
            "image": read_stored(STATIC / "fast.image"),
            "quickjs": read_stored(STATIC / "quickjs.wasm"),
            "secp256k1": read_stored(STATIC / "secp256k1.wasm"),
        }
        url = object_url(read_bundle(BUNDLE))
        try:
            self._worker = Worker.new(url, to_js({"type": "module"}, dict_converter=Object.fromEntries))
            self._proxies = [
                create_proxy(lambda event: self._handle(event.data.to_bytes())),
                create_proxy(self._failed),
            ]
            self._worker.onmessage, self._worker.onerror = self._proxies
            self._worker.postMessage(to_js({"names": names} | files, dict_converter=Object.fromEntries))
            async with asyncio.timeout(timeout_s):
                await self._ready
        except TimeoutError:
            self.close()
            raise StartFailed(
                f"the web worker for actions was not ready within {timeout_s:g} s: reload the page"
            ) from None
        except BaseException:
            self.close()
            raise
        finally:
            revoke(url)

    def growth_bytes(self) -> int | None:
        """Returns None, because a browser does not report memory use. QuickJS itself limits the memory of a run."""
        return None

    def processor(self) -> ProcessorUse | None:
        """Returns None, because a browser does not report processor time."""
        return None

    async def peak_growth_bytes(self) -> int:
        """Returns 0, because a browser does not report memory use."""
        return 0

    def begin(self, job: bytes, on_data: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        """Starts a run in the worker. For arguments, see `Isolate.begin`."""
        self._on_data, self._on_lost = on_data, on_lost
        self.write(job)

    def write(self, data: bytes | bytearray) -> None:
        """Sends bytes, or discards the bytes if the worker has stopped."""
        if self._worker is not None:
            from pyodide.ffi import to_js

            self._worker.postMessage(to_js(data))

    async def drained(self) -> None:
        """Returns immediately, because the browser buffers the bytes."""

    def detach(self) -> None:
        """Ignores output of the worker until the next run."""
        self._on_data = self._on_lost = None
        self._held = None

    def lower(self, *, aside: bool) -> None:
        """Does nothing, because a page cannot control the scheduling of workers."""

    def pause(self) -> None:
        """Buffers the worker's output until the call of `resume`."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        """Delivers the buffered output."""
        held, self._held = self._held or [], None
        for data in held:
            self._handle(data)

    async def wait_for_exit(self) -> tuple[Exit, str]:
        """Returns the exit result of a failed worker."""
        return Exit(None, reason="the worker failed"), ""

    def close(self) -> None:
        """Stops the worker."""
        if self._worker is not None:
            self._worker.terminate()
            self._worker = None
        for proxy in self._proxies:
            proxy.destroy()
        self._proxies = []
        self.detach()
        if not self._ready.done():
            self._ready.cancel()

    def _handle(self, data: bytes) -> None:
        if not self._ready.done():
            if data == READY:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(StartFailed(f"expected the ready message {READY!r}, got {data[:64]!r}"))
        elif self._held is not None:
            self._held.append(data)
        elif self._on_data is not None:
            self._on_data(data)

    def _failed(self, event: Any) -> None:
        if not self._ready.done():
            self._ready.set_exception(StartFailed(str(getattr(event, "message", "")) or "the worker failed"))
        elif self._on_lost is not None:
            self._on_lost()
