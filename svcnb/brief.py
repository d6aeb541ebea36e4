"""Short tracebacks for notebooks: the user's own lines and the error message, but no frames of svcnb or IPython."""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Sequence
from html import escape
from types import FrameType
from typing import Any, Final

_NOT_THE_READERS: Final = frozenset({"svcnb", "IPython", "ipykernel"})
_RED: Final = "\x1b[31m{}\x1b[39m"
_WIDTH: Final = 75
NO_MATH: Final = "tex2jax_ignore mathjax_ignore"
"""CSS classes that prevent Jupyter from treating dollar signs as formulas."""

_BOX: Final = "border-left:3px solid var(--jp-error-color1,#d33);padding:2px 10px"
_MUTED: Final = "color:var(--jp-ui-font-color2,inherit)"


def box(title: str, message: str, hint: str, points: Sequence[str] = ()) -> str:
    """Returns an error as a short HTML box with its title, its message, a list of details, and the next step."""
    below = f"<div style='{_MUTED}'>{escape(hint)}</div>" if hint else ""
    listed = "".join(f"<li>{escape(point)}</li>" for point in points)
    inner = f"<ul style='margin:2px 0'>{listed}</ul>" if listed else ""
    return f"<div class='{NO_MATH}' style='{_BOX}'><b>{escape(title)}</b> {escape(message)}{inner}{below}</div>"


def brief(error: BaseException) -> list[str]:
    """Returns the lines that IPython shows for an uncaught error.

    The lines contain only the user's own frames and the message, because a full traceback hides the next step. For
    example, the full traceback of a refused connection contains a dozen frames, and two errors from other libraries.
    ``%debug`` still steps through every frame. With ``%xmode Verbose``, the result is the full traceback.

    Args:
        error: The error, with its traceback.
    """
    shell = ipython_shell()
    if shell is not None and shell.InteractiveTB.mode == "Verbose":
        everything: list[str] = shell.InteractiveTB.structured_traceback(
            type(error), error, error.__traceback__, tb_offset=1
        )
        return everything
    name = type(error).__name__
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_readers(frame)]
    lines = [
        _RED.format("-" * _WIDTH),
        f"{_RED.format(name)}{'Traceback (most recent call last)':>{_WIDTH - len(name)}}",
    ]
    for frame, line in own:
        code = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).rstrip()
        lines += [f"{_place(shell, frame)}, line {line}", f"----> {line} {code}", ""]
    return [*(lines if own else []), f"{_RED.format(name)}: {error}", *getattr(error, "__notes__", [])]


def _is_readers(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _NOT_THE_READERS


def _place(shell: Any, frame: FrameType) -> str:
    """Returns the location of a frame: ``Cell In[3]``, or a file and a function."""
    file = frame.f_code.co_filename
    cell = shell.compile.format_code_name(file) if shell is not None else None
    return " ".join(cell) if cell else f"File {file}, in {frame.f_code.co_name}"


def ipython_shell() -> Any:
    """Returns the running IPython shell, or None outside IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
