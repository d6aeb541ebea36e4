"""Launcher that starts and stops the emulator as a separate process.

The emulator's process reads a pipe whose other end is open only in this process. When this process ends for any reason,
the pipe closes and the emulator stops. The launcher sends the settings through the same pipe, so no secret appears in
an environment or in a list of processes.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, Unpack

from svcnb.control import EmulatorControl, EmulatorError
from svcnb.emulator_settings import EmulatorSettings
from svcnb.errors import InvalidArgument
from svcnb.exit_codes import ExitCode
from svcnb.protocol.in_page import IN_PAGE
from svcnb.supervised import LISTENER

if TYPE_CHECKING:
    from svcnb.emulator.in_page import PageService

START_TIMEOUT_S = 300.0  # the process reports a failed start immediately, so the long limit only affects busy machines
STOP_TIMEOUT_S = 30.0
KEPT_LINES = 200
SHOWN_LINES = 12


class EmulatorNotStarted(EmulatorError):
    """Error for an emulator whose process did not become ready.

    Args:
        message: Description of the failure.
        hint: Next step for the user. None means the default hint of the class.
        log: Last lines that the process wrote to standard error.
    """

    default_hint = "Find the cause in the emulator's output above."

    def __init__(self, message: str, *, hint: str | None = None, log: str = "") -> None:
        super().__init__(f"{message}\n{log}" if log else message, hint=hint)
        self.log = log


class EmulatorToolMissing(EmulatorNotStarted):
    """Error for a missing extra, external tool or built bundle."""

    default_hint = "To see what is missing, run `svcnb doctor`."
    exit_code = ExitCode.TOOL_MISSING


class PortInUse(EmulatorNotStarted):
    """Error for a port that another program already uses."""

    default_hint = "Omit `port` to use a free port."
    exit_code = ExitCode.PORT_IN_USE


class StateFolderUnusable(EmulatorNotStarted):
    """Error for a state folder or database that the emulator cannot use. The emulator did not change the data."""

    default_hint = "Pass another `state` or `database`. If another emulator uses the state, you can also stop that one."
    exit_code = ExitCode.STATE_UNUSABLE


class SettingRefused(EmulatorNotStarted):
    """Error for a setting that is unknown or out of range, or that contradicts another setting."""

    default_hint = "To list the settings, run `svcnb emulator --help`."
    exit_code = ExitCode.USAGE


_BY_EXIT_CODE: dict[int, type[EmulatorNotStarted]] = {
    kind.exit_code: kind for kind in (EmulatorToolMissing, PortInUse, SettingRefused, StateFolderUnusable)
}


class Emulator(EmulatorControl):
    """Emulator of the service, in a separate process on this machine, or inside a browser page.

    The emulator accepts requests when the constructor returns.

    Args:
        start_timeout: Seconds to wait until the emulator is ready. The default is 300. The first start on a machine
            can include the download of external tools.
        listener: A listening socket to use instead of a port (not on Windows). This process keeps the socket open, so
            connections wait in the socket's queue while no emulator runs.
        **settings: Any setting of `svcnb emulator`, for example ``seed="demo"``, ``starter_credits=500`` (cents),
            ``port=8000``, ``state="./state"``, ``clock="frozen@1767225600"`` (Unix seconds), ``grant_delay_ms=300``,
            ``allow_address=["127.0.0.1:8545"]``.

    Raises:
        InvalidArgument: ``start_timeout`` is not a number above 0.
        SettingRefused: A setting is unknown or invalid.
        EmulatorToolMissing: An extra, an external tool or a built bundle is missing.
        PortInUse: The port is already in use.
        StateFolderUnusable: The state folder or the database cannot be used, for example because another emulator
            uses it.
        EmulatorNotStarted: The emulator did not start for another reason. The error contains the last lines of its
            output.

    Example:
        >>> with Emulator(starter_credits=500) as emulator:  # doctest: +SKIP
        ...     svc = emulator.client()
    """

    def __init__(
        self,
        *,
        start_timeout: float = START_TIMEOUT_S,
        listener: socket.socket | None = None,
        **settings: Unpack[EmulatorSettings],
    ) -> None:
        if not start_timeout > 0:  # also true for NaN
            raise InvalidArgument(
                f"invalid start_timeout={start_timeout}: expected a number of seconds above 0",
                hint=f"Omit start_timeout to wait up to {START_TIMEOUT_S:g} seconds.",
            )
        for name, value in settings.items():
            _require_text(name, value)
        self._settings = settings
        self._process = _in_page(settings) if IN_PAGE else _Process(_COMMAND, settings, listener)
        # The finalizer also runs without a call of stop(): at garbage collection, and when the interpreter exits.
        self._finalizer = weakref.finalize(self, self._process.stop)
        try:
            ready = self._process.wait_ready(start_timeout)
        except self._process.state_refused as error:
            self._finalizer()
            raise StateFolderUnusable(str(error), hint="Use another `state` folder.") from None
        except BaseException:
            self._finalizer()
            raise
        super().__init__(str(ready["base_url"]), control_token=ready.pop("control_token"), names=ready)

    @classmethod
    def connect(cls, base_url: str, *, control_token: str | None = None) -> EmulatorControl:
        """Returns a handle for an emulator that another program started.

        Args:
            base_url: Address of the emulator, without ``/core/v1``.
            control_token: Token of the emulator's control plane. You can omit the token for an emulator that you run on
                this machine, unless you chose the token yourself.

        Raises:
            ConfigError: The address is not an http or https address.
            EmulatorUnreachable: No server responds at the address.
            ControlRefused: The server is not an emulator, or the token is wrong.
        """
        from svcnb.client.config import clean_url

        handle = EmulatorControl(clean_url(base_url, "base_url"), control_token=control_token)
        handle.state()
        return handle

    def __repr__(self) -> str:
        """Returns the arguments of the constructor, without the control token.

        The selected port is not included, so that notebook outputs are the same in every run.
        """
        shown = ", ".join(f"{name}={value!r}" for name, value in self._settings.items() if name != "control_token")
        return f"Emulator({shown})"

    def __enter__(self) -> Self:
        """Returns the running emulator. The end of the ``with`` block stops the emulator."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stops the emulator."""
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the emulator. 0 in a browser page, which has no processes."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the emulator still runs. False after `stop`, and after its process has ended for another reason."""
        return self._process.running

    @property
    def log(self) -> str:
        """Last lines that the emulator's process wrote to standard error, at most 200. Empty in a browser page."""
        return self._process.log()

    def handle(self) -> EmulatorControl:
        """Returns a handle that remains usable if another emulator replaces this one at the same address."""
        return EmulatorControl(self.base_url, control_token=self._control_token, names=self._names)

    def wait(self) -> None:
        """Waits until the emulator's process has ended, for example because it was idle.

        In a browser page, the method returns immediately.
        """
        self._process.wait()

    def stop(self) -> None:
        """Closes the clients, and ends the emulator's process and its child processes.

        Repeated calls have no effect.
        """
        self.close()
        self._finalizer()


