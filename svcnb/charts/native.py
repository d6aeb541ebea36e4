"""Client of the child process that draws charts with vl-convert.

vl-convert is native code and aborts its process on some inputs, for example on a control character in a string.
Therefore, vl-convert runs in a child process, which starts with the first chart and draws all later charts. A crash or
a timeout affects only one chart, and the next chart gets a new process.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from svcnb.client.errors import SvcnbError
from svcnb.protocol.text import xml_text

TIMEOUT_SECONDS: Final = 120.0
"""Time limit for drawing one chart in seconds, including the start of the process."""

_PROGRAM: Final = Path(__file__).with_name("native_process.py")
_KEPT: Final = 500


class RenderFailed(SvcnbError):
    """Error for a chart that the renderer rejected, or on which the renderer crashed or did not respond in time."""

    default_hint = "Check the data and the expressions of this chart. Other charts are not affected."


def draw(form: Literal["svg", "png"], spec: Mapping[str, Any], version: str, **options: float) -> bytes:
    """Draws a chart in the renderer's process, after replacing characters that XML forbids with U+FFFD.

    Args:
        form: ``svg`` or ``png``.
        spec: Vega-Lite specification of the chart.
        version: Vega-Lite version of the specification, for example ``6.4``.
        **options: Other arguments of vl-convert: ``scale`` and ``ppi`` of a PNG.

    Returns:
        Content of the file.

    Raises:
        RenderFailed: The renderer rejected the chart, crashed, or did not respond within `TIMEOUT_SECONDS`.
        ModuleNotFoundError: vl-convert is not installed (extra ``lab``).
    """
    request = {"form": form, "options": {"vl_version": version, **options}, "spec": printable(spec)}
    return _renderer.draw(json.dumps(request, allow_nan=False).encode())


def process() -> subprocess.Popen[bytes] | None:
    """Returns the running renderer process, or None."""
    return _renderer.running


def printable(value: Any) -> Any:
    """Returns a JSON value that the renderer accepts.

    U+FFFD replaces characters that XML forbids. None replaces NaN and infinities, which JSON cannot represent.
    """
    if isinstance(value, str):
        return xml_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {xml_text(str(name)): printable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable(each) for each in value]
    return value


class _Timer(threading.Timer):
    """Timer that kills a process at the end of its time limit.

    Args:
        seconds: Time limit in seconds.
        child: Process to kill.
    """

    def __init__(self, seconds: float, child: subprocess.Popen[bytes]) -> None:
        super().__init__(seconds, self._expire)
        self.daemon = True
        self.expired = False
        self._child = child

    def _expire(self) -> None:
        self.expired = True
        self._child.kill()


class _Renderer:
    """Client that starts the renderer's process when needed, and sends one chart at a time to the process."""

    def __init__(self) -> None:
        self.running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def draw(self, request: bytes) -> bytes:
        with self._lock:
            child = self._started()
            timer = _Timer(TIMEOUT_SECONDS, child)
            timer.start()
            try:
                answer = _exchange(child, request)
            except BaseException:  # includes interrupts, because a late response would not match the next request
                self._end(child)
                raise
            finally:
                timer.cancel()
            if answer is None:
                code = self._end(child)
                raise RenderFailed(
                    f"drawing the chart took more than {TIMEOUT_SECONDS:g} seconds"
                    if timer.expired
                    else f"the chart renderer stopped with exit code {code} while drawing this chart"
                )
        well, content = answer
        if well:
            return content
        # The rest of the text is a stack trace of the renderer's own code.
        reason = content.decode(errors="replace").partition("\n    at ")[0]
        raise RenderFailed(f"cannot draw this chart: {' '.join(reason.split())[:_KEPT]}")

    def close(self) -> None:
        """Ends the renderer's process."""
        if self.running is not None:
            self._end(self.running)

    def forget(self) -> None:
        """Discards the renderer's process after a fork, because it belongs to the parent process."""
        self.running = None
        self._lock = threading.Lock()

    def _started(self) -> subprocess.Popen[bytes]:
        if self.running is not None and self.running.poll() is None:
            return self.running
        if find_spec("vl_convert") is None:
            raise ModuleNotFoundError("No module named 'vl_convert'", name="vl_convert")
        self.close()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # -P: the folder of the program is a package, so Python must not add it to the module path.
        self.running = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), str(TIMEOUT_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        return self.running

    def _end(self, child: subprocess.Popen[bytes]) -> int:
        self.running = None
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):  # discards the remaining output
                    pipe.close()
        return child.wait()


def _exchange(child: subprocess.Popen[bytes], request: bytes) -> tuple[bool, bytes] | None:
    """Returns True and the drawing, or False and the reason for the failure. Returns None if the process ended."""
    assert child.stdin is not None  # noqa: S101 - `_started` creates this pipe
    assert child.stdout is not None  # noqa: S101 - `_started` creates this pipe
    try:
        child.stdin.write(b"%d\n" % len(request))
        child.stdin.write(request)
        child.stdin.flush()
    except OSError:
        return None
    state, _, size = child.stdout.readline().partition(b" ")
    if not size.endswith(b"\n"):
        return None
    content = child.stdout.read(int(size))
    return (state == b"drawn", content) if len(content) == int(size) else None


_renderer: Final = _Renderer()
atexit.register(_renderer.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renderer.forget)
