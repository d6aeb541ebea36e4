"""Implementation of ``svcnb emulator`` without click, because the import of click would delay the start."""

from __future__ import annotations

import errno
import gc
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from svcnb import control_tokens
from svcnb.exit_codes import ExitCode
from svcnb.supervised import LISTENER


class PortInUse(Exception):
    """Error for a port that another program already uses."""

    hint = "Use another --port, or omit --port to use a free port."
    exit_code = ExitCode.PORT_IN_USE


class HostUnusable(Exception):
    """Error for a host or a port on which this machine cannot listen."""

    hint = (
        "Use 127.0.0.1, 0.0.0.0 or another address of this machine as host, and a port that you are permitted to use."
    )
    exit_code = ExitCode.USAGE


class StopRequested(BaseException):
    """Exception for a stop signal during the start. The program then stops all components that it has started."""


def serve(given: Mapping[str, Any]) -> ExitCode:
    """Runs the emulator until a signal ends the process, and returns the exit code.

    Args:
        given: Settings by name. All other settings come from the environment, or have their default values.
    """
    with _stoppable():
        _serve(given, supervised=False)
    return ExitCode.OK


def serve_supervised() -> ExitCode:
    """Runs the emulator with settings from one line of JSON on standard input, until standard input ends.

    The JSON object can contain the file descriptor of an inherited listening socket. `LISTENER` is the name of this
    field.
    """
    with _stoppable():
        given = json.loads(sys.stdin.readline() or "{}")
        inherited = given.pop(LISTENER, None)
        threading.Thread(target=_stop_with_parent, daemon=True, name="svcnb-parent").start()
        _serve(given, None if inherited is None else socket.socket(fileno=inherited), supervised=True)
    return ExitCode.OK


@contextmanager
def _stoppable() -> Iterator[None]:
    """Context manager in which SIGTERM stops the start, until the server installs its own signal handlers."""
    signal.signal(signal.SIGTERM, _stop_early)
    with suppress(StopRequested):
        yield


def _serve(given: Mapping[str, Any], listener: socket.socket | None = None, *, supervised: bool) -> None:
    from svcnb.emulator.settings import Settings

    settings = Settings.load(**given)
    if settings.chain_rpc is None and settings.chain_engine == "anvil":
        _ensure_anvil()
    if settings.seed is not None:
        _print_progress(
            "This emulator uses a seed. Anyone who has the seed can compute the keys of the emulator, so do not use "
            "these keys to protect anything of value."
        )
    from svcnb.emulator.main import serve as serve_app

    hidden = settings.control_token is not None and not supervised
    serve_app(settings, partial(_print_ready, hidden=hidden), listener or _listen(settings.host, settings.port))


def _listen(host: str, port: int) -> socket.socket:
    from svcnb.emulator.main import listen

    try:
        return listen(host, port)
    except (OSError, UnicodeError) as error:
        raise listening_error(host, port, error) from error


def listening_error(host: str, port: int, error: OSError | UnicodeError) -> Exception:
    """Converts the error of a socket that cannot listen to a `PortInUse` or a `HostUnusable`."""
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return PortInUse(f"port {port} on {host} is already in use by another program")
    cause = getattr(error, "strerror", None) or error
    return HostUnusable(f"cannot listen on host {host!r} and port {port}: {cause}")


def _print_ready(ready: dict[str, object], *, hidden: bool) -> None:
    gc.freeze()  # later garbage collections then skip all existing objects
    # The output contains the token only for programs that have no other source for the token, because terminals and
    # container logs store output. A user who chose the token already has it. Programs of the same user read a generated
    # token from its file.
    if hidden or (sys.stdout.isatty() and control_tokens.find(str(ready["base_url"])) is not None):
        ready = {name: value for name, value in ready.items() if name != "control_token"}
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()


def _ensure_anvil() -> None:
    from svcnb import tools

    try:
        tools.anvil()
    except tools.ToolMissing:
        if "SVC_ANVIL" in os.environ:
            raise
        from svcnb.tools.fetch import fetch_anvil

        fetch_anvil(_print_progress)


def _print_progress(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _stop_with_parent() -> None:
    """Stops this process when its standard input closes. The parent process has then ended or closed the pipe."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_early(_number: int, _frame: FrameType | None) -> NoReturn:
    raise StopRequested