def _require_text(name: str, value: object) -> None:
    """Rejects bytes, and strings that cannot be part of a file name or be sent to the emulator's process."""
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(each, (bytes, bytearray)):
            wrong = f"expected str, got {type(each).__name__}"
        elif not isinstance(each, (str, os.PathLike)):
            continue
        elif "\0" in (text := os.fspath(each)):
            wrong = "expected a string without a null character"
        else:
            try:
                os.fsencode(text)
                continue
            except UnicodeEncodeError:
                wrong = "expected a string that UTF-8 can encode, got an unpaired surrogate"
        shown = "" if name == "control_token" else f"={value!r}"
        raise SettingRefused(
            f"invalid setting {name}{shown}: {wrong}",
            hint=f"Pass {name} as a str without null characters and unpaired surrogates.",
        )


_COMMAND = [sys.executable, "-m", "svcnb", "emulator", "--supervised"]


def _in_page(settings: Mapping[str, object]) -> PageService:
    from svcnb.client.in_page import patch_libraries
    from svcnb.emulator.in_page import PageService

    patch_libraries()
    try:
        return PageService(settings)
    except (ValueError, InvalidArgument) as error:
        raise SettingRefused(
            str(error),
            hint="Correct or omit the setting. To use a setting that this page does not support, install svcnb "
            "outside the browser.",
        ) from None


