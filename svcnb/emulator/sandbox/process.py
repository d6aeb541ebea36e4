"""Client of the spawner. The spawner starts, stops and monitors the processes of an engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

_SPAWNER = Path(__file__).with_name("spawner.py")
_STOP_S = 5.0

Order = Literal["kill", "lower", "near", "off", "back"]


class Exit(NamedTuple):
    """Exit result of a process.

    Attributes:
        status: Exit code, which is negative for a signal. None if the process did not start, or the code is unknown.
        held_bytes: Peak resident memory in bytes, or 0 if unknown.
        reason: Reason why ``status`` is None. Empty if ``status`` is known.
    """

    status: int | None
    held_bytes: int = 0
    reason: str = ""


class Process:
    """Process that the spawner has started or will start."""

    def __init__(self, token: int, loop: asyncio.AbstractEventLoop) -> None:
        self.token = token
        self.pid: int | None = None
        self.begun: asyncio.Future[None] = loop.create_future()
        """Future that completes when the process id is known, or when the start has failed."""
        self.exited: asyncio.Future[Exit] = loop.create_future()

    def end(self, how: Exit) -> None:
        """Records the exit of the process, or the failure of its start."""
        if not self.begun.done():
            self.begun.set_result(None)
        if not self.exited.done():
            self.exited.set_result(how)


class ProcessHost:
    """Host that starts processes through its own spawner. All processes have the same command line.

    Args:
        argv: Command line of each process.
        template: Command line of a template process, which creates copies of itself after its warm-up. With None, each
            process starts separately.
        env: Complete environment of the processes.
        own_folder: Name of the variable in ``env`` that contains the path of a folder. Each template process gets a
            separate folder. An empty string means no variable.
        cwd: Working directory of the processes.
        limits: Resource limits, by their names in the module ``resource``.
        remove: Folder to delete after the last process has exited, even if the emulator is killed. With None, the
            spawner deletes no folder.
        on_lost: Function to call once after an unexpected exit of the spawner.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        template: Sequence[str] | None = None,
        env: Mapping[str, str],
        own_folder: str = "",
        cwd: Path,
        limits: Mapping[str, int],
        remove: Path | None,
        on_lost: Callable[[], None],
    ) -> None:
        self._setup = {
            "argv": list(argv),
            "template": None if template is None else list(template),
            "env": dict(env),
            "own_folder": own_folder,
            "cwd": str(cwd),
            "limits": dict(limits),
            "remove": None if remove is None else str(remove),
        }
        self._on_lost = on_lost
        self._tokens = count(1)
        self._processes: dict[int, Process] = {}
        self._pings: dict[int, asyncio.Future[None]] = {}
        self._control: socket.socket | None = None
        self._spawner: subprocess.Popen[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._buffer = b""

    @property
    def alive(self) -> bool:
        """Whether the host can start processes."""
        return self._control is not None

    @property
    def pid(self) -> int | None:
        """Process id of the spawner, or None while it is not running."""
        return None if self._spawner is None else self._spawner.pid

    def start(self) -> None:
        """Starts the spawner.

        Raises:
            OSError: The spawner does not start.
        """
        self._loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        try:
            self._spawner = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(_SPAWNER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # the emulator handles keyboard interrupts
                env={},
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.settimeout(0)
        self._control = ours
        self._loop.add_reader(ours.fileno(), self._receive)
        self._send(self._setup)

    def spawn(self, channel: socket.socket, errors: int, *, aside: bool = False) -> Process:
        """Starts a process.

        Args:
            channel: Socket for the standard input and output of the process. The caller closes its own copy.
            errors: File descriptor for the standard error of the process.
            aside: Whether the process must not use the reserved cores during its start.

        Returns:
            The process. Its future ``exited`` completes when the process has exited or could not start.

        Raises:
            OSError: The spawner has exited.
        """
        if self._control is None or self._loop is None:
            raise OSError("the spawner is not running")
        process = Process(next(self._tokens), self._loop)
        self._processes[process.token] = process
        try:
            self._send({"spawn": process.token, "aside": aside}, [channel.fileno(), errors])
        except OSError as error:
            del self._processes[process.token]
            if isinstance(error, ConnectionError):  # the error occurs here before the event loop reports it
                self._lose()
            raise
        return process

    def order(self, what: Order, process: Process, **how: bool) -> None:
        """Sends a command to the spawner, which applies it to a process. Has no effect if the process has exited.

        Args:
            what: ``kill`` ends the process with SIGKILL. ``lower`` lowers its priority below the priority of other
                processes. ``near`` moves its main thread to the reserved cores, where the thread wakes without delay.
                ``off`` moves the process off the reserved cores and gives it the lowest priority. ``back`` reverts
                ``off``.
            process: Process to which the spawner applies the command.
            **how: For ``lower``, ``aside`` is whether to also move the process off the reserved cores. If False, the
                process can use all cores.
        """
        if self._control is not None and not process.exited.done():
            with contextlib.suppress(OSError):
                self._send({what: process.token, **how})

    def stop_template(self) -> None:
        """Stops the template process, if any. The spawner starts a new one when runs need many processes again."""
        with contextlib.suppress(OSError):
            self._send({"stop_template": True})

    async def answers(self, timeout_s: float) -> bool:
        """Returns whether the spawner responds to a ping.

        Args:
            timeout_s: Maximum time to wait for the response, in seconds.
        """
        number = next(self._tokens)
        pong = self._pings[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"ping": number})
            async with asyncio.timeout(timeout_s):
                await pong
        except (OSError, TimeoutError):
            return False
        finally:
            del self._pings[number]
        return self.alive

    async def stop(self) -> None:
        """Stops all processes and the spawner, and waits until they have exited."""
        self._disconnect("the engine was stopped")
        spawner, self._spawner = self._spawner, None
        if spawner is not None:
            try:
                await asyncio.to_thread(spawner.wait, _STOP_S)
            except subprocess.TimeoutExpired:
                spawner.kill()  # the kernel then kills its children
                spawner.wait()
                self._remove_folder()

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        if self._control is None:
            raise OSError("the spawner is not running")
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        sent = socket.send_fds(self._control, [data], list(descriptors))
        while sent < len(data):  # only the first message is long
            sent += self._control.send(data[sent:])

    def _receive(self) -> None:
        if self._control is None:
            return
        try:
            data = self._control.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))

    def _lose(self) -> None:
        """Handles an unexpected exit of the spawner."""
        spawner, self._spawner = self._spawner, None
        if sys.platform != "linux":  # the kernel does not kill the children with their parent
            for process in self._processes.values():
                if process.pid is not None:
                    with contextlib.suppress(OSError):
                        os.kill(process.pid, signal.SIGKILL)
        self._disconnect("the process that starts isolates was lost")
        if spawner is not None:
            spawner.kill()
            spawner.wait()
        self._remove_folder()
        self._on_lost()

    def _remove_folder(self) -> None:
        """Deletes the folder if the spawner could not delete it."""
        if (folder := self._setup["remove"]) is not None:
            shutil.rmtree(str(folder), ignore_errors=True)

    def _handle(self, message: dict[str, Any]) -> None:
        if "spawned" in message:
            if (process := self._processes.get(message["spawned"])) is not None:
                process.pid = message["pid"]
                if not process.begun.done():
                    process.begun.set_result(None)
        elif "pong" in message:
            if (pong := self._pings.get(message["pong"])) is not None and not pong.done():
                pong.set_result(None)
        elif "failed" in message:
            if (process := self._processes.pop(message["failed"], None)) is not None:
                process.end(Exit(None, reason=message["error"]))
        elif (process := self._processes.pop(message["exited"], None)) is not None:
            process.end(Exit(message["status"], message["held"]))

    def _disconnect(self, reason: str) -> None:
        control, self._control = self._control, None
        if control is not None and self._loop is not None:
            self._loop.remove_reader(control.fileno())
            control.close()
        for pong in self._pings.values():
            if not pong.done():
                pong.set_result(None)
        processes, self._processes = self._processes, {}
        for process in processes.values():
            process.end(Exit(None, reason=reason))


def error_file() -> int:
    """Returns the descriptor of an unnamed temporary file for the standard error of a process.

    A resource limit of the process limits the size of the file.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stderr", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def read_error_file(descriptor: int, limit: int = 16_384) -> str:
    """Returns at most the last ``limit`` bytes of an `error_file` as text, or "" if the descriptor is -1."""
    if descriptor < 0:
        return ""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, limit, max(0, size - limit)).decode(errors="replace")
