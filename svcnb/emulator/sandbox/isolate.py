"""Process of an engine, which executes one run at a time after its warm-up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from svcnb.emulator.sandbox.process import Exit, Process, ProcessHost, error_file, read_error_file

READY = b"R"
_EXIT_S = 5.0
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessorUse(NamedTuple):
    """Processor time of a thread.

    Attributes:
        used_s: Seconds during which the thread ran.
        waited_s: Seconds during which the thread was ready to run but waited for a processor.
    """

    used_s: float
    waited_s: float


class StartFailed(RuntimeError):
    """Error for a process that exited during its warm-up, sent unexpected data, or took too long."""


class Isolate(asyncio.Protocol):
    """Connection of the service to one isolate. An isolate is a process that runs actions.

    Args:
        host: Client of the spawner, which starts and stops the isolate's process.
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
        """Starts the process and waits until it is warmed up.

        Args:
            timeout_s: Maximum duration of the start, in seconds.
            aside: Whether the process must not use the cores that the spawner reserves for work with a waiting caller.
                This rule applies only during the warm-up.
            reuse: Whether the process executes several runs. After a warm-up with ``aside``, a process for several runs
                uses all cores. In a process for one run, only the main thread moves to the reserved cores.

        Raises:
            StartFailed: The warm-up failed or took too long. The message contains the output of the process, if any.
        """
        try:
            process = await self._spawn(aside=aside)
            async with asyncio.timeout(timeout_s):
                await self._ready
                # The warm-up can end before the spawner reports the process id.
                await process.begun
        except (OSError, TimeoutError, StartFailed) as error:
            late = f"it was not ready within {timeout_s:g} s" if isinstance(error, TimeoutError) else ""
            said = read_error_file(self._errors).strip() or str(error) or late or type(error).__name__
            self.close()
            raise StartFailed(f"a process for actions did not start: {said}") from None
        except BaseException:
            self.close()
            raise
        if process.pid is not None:
            with contextlib.suppress(OSError):
                self._statm = os.open(f"/proc/{process.pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._idle_bytes = self.resident_bytes() or 0
        if aside and reuse:
            self._host.order("back", process)
        elif aside:
            self._host.order("near", process)

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
                ours.close()  # no transport owns the socket yet
        return process

    @property
    def pid(self) -> int | None:
        """Id of the process, or None before the spawner has reported the id."""
        return None if self._process is None else self._process.pid

    @property
    def usable(self) -> bool:
        """Whether the isolate is warmed up and alive."""
        return self._process is not None and not self._process.exited.done() and self._transport is not None

    def resident_bytes(self) -> int | None:
        """Returns the resident memory of the process in bytes, or None if the system does not report it."""
        if self._statm < 0:
            return None
        try:
            return int(os.pread(self._statm, 128, 0).split()[1]) * _PAGE
        except (OSError, IndexError):
            return None

    def growth_bytes(self) -> int | None:
        """Returns the growth of the resident memory since the end of the warm-up, in bytes, or None if unknown."""
        now = self.resident_bytes()
        return None if now is None else max(0, now - self._idle_bytes)

    def processor(self) -> ProcessorUse | None:
        """Returns the processor time of the main thread so far, or None if the system does not report it."""
        try:
            with open(f"/proc/{self.pid}/schedstat", "rb") as file:  # noqa: PTH123 - faster than pathlib, and other tasks wait
                used_ns, waited_ns, _ = file.read(128).split()
            return ProcessorUse(int(used_ns) / 1e9, int(waited_ns) / 1e9)
        except (OSError, ValueError):
            return None

    async def peak_growth_bytes(self) -> int:
        """Returns the peak growth of the resident memory since the end of the warm-up, in bytes, or 0 if unknown."""
        most = self._most_resident_bytes()
        if most is None:
            how, _ = await self.wait_for_exit()
            most = how.held_bytes
        return max(0, most - self._idle_bytes)

    def _most_resident_bytes(self) -> int | None:
        """Returns the peak resident memory in bytes, None after the exit, or 0 if the system does not report it."""
        if self._statm < 0:
            return 0
        try:
            with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - faster than pathlib
                line = next(line for line in file if line.startswith("VmHWM:"))
        except (OSError, StopIteration):
            return None
        return int(line.split()[1]) * 1024

    def begin(self, job: bytes, on_data: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        """Starts a run in the isolate.

        Args:
            job: Frame with the source, the parameters and the limits of the run.
            on_data: Callback that receives all output of the isolate.
            on_lost: Callback for the loss of the connection to the isolate.
        """
        self._on_data, self._on_lost = on_data, on_lost
        self.write(job)

    def write(self, data: bytes | bytearray) -> None:
        """Sends bytes. The caller must not modify the bytes afterwards, because the transport can send them later.

        If the process has exited, the method discards the bytes without an error. ``on_lost`` reports the exit.
        """
        if self._transport is not None:
            self._transport.write(data)

    async def drained(self) -> None:
        """Waits until the process has read most of the written bytes or has exited."""
        await self._writable.wait()

    def detach(self) -> None:
        """Ignores output of the isolate until the next run, and reverts the effects of `leave_reserved_cores`."""
        self._on_data = self._on_lost = None
        self.resume()
        if self._aside and self._process is not None:
            self._aside = False
            self._host.order("back", self._process)

    def ignore_output(self) -> None:
        """Ignores all later output of the isolate, and its exit."""
        self._on_data = self._on_lost = None
        self.pause()

    def lower(self, *, aside: bool) -> None:
        """Lowers the priority of the process permanently.

        Args:
            aside: Whether to also move the process off the reserved cores. Otherwise, the process can use all cores.
        """
        if self._process is not None:
            self._host.order("lower", self._process, aside=aside)

    def leave_reserved_cores(self) -> None:
        """Moves the process off the reserved cores, with the lowest priority, until the end of its run."""
        if self._process is not None:
            self._aside = True
            self._host.order("off", self._process)

    def pause(self) -> None:
        """Stops reading from the isolate. When the buffer of the connection is full, the isolate has to wait."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Continues to read from the isolate."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    async def wait_for_exit(self) -> tuple[Exit, str]:
        """Waits for the exit of the process, at most five seconds.

        Returns:
            Exit result of the process, and the end of its standard error output. If the process is still running,
            ``status`` is None.
        """
        if self._process is None:
            return Exit(None), ""
        try:
            how = await asyncio.wait_for(asyncio.shield(self._process.exited), _EXIT_S)
        except TimeoutError:
            how = Exit(None, reason="the process does not stop")
        return how, read_error_file(self._errors)

    def close(self) -> None:
        """Stops the process and releases all resources."""
        if self._process is not None:
            self._host.order("kill", self._process)
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

    def _exited(self, how: asyncio.Future[Exit]) -> None:
        if not self._ready.done():
            self._ready.set_exception(StartFailed(how.result().reason or "the process exited"))

    # --- asyncio.Protocol ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Stores the transport of the new connection."""
        # Do not check the type, because uvloop's transports are not subclasses of asyncio's transports.
        self._transport = cast("asyncio.Transport", transport)

    def pause_writing(self) -> None:
        """Makes `drained` wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Makes `drained` return."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Passes output to the run, or checks the first message of the process."""
        if self._on_data is not None:
            self._on_data(data)
        elif not self._ready.done():
            if data == READY:
                self._ready.set_result(None)
            else:
                self._ready.set_exception(StartFailed(f"expected the ready message {READY!r}, got {data[:64]!r}"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        """Reports the loss of the connection to `start` or to the run."""
        self._transport = None
        self._writable.set()
        if not self._ready.done():
            self._ready.set_exception(StartFailed("the process closed its channel"))
        if self._on_lost is not None:
            self._on_lost()


def processor_fractions(before: Mapping[Isolate, ProcessorUse | None], passed_s: float) -> tuple[float, float]:
    """Returns the fraction of a period in which isolates ran, and the fraction in which they ran or waited for a core.

    Both fractions are averages of the isolates. They are 0 if the system does not report processor times.

    Args:
        before: Processor time of each isolate at the start of the period, or None if unknown.
        passed_s: Length of the period in seconds.
    """
    used_s = waited_s = 0.0
    for isolate, then in before.items():
        if then is not None and (now := isolate.processor()) is not None:
            used_s += now.used_s - then.used_s
            waited_s += now.waited_s - then.waited_s
    whole_s = passed_s * len(before)
    return (used_s / whole_s, (used_s + waited_s) / whole_s) if whole_s > 0 else (0.0, 0.0)
