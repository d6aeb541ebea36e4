"""One process of an engine. It is warmed up, and then receives one job at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from typing import cast

from svcnb.emulator.platform.reachable import is_stopped
from svcnb.emulator.sandbox.process import Exit, Process, ProcessHost, error_file, read_error_file

READY = b"R"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class StartFailed(RuntimeError):
    """A process ended before it was warm."""


class Isolate(asyncio.Protocol):
    """The service's side of one isolate.

    Args:
        host: Starts and ends the process of the isolate.
    """

    def __init__(self, host: ProcessHost) -> None:
        self._host = host
        self._process: Process | None = None
        self._transport: asyncio.Transport | None = None
        self._errors = -1
        self._statm = -1
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_data: Callable[[bytes], None] | None = None
        self._on_lost: Callable[[], None] | None = None
        self._idle_bytes = 0
        self._aside = False
        self._writable = asyncio.Event()
        self._writable.set()

    async def start(self, timeout_s: float, *, aside: bool = False, reuse: bool = False) -> None:
        """Starts the process and waits until it is warm.

        Args:
            timeout_s: Maximum duration of the start, in seconds.
            aside: Whether it warms up without the reserved cores.
            reuse: Whether it serves one run after another. It then uses all cores once it is warm.

        Raises:
            StartFailed: It ended or took too long. The text contains its output.
        """
        try:
            process = await self._spawn(aside=aside)
            async with asyncio.timeout(timeout_s):
                await self._ready
                # The process may be warm before the spawner reports its id.
                await process.begun
        except (OSError, TimeoutError, StartFailed) as error:
            said = read_error_file(self._errors).strip() or str(error) or type(error).__name__
            self.close()
            raise StartFailed(f"an isolate did not start: {said}") from None
        except BaseException:
            self.close()
            raise
        if process.pid is not None:
            with contextlib.suppress(OSError):
                self._statm = os.open(f"/proc/{process.pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._idle_bytes = self.resident_bytes() or 0
        if aside and reuse:
            self._host.bring_back(process)
        elif aside:
            self._host.bring_near(process)

    async def _spawn(self, *, aside: bool) -> Process:
        ours, theirs = socket.socketpair()
        try:
            self._errors = error_file()
            process = self._process = self._host.spawn(theirs, self._errors, aside=aside)
            process.exited.add_done_callback(self._exited)
            await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
        finally:
            theirs.close()
            if self._transport is None:
                ours.close()  # no transport owns it
        return process

    @property
    def pid(self) -> int | None:
        """Process id, once it is available."""
        return None if self._process is None else self._process.pid

    @property
    def is_copy(self) -> bool:
        """Whether its process is a copy of a template."""
        return self._process is not None and self._process.is_copy

    @property
    def usable(self) -> bool:
        """Whether it is warm and alive."""
        return self._process is not None and not self._process.exited.done() and self._transport is not None

    @property
    def suspended(self) -> bool:
        """Whether a signal (SIGSTOP) stopped its process. False where the system does not report that."""
        return is_stopped(self.pid)

    def resident_bytes(self) -> int | None:
        """Resident memory of the process, or None where the system does not report it."""
        if self._statm < 0:
            return None
        try:
            return int(os.pread(self._statm, 128, 0).split()[1]) * _PAGE
        except (OSError, IndexError):
            return None

    def grown_bytes(self) -> int | None:
        """Resident memory beyond that of the idle spare."""
        now = self.resident_bytes()
        return None if now is None else max(0, now - self._idle_bytes)

    async def most_grown_bytes(self) -> int:
        """Peak resident memory of the process beyond that of the idle spare. 0 where the system does not report it."""
        most = self._most_resident_bytes()
        if most is None:
            how, _ = await self.died()
            most = how.held_bytes
        return max(0, most - self._idle_bytes)

    def _most_resident_bytes(self) -> int | None:
        """Peak resident memory. None once the process has ended."""
        if self._statm < 0:
            return 0
        try:
            with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - others wait during this read
                line = next(line for line in file if line.startswith("VmHWM:"))
        except (OSError, StopIteration):
            return None
        return int(line.split()[1]) * 1024

    def begin(self, job: bytes, on_data: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        """Gives the isolate a job.

        Args:
            job: The job's frame.
            on_data: Receives all output of the isolate.
            on_lost: Called when its channel closes.
        """
        self._on_data, self._on_lost = on_data, on_lost
        self.write(job)

    def write(self, data: bytes | bytearray) -> None:
        """Sends bytes, which must not change until they are sent.

        They are lost silently when the process is gone. ``on_lost`` reports that.
        """
        if self._transport is not None:
            self._transport.write(data)

    async def drained(self) -> None:
        """Waits until the process has read most of the written bytes, or has ended."""
        await self._writable.wait()

    def rest(self) -> None:
        """Ignores its output until it is given another job."""
        self._on_data = self._on_lost = None
        self.resume()
        if self._aside and self._process is not None:
            self._aside = False
            self._host.bring_back(self._process)

    def deafen(self) -> None:
        """Ignores all further output of the isolate, and its end."""
        self._on_data = self._on_lost = None
        self.pause()

    def lower(self, *, aside: bool) -> None:
        """Gives it a smaller share of the processor from now on.

        Args:
            aside: Whether it also leaves the reserved cores.
        """
        if self._process is not None:
            self._host.lower(self._process, aside=aside)

    def step_aside(self) -> None:
        """Moves the isolate off the reserved cores until the end of its run."""
        if self._process is not None:
            self._aside = True
            self._host.step_aside(self._process)

    def pause(self) -> None:
        """Stops reading from the isolate, so that it has to wait."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Continues reading."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    async def died(self, timeout_s: float = 5.0) -> tuple[Exit, str]:
        """Waits for the end of the process.

        Returns:
            How it ended, and the end of its standard error.
        """
        if self._process is None:
            return Exit(None), ""
        try:
            how = await asyncio.wait_for(asyncio.shield(self._process.exited), timeout_s)
        except TimeoutError:
            how = Exit(None, reason="it does not end")
        return how, read_error_file(self._errors)

    def close(self) -> None:
        """Ends the process and releases all resources."""
        if self._process is not None:
            self._host.kill(self._process)
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        for descriptor in (self._errors, self._statm):
            if descriptor >= 0:
                os.close(descriptor)
        self._errors = self._statm = -1
        self._on_data = self._on_lost = None
        if not self._ready.done():
            self._ready.cancel()

    def _exited(self, _: asyncio.Future[Exit]) -> None:
        if not self._ready.done():
            self._ready.set_exception(StartFailed("its process ended"))

    # --- asyncio.Protocol ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        # Not checked: uvloop's transports are not subclasses of asyncio's, they only have the same methods.
        self._transport = cast("asyncio.Transport", transport)

    def pause_writing(self) -> None:
        """Called by the event loop."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Called by the event loop."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._on_data is not None:
            self._on_data(data)
        elif not self._ready.done():
            if data == READY:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(StartFailed(f"it greeted with {data[:64]!r}"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        """Called by the event loop."""
        self._transport = None
        self._writable.set()
        if not self._ready.done():
            self._ready.set_exception(StartFailed("it closed its channel"))
        if self._on_lost is not None:
            self._on_lost()
