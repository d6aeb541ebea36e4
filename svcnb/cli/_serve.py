"""What ``svcnb emulator`` does, without the command-line library: a supervised start saves its time.

This is the only place outside the emulator that imports it.
"""

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
from types import FrameType
from typing import Any, Final, NoReturn

from svcnb.exit_codes import ExitCode
from svcnb.supervised import LISTENER

_PYDANTIC_PLUGINS: Final = "PYDANTIC_DISABLE_PLUGINS"
_NO_PLUGINS: Final = "__all__"


class PortTaken(Exception):
    """The port that was asked for belongs to another program."""


class StopRequested(BaseException):
    """A signal during start-up: everything that was started so far is unwound."""


@contextmanager
def quick_loading() -> Iterator[None]:
    """Leaves out what costs a sixth of an emulator's start and gives it nothing."""
    # Nothing that loading makes is garbage; `_print_ready` has the collector start with what comes after.
    gc.disable()
    # Looking for plugins of pydantic means reading the metadata of every package that is installed: 20 ms for none.
    chosen = os.environ.get(_PYDANTIC_PLUGINS)
    os.environ[_PYDANTIC_PLUGINS] = _NO_PLUGINS if chosen is None else chosen
    try:
        yield
    finally:
        gc.enable()
        if chosen is None:
            del os.environ[_PYDANTIC_PLUGINS]


def serve(given: Mapping[str, Any]) -> ExitCode:
    """Runs the emulator until a signal ends it.

    Args:
        given: Settings by name; the environment fills in the others.

    Raises:
        PortTaken: The port belongs to another program.
    """
    with _stoppable():
        _serve(given)
    return ExitCode.OK


def serve_supervised() -> ExitCode:
    """As `serve`, with settings as one line of JSON from standard input, and until its end.

    A member `LISTENER` beside the settings is the number of an inherited listening socket.
    """
    with _stoppable():
        given = json.loads(sys.stdin.readline() or "{}")
        inherited = given.pop(LISTENER, None)
        threading.Thread(target=_stop_with_parent, daemon=True, name="svcnb-parent").start()
        _serve(given, None if inherited is None else socket.socket(fileno=inherited))
    return ExitCode.OK


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM ends what is inside, until the server takes the signals over."""
    signal.signal(signal.SIGTERM, _stop_early)
    with suppress(StopRequested):
        yield


def _serve(given: Mapping[str, Any], listener: socket.socket | None = None) -> None:
    from svcnb.emulator.settings import Settings

    settings = Settings.load(**given)
    if settings.chain_rpc is None:
        _ensure_anvil()
    if settings.seed is not None:
        _say("This emulator is seeded: anyone can compute its keys. Nothing of value belongs here.")
    from svcnb.emulator.main import serve as serve_app

    try:
        serve_app(settings, _print_ready, listener)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortTaken(f"port {settings.port} of {settings.host} belongs to another program") from error


def _print_ready(ready: dict[str, object]) -> None:
    gc.freeze()
    gc.enable()
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()


def _ensure_anvil() -> None:
    from svcnb import tools

    try:
        tools.anvil()
    except tools.PartMissing:
        if "SVC_ANVIL" in os.environ:
            raise
        from svcnb.tools.fetch import fetch_anvil

        fetch_anvil(_say)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _stop_with_parent() -> None:
    """Ends this process when the standard input does: whoever started it has gone, or wants it to go."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_early(_number: int, _frame: FrameType | None) -> NoReturn:
    raise StopRequested
