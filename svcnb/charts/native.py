"""Client of the Deno process that draws charts with Vega-Lite.

svcnb starts the process for the first chart, and uses the process for all charts. A crash or a timeout affects
only the current chart. The next chart then uses a new process. resvg converts a finished drawing to PNG.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import re
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from svcnb.bundles import read_bundle
from svcnb.charts.theme import FONT
from svcnb.client.errors import SvcnbError
from svcnb.errors import ExtraMissing
from svcnb.protocol.text import xml_text
from svcnb.tools import deno, deno_environment

TIMEOUT_SECONDS: Final = 120.0
"""Time limit for drawing one chart in seconds, including the start of the process."""

_STATIC: Final = Path(__file__).with_name("static")
# The process has no permission: it reads no files, writes no files, and has no network and no environment variables.
_FLAGS: Final = ("--quiet", "--no-prompt", "--no-npm", "--no-remote", "--no-config", "--no-lock")
_MEMORY_MB: Final = 2048
"""Limit of the JavaScript heap of the process, in megabytes. A chart that needs more memory ends the process."""

_KEPT: Final = 500
_PIXELS: Final = 100_000_000
"""Maximum size of an image, in pixels. Creating an image of this size needs 400 MB of memory."""

_OTHER_GLYPHS: Final = re.compile(
    "[^\t\n\r -\u052f\u1e00-\u1eff\u2000-\u2064\u20a0-\u20be\u2190-\u2195\u2212\u2264\u2265\ufffd]"
)
"""Characters that Arimo does not contain, or that are rare.

For a drawing with such a character, the renderer also searches the fonts of the machine."""

_SIZE: Final = re.compile(r' width="([\d.e+]{1,30})" height="([\d.e+]{1,30})"')


class RenderFailed(SvcnbError):
    """Error for a chart that the renderer rejected, or on which the renderer crashed or did not respond in time."""

    default_hint = "Check the data and the expressions of this chart. Other charts are not affected."


def draw(spec: Mapping[str, Any]) -> str:
    """Draws a chart as SVG in the renderer's process. In the drawing, U+FFFD replaces characters that XML forbids.

    Raises:
        RenderFailed: The renderer rejected the chart, crashed, or did not respond within `TIMEOUT_SECONDS`.
        ToolMissing: Deno is not installed (extra ``lab``).
    """
    return _renderer.draw(json.dumps(printable(spec), allow_nan=False).encode()).decode()


def rasterize(drawing: str, scale: float) -> bytes:
    """Converts a drawing to PNG. The text has the font Arimo, unless the drawing specifies another font.

    The function searches the fonts of the machine only if Arimo is not sufficient. If Arimo is sufficient, the image is
    the same on every machine.

    Args:
        drawing: Drawing as SVG.
        scale: Number of image pixels for one pixel of the drawing.

    Raises:
        RenderFailed: The drawing has no size in pixels, the image would have more than `_PIXELS` pixels, or resvg
            rejected the drawing.
        ExtraMissing: resvg-py or its font is not installed (extra ``lab``).
    """
    try:
        import fontpkg_arimo
        import resvg_py
    except ModuleNotFoundError as absent:
        raise ExtraMissing(f"PNG images of charts require the package {absent.name}", "lab") from absent

    size = _SIZE.search(drawing.partition(">")[0])
    if size is None:
        raise RenderFailed(
            "cannot convert this chart to PNG, because its drawing has no width and height in pixels",
            hint="Set the width and the height of the chart, or save the chart as SVG.",
        )
    width, height = (float(each) * scale for each in size.groups())
    if width * height > _PIXELS:
        raise RenderFailed(
            f"a PNG image of {width:.0f} x {height:.0f} pixels is too large: it can have at most {_PIXELS:,} pixels",
            hint="Pass a smaller scale, reduce the size of the chart, or save the chart as SVG.",
        )
    drawing = drawing.replace(FONT, "Arimo")
    sufficient = drawing.count("font-family=") == drawing.count('font-family="Arimo"')
    try:
        return resvg_py.svg_to_bytes(
            drawing,
            zoom=scale,
            font_files=[str(file) for file in sorted(fontpkg_arimo.ROOT.glob("files/*.ttf"))],
            font_family="Arimo",
            sans_serif_family="Arimo",
            skip_system_fonts=sufficient and not _OTHER_GLYPHS.search(drawing),
        )
    except ValueError as refused:
        raise RenderFailed(
            f"cannot convert this chart to PNG: {refused}",
            hint="Pass a positive, finite scale, or save the chart as SVG.",
        ) from refused


def process() -> subprocess.Popen[bytes] | None:
    """Returns the renderer's process, or None if svcnb has not started the process or has ended it."""
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


class _Renderer:
    """Client that starts the renderer's process when needed, and sends one chart at a time to the process."""

    def __init__(self) -> None:
        self.running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def draw(self, request: bytes) -> bytes:
        with self._lock:
            child, script = self._started()
            began = time.monotonic()
            timer = threading.Timer(TIMEOUT_SECONDS, child.kill)
            timer.daemon = True
            timer.start()
            try:
                answer = _exchange(child, script + request)
            except BaseException:  # includes interrupts, because a late response would not match the next request
                self._end(child)
                raise
            finally:
                timer.cancel()
            if answer is None:
                code = self._end(child)
                if time.monotonic() - began >= TIMEOUT_SECONDS:
                    raise RenderFailed(
                        f"drawing the chart took more than {TIMEOUT_SECONDS:g} seconds",
                        hint="Draw less data, for example the runs of a shorter period.",
                    )
                raise RenderFailed(f"the chart renderer stopped with exit code {code} while drawing this chart")
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
        """After a fork, discards the renderer's process, which belongs to the parent process."""
        self.running = None
        self._lock = threading.Lock()

    def _started(self) -> tuple[subprocess.Popen[bytes], bytes]:
        """Starts the process if it is not running. Returns the process, and the script that a new process needs first.

        For a process that is already running, the script is empty.
        """
        if self.running is not None and self.running.poll() is None:
            return self.running, b""
        self.close()
        script = json.dumps(read_bundle(_STATIC / "vega.js").decode()).encode()
        self.running = subprocess.Popen(
            [deno("lab"), "run", *_FLAGS, f"--v8-flags=--max-old-space-size={_MEMORY_MB}", _STATIC / "renderer.js"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=deno_environment(),
            umask=0o077,  # other users cannot read what Deno stores in its cache
        )  # fmt: skip
        return self.running, script + b"\n"

    def _end(self, child: subprocess.Popen[bytes]) -> int:
        self.running = None
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):  # discards the remaining output
                    pipe.close()
        return child.wait()


def _exchange(child: subprocess.Popen[bytes], request: bytes) -> tuple[bool, bytes] | None:
    """Sends a chart to the process, and returns the response.

    The response is True and the drawing, or False and the reason for the failure. If the process ended, the function
    returns None.
    """
    assert child.stdin is not None  # noqa: S101 - `_started` creates this pipe
    assert child.stdout is not None  # noqa: S101 - `_started` creates this pipe
    try:
        child.stdin.write(request + b"\n")
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