class _Process:
    """Child process that prints one line of JSON when it is ready, and ends when its standard input is closed."""

    state_refused: tuple[type[Exception], ...] = ()
    """Exceptions that `wait_ready` raises for an unusable state folder.

    Only `PageService`, which replaces this class in a browser page, has such exceptions. The process of this class
    reports an unusable state folder through its exit code."""

    def __init__(
        self, command: list[str], settings: Mapping[str, object], listener: socket.socket | None = None
    ) -> None:
        self._owner = os.getpid()
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._writing = threading.Lock()
        self._ready: dict[str, Any] | None = None
        self._told = threading.Event()
        # In a separate session, the emulator receives no Ctrl-C from a terminal or an interrupted notebook cell. In
        # addition, the launcher can end all processes of the emulator together.
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            pass_fds=() if listener is None else (listener.fileno(),),
        )
        self._pipe, out, err = _streams(self._popen)
        self._readers = [
            threading.Thread(target=self._read_ready, args=(out,), daemon=True, name="svcnb-emulator-out"),
            threading.Thread(target=self._read_log, args=(err,), daemon=True, name="svcnb-emulator-err"),
        ]
        for reader in self._readers:
            reader.start()
        given = {name: value for name, value in settings.items() if value is not None}
        if listener is not None:
            given[LISTENER] = listener.fileno()
        with suppress(BrokenPipeError):  # the process ended immediately; wait_ready() reports the cause
            self._pipe.write(json.dumps(given, default=str) + "\n")
            self._pipe.flush()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def log(self) -> str:
        with self._writing:
            return "\n".join(self._lines)

    def wait(self) -> None:
        self._popen.wait()

    def wait_ready(self, timeout_s: float) -> dict[str, Any]:
        if not self._told.wait(timeout_s):
            raise EmulatorNotStarted(
                f"the emulator was not ready within {timeout_s:g} s",
                hint=f"Increase the time limit with start_timeout={2 * timeout_s:g}, or find the cause in the "
                "emulator's output above.",
                log=self._tail(),
            )
        if self._ready is None:
            code = self._popen.wait(STOP_TIMEOUT_S)
            self._readers[1].join(STOP_TIMEOUT_S)
            kind = _BY_EXIT_CODE.get(code, EmulatorNotStarted)
            lines = self._tail().splitlines()
            steps = [line for line in lines if line.startswith("Next step: ")]
            told = [line for line in lines if line not in steps]
            # For a port and a state, the next step in the output names options of the command line. The default hints
            # of these errors are for Python.
            is_for_python = bool(steps) and kind not in {PortInUse, StateFolderUnusable}
            hint = steps[-1].removeprefix("Next step: ") if is_for_python else None
            raise kind(f"the emulator ended with exit code {code} before it was ready", hint=hint, log="\n".join(told))
        return self._ready

    def stop(self) -> None:
        if os.getpid() != self._owner:
            return  # a forked child does not stop the emulator; the emulator belongs to the parent process
        with suppress(BrokenPipeError):
            self._pipe.close()  # the closed pipe ends the emulator
        try:
            if self.running and self._ready is None:
                self._popen.terminate()  # the process may not have read the pipe yet
            self._popen.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._kill_remaining()
        for reader in self._readers:
            if reader is not threading.current_thread():  # garbage collection can run in any thread
                reader.join(STOP_TIMEOUT_S)
        for stream in _streams(self._popen)[1:]:
            stream.close()

    def _kill_remaining(self) -> None:
        """Kills all remaining processes of the session, for example if the emulator did not end in time."""
        if sys.platform == "win32":
            self._popen.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait(STOP_TIMEOUT_S)

    def _read_ready(self, stream: IO[str]) -> None:
        for line in stream:
            if self._ready is None and line.startswith("{"):
                self._ready = json.loads(line)
                self._told.set()
        self._told.set()  # the stream has ended, so the emulator can no longer become ready

    def _read_log(self, stream: IO[str]) -> None:
        for line in stream:
            with self._writing:
                self._lines.append(line.rstrip("\n"))

    def _tail(self) -> str:
        return "\n".join(self.log().splitlines()[-SHOWN_LINES:])


def _streams(popen: subprocess.Popen[str]) -> tuple[IO[str], IO[str], IO[str]]:
    if popen.stdin is None or popen.stdout is None or popen.stderr is None:
        raise AssertionError("the process was started without pipes")
    return popen.stdin, popen.stdout, popen.stderr
