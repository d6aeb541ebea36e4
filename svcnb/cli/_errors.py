"""Expected failures as two lines for people and an exit code for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from svcnb.exit_codes import ExitCode
from svcnb.extras import install_command


class Explanation(NamedTuple):
    """What to tell about a failure."""

    message: str
    hint: str
    code: ExitCode


def guarded(command: Callable[[], int]) -> int:
    """Runs something and tells an expected failure in two lines.

    Args:
        command: What to run; returns its exit code.

    Returns:
        That code, or the one of the failure.
    """
    try:
        return command()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        return ExitCode.INTERRUPTED
    except Exception as error:
        known = explain(error)
        if known is None:
            raise  # a defect of ours: the trace is what a report needs
        hint = f"Next step: {known.hint}\n" if known.hint else ""
        sys.stderr.write(f"Error: {known.message}\n{hint}")
        return known.code


def explain(error: BaseException) -> Explanation | None:
    """What an expected failure means.

    Args:
        error: What was raised.

    Returns:
        None for anything unexpected, which keeps its trace.
    """
    for module, name, describe in _KNOWN:
        # A class that was never imported cannot have been raised: looking it up must not import it.
        if _is(error, module, name):
            return describe(error)
    if isinstance(error, ImportError) and ": pip install" in str(error):  # a part of ours that says what it needs
        message, _, advice = str(error).partition(": ")
        return Explanation(f"{message} something that is not installed", f"Run: {advice}", ExitCode.PART_MISSING)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
        return Explanation(f"{where}: {error.strerror}", _FILE_HINT, ExitCode.FAILED)
    if isinstance(error, ModuleNotFoundError) and (extra := _extra_of(error.name)):
        return Explanation(f"{error.name} is not installed", f"Run: {install_command(extra)}", ExitCode.PART_MISSING)
    return None


def _of_part(error: Any) -> Explanation:
    if _is(error, "svcnb.tools.fetch", "PartCorrupt"):
        return Explanation(str(error), "", ExitCode.PART_MISSING)
    message, hint = f"{error.part} is missing: {error.detail}", str(error.hint)
    return Explanation(message, hint, ExitCode.PART_MISSING)


def _of_state(error: BaseException) -> Explanation:
    return Explanation(
        str(error), "Choose another --state folder or --database, or move this one away.", ExitCode.STATE_UNUSABLE
    )


def _of_port(error: BaseException) -> Explanation:
    return Explanation(str(error), "Choose another --port, or leave it out to take a free one.", ExitCode.PORT_IN_USE)


def _of_value(error: BaseException) -> Explanation:
    return Explanation(str(getattr(error, "message", error)), str(getattr(error, "hint", "")), ExitCode.USAGE)


def _of_settings(error: BaseException) -> Explanation:
    return Explanation(_invalid(error), "`svcnb emulator --help` lists what can be set.", ExitCode.USAGE)


def _of_client(error: BaseException) -> Explanation:
    from svcnb.cli._advice import advice

    message = str(getattr(error, "message", error))
    if _is(error, "svcnb.client.errors", "ActionError"):  # whose text has the kind and the line as well
        message = str(error).removeprefix("Error: ")
    hint = advice(error)
    code = ExitCode.FAILED
    if _is(error, "svcnb.client.errors", "TransportError") or _is(error, "svcnb.control", "EmulatorUnreachable"):
        code = ExitCode.UNREACHABLE
    elif any(_is(error, "svcnb.client.errors", name) for name in ("ConfigError", "InvalidArgument")):
        code = ExitCode.USAGE
    elif _is(error, "svcnb.reports.runner", "ReportFailed") and getattr(error, "error", "") == "ConfigError":
        code = ExitCode.USAGE  # a cell of a notebook says that a setting is missing
    elif _is(error, "svcnb.reports.unattended", "ReportRunning"):
        code = ExitCode.BUSY
    elif _is(error, "svcnb.launch", "EmulatorNotStarted"):
        from svcnb.launch import exit_code_of

        code = exit_code_of(error)
    return Explanation(message, hint, code)


def _is(error: BaseException, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(error, kind)


def _invalid(error: Any) -> str:
    lines = []
    for found in error.errors():
        where = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            lines.append(_unknown(where))
            continue
        said = str(found["msg"]).removeprefix("Value error, ")
        seen = f" (seen: {found['input']!r})" if where else ""
        lines.append(f"{where}: {said}{seen}" if where else said)
    return "; ".join(lines)


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    settings = getattr(sys.modules.get("svcnb.emulator.settings"), "Settings", None)
    near = get_close_matches(name, getattr(settings, "model_fields", ()))
    return f"there is no setting {name!r}" + (f": did you mean {' or '.join(map(repr, near))}?" if near else "")


_KNOWN: tuple[tuple[str, str, Callable[[BaseException], Explanation]], ...] = (
    ("svcnb.cli._serve", "PortTaken", _of_port),
    ("svcnb.tools", "PartMissing", _of_part),
    ("svcnb.tools.fetch", "PartCorrupt", _of_part),
    ("svcnb.emulator.errors", "StateUnusable", _of_state),
    ("svcnb.emulator.errors", "StartRefused", _of_value),
    ("svcnb.emulator.keys.root", "RootSecretUnusable", _of_state),
    ("svcnb.protocol.errors", "MalformedValue", _of_value),
    ("pydantic", "ValidationError", _of_settings),
    ("svcnb.client.errors", "SvcnbError", _of_client),
)

_FILE_HINT = "Check that it exists, that you may read and write there, and that the disk has room."

_EXTRAS = {
    "emulator": {"deno", "httptools", "starlette", "uvicorn", "uvloop"},
    "chain": {"eth_abi", "eth_account"},
    "lab": {
        *("altair", "anywidget", "ipykernel", "ipywidgets", "IPython", "jupyterlab", "numpy", "pandas", "traitlets"),
        *("jupyter_client", "vl_convert"),
    },
    "lint": {"tree_sitter", "tree_sitter_javascript"},
    "reports": {"jupyter_core", "nbclient", "nbconvert", "nbformat", "papermill"},
}


def _extra_of(module: str | None) -> str | None:
    package = (module or "").partition(".")[0]
    return next((extra for extra, packages in _EXTRAS.items() if package in packages), None)
