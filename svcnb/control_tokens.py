"""Control tokens of the emulators that this user runs, for the user's other programs.

Each emulator makes a control token at its start. It keeps the token in a file that only its user can read, and deletes
the file when it stops. A client, panel or command with the emulator's address reads the token there. A token that the
user chose is not saved: the user must pass it explicitly.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from svcnb.protocol.nesting import parse
from svcnb.tools import cache_folder

_MAX_BYTES: Final = 4_096


def save(base_url: str, token: str) -> Path | None:
    """Saves the token of an emulator of this process.

    Args:
        base_url: Its address.
        token: Its control token.

    Returns:
        The file, for `delete`; None if it cannot be written, which only affects other programs.
    """
    try:
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _delete_stale(folder)
        file = folder / f"{urlsplit(base_url).port}.json"
        file.unlink(missing_ok=True)  # so that the mode of an older file is not kept
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            json.dump({"base_url": base_url, "pid": os.getpid(), "control_token": token}, opened)
    except OSError:
        return None
    return file


def delete(file: Path | None) -> None:
    """Deletes the file of `save`."""
    if file is not None and _pid_of(file) == os.getpid():  # another emulator may use the port now
        with suppress(OSError):
            file.unlink()


class Running(NamedTuple):
    """An emulator of this user that runs on this machine.

    Args:
        base_url: Its address.
        pid: Its process id.
    """

    base_url: str
    pid: int


def running() -> list[Running]:
    """Returns the running emulators of this user with saved tokens, newest first."""
    files = []
    with suppress(OSError):
        files = [(file.stat().st_mtime_ns, file) for file in _folder().glob("*.json")]
    found = []
    for _, file in sorted(files, reverse=True):
        entry = _read(file)
        url, pid = entry.get("base_url"), entry.get("pid")
        if isinstance(url, str) and isinstance(pid, int) and _is_running(pid):
            found.append(Running(url, pid))
    return found


class Found:
    """A control token that was found. Its text is in no representation and in no variable of a caller."""

    __slots__ = ("_token",)

    def __init__(self, token: str) -> None:
        self._token = token

    def __repr__(self) -> str:
        """Returns a representation without the token."""
        return "<control token>"

    def reveal(self) -> str:
        """Returns the token."""
        return self._token

    def authorization(self) -> str:
        """Returns the value of the header ``Authorization``."""
        return f"Bearer {self._token}"


def find(url: str) -> Found | None:
    """Returns the control token of a running emulator of this user and machine, None if there is none.

    Args:
        url: Any address of the emulator.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not port or not _is_loopback(parts.hostname or ""):
        return None
    return _token_in(_folder() / f"{port}.json")


def _folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return (Path(runtime) / "svcnb" if runtime else cache_folder()) / "emulators"


def _token_in(file: Path) -> Found | None:
    found = _read(file)
    token, pid = found.get("control_token"), found.get("pid")
    return Found(token) if isinstance(token, str) and isinstance(pid, int) and _is_running(pid) else None


def _pid_of(file: Path) -> object:
    return _read(file).get("pid")


def _read(file: Path) -> dict[str, object]:
    try:
        with file.open("rb") as opened:
            about = os.fstat(opened.fileno())
            if hasattr(os, "geteuid") and (about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077):
                return {}  # written by another user, or readable by others
            found = parse(opened.read(_MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _delete_stale(folder: Path) -> None:
    """Deletes the files of emulators that were killed."""
    for file in folder.glob("*.json"):
        pid = _pid_of(file)
        if not isinstance(pid, int) or not _is_running(pid):
            file.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # this check would end the process on that system
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return False  # another user's process has the number now
    return True


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        ip = ip_address(host)
    except ValueError:
        return False
    return ip.is_loopback
