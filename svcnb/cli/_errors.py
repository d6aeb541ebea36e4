"""Output of expected failures: one or two lines for people, and an exit code for scripts."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from svcnb.cli._advice import advice
from svcnb.exit_codes import ExitCode
from svcnb.extras import install_command


class Explanation(NamedTuple):
    """Message, hint and exit code for a failure."""

    message: str
    hint: str
    code: ExitCode


def guarded(command: Callable[[], int]) -> int:
    """Runs a function, and returns its exit code. Prints an expected failure: the error, and the next step, if any.

    All other exceptions are defects, and pass through.
    """
    try:
        return command()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of the output has ended, for example `head`, and needs no message
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - the interpreter flushes at its end
        return ExitCode.FAILED
    except Exception as error:
        known = explain(error)
        if known is None:
            raise  # this is a defect, and a bug report needs the traceback
        step = f"Next step: {known.hint}\n" if known.hint else ""
        sys.stderr.write(f"Error: {known.message}\n{step}")
        return known.code


def explain(error: BaseException) -> Explanation | None:
    """Returns the explanation of an expected failure, or None for a defect, whose traceback the command shows."""
    code = getattr(error, "exit_code", None)
    if isinstance(code, ExitCode):
        return Explanation(_message(error), advice(error), code)
    # `_is` imports no module. If the module of a class is not imported, the error cannot be of this class.
    if _is(error, "pydantic", "ValidationError"):
        return Explanation(_invalid(error), "To list the settings, run `svcnb emulator --help`.", ExitCode.USAGE)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
        return Explanation(f"{where}: {error.strerror}", _FILE_HINTS.get(error.errno or 0, _FILE_HINT), ExitCode.FAILED)
    if isinstance(error, ModuleNotFoundError) and (extra := _extra_of(error.name)):
        return Explanation(f"{error.name} is not installed", f"Run: {install_command(extra)}", ExitCode.TOOL_MISSING)
    return _full_disk(error)


def _full_disk(error: BaseException) -> Explanation | None:
    if _is(error, "svcnb.emulator.platform.store", "StoreUnavailable"):
        message = f"the state of the emulator cannot be read or written: {error}"
        return Explanation(
            message,
            "Check the free space of the disk, or use a different --state folder or --database.",
            ExitCode.STATE_UNUSABLE,
        )
    if isinstance(error, OSError) and error.errno in _FULL:
        message = f"a file or the output cannot be written: {error.strerror}"
        return Explanation(message, _FULL[error.errno or 0], ExitCode.FAILED)
    return None


def _message(error: BaseException) -> str:
    if _is(error, "svcnb.client.errors", "ActionError"):  # the text of the error also contains the kind and the line
        return str(error).removeprefix("Error: ")
    return str(getattr(error, "message", error))


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
        seen = f" (got: {found['input']!r})" if where else ""
        lines.append(f"{where}: {said}{seen}" if where else said)
    return "; ".join(lines)


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    settings = getattr(sys.modules.get("svcnb.emulator.settings"), "Settings", None)
    near = get_close_matches(name, getattr(settings, "model_fields", ()))
    return f"unknown setting {name!r}" + (f": use {' or '.join(map(repr, near))}" if near else "")


_FULL = {
    errno.ENOSPC: "Free some disk space, and run the command again.",
    errno.EDQUOT: "Delete some of your files on this disk, or ask for a larger quota. Then run the command again.",
    errno.EFBIG: "Raise the maximum file size, which `ulimit -f` shows. Then run the command again.",
}
"""Hints for the error numbers of a write that exceeds the free disk space, the quota or the maximum file size. Such an
error usually does not name the file."""

_FILE_HINTS = {
    errno.ENOENT: "Check the path. The file or its folder does not exist.",
    errno.ENOTDIR: "Check the path. A part of the path is a file, not a folder.",
    errno.EISDIR: "Pass the path of a file, not of a folder.",
    errno.EACCES: "Change the permissions of the file or of its folder, or pass a different path.",
    errno.EINVAL: (
        "Pass a regular file. For the output of another program, save the output in a file, or pass - if the command "
        "reads standard input."
    ),
    errno.EFBIG: "Pass a file that is not larger than the limit.",
    errno.ENOSPC: _FULL[errno.ENOSPC],
    errno.EDQUOT: _FULL[errno.EDQUOT],
}
"""Hints for errors that name a file, by error number."""

_FILE_HINT = "Check the path, the permissions and the type of the file."
"""Hint for all other errors that name a file."""

_EXTRAS = ("emulator", "chain", "lab", "lint", "reports")
"""Extras that a hint can suggest, smallest first."""


def _extra_of(module: str | None) -> str | None:
    """Returns the extra that installs a module, or None if no extra of this package requires the module."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    name = (module or "").partition(".")[0].lower().replace("_", "-")
    try:
        required = requires("svcnb") or []
    except PackageNotFoundError:
        return None
    lines = [line for line in required if re.match(r"[\w.-]+", line)[0].lower() in {name, f"{name}-python"}]  # type: ignore[index] # each requirement begins with a name
    return next((extra for extra in _EXTRAS for line in lines if re.search(rf"extra == ['\"]{extra}['\"]", line)), None)
