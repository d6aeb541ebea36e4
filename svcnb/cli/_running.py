"""Run files: where the emulators of this user are, for commands in another terminal.

``svcnb emulator`` writes its ready line with its control token into a file that only the user may read, and deletes it
when it stops. A file whose process has ended, for example after ``kill -9``, is ignored and deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def folder() -> Path:
    """The folder of the run files, below the cache folder of the project."""
    from svcnb.parts import cache_folder

    return cache_folder() / "run"


def write(ready: Mapping[str, object], token: str | None) -> Path | None:
    """Writes the run file of this process.

    Args:
        ready: The ready line.
        token: The secret of its control plane, if it has one.

    Returns:
        The file; None if it cannot be written, which the emulator survives.
    """
    path = folder() / f"emulator-{os.getpid()}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump({"control_token": token} | dict(ready), file)
    except OSError:
        return None
    return path


@contextmanager
def deleted_afterwards() -> Iterator[list[Path]]:
    """Deletes the files that are put into the list."""
    files: list[Path] = []
    try:
        yield files
    finally:
        for file in files:
            with suppress(OSError):
                file.unlink(missing_ok=True)


def running() -> list[dict[str, Any]]:
    """The ready lines of the emulators that run, newest first."""
    found = []
    for path in folder().glob("emulator-*.json"):
        try:
            ready = json.loads(path.read_text(encoding="utf-8"))
            alive, started = _alive(int(ready["pid"])), path.stat().st_mtime
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if alive:
            found.append((started, ready))
        else:
            path.unlink(missing_ok=True)
    return [ready for _, ready in sorted(found, key=lambda each: each[0], reverse=True)]


def _alive(pid: int) -> bool:
    if os.name == "nt":  # there, signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
