"""Store of control tokens, in which a user's programs find the tokens of the user's running emulators.

A control token gives access to the control plane of an emulator. Each emulator creates a token when it starts. The
emulator saves the token in a file that only the user of the emulator can read, and deletes the file when it stops. A
client, panel or command that has the emulator's address reads the token from that file. The emulator does not save a
token that the user chose. The user must pass such a token explicitly.
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
    """Saves the control token of an emulator that runs in this process.

    Returns:
        Path of the file, for `delete`. None if the file cannot be written. Other programs then cannot find the token.
    """
    try:
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _delete_stale(folder)
        # The name contains the process id, so that another emulator never deletes or replaces this file.
        file = folder / f"{urlsplit(base_url).port}-{os.getpid()}.json"
        file.unlink(missing_ok=True)  # create a new file, because an older one can have another mode
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            json.dump({"base_url": base_url, "pid": os.getpid(), "control_token": token}, opened)
    except OSError:
        return None
    return file


def delete(file: Path | None) -> None:
    """Deletes a file that `save` wrote. None and a missing file have no effect."""
    if file is not None:
        with suppress(OSError):
            file.unlink()


class Running(NamedTuple):
    """Address and process id of an emulator that this user runs on this machine."""

    base_url: str
    pid: int


def running() -> list[Running]:
    """Returns this user's running emulators whose tokens are saved, newest first."""
    return [Running(str(entry["base_url"]), int(str(entry["pid"]))) for entry in _entries("*")]


class Found:
    """Control token from the store.

    The representation of this object does not contain the token. Send the token only to the emulator's own address. On
    another loopback address, for example the first one that ``localhost`` resolves to, a program of another user can
    listen on the same port.
    """

    __slots__ = ("_base_url", "_token")

    def __init__(self, base_url: str, token: str) -> None:
        self._base_url = base_url
        self._token = token

    def at(self, url: str) -> str:
        """Returns a URL in which the scheme, host and port of the token's emulator replace those of ``url``."""
        own = urlsplit(self._base_url)
        return urlsplit(url)._replace(scheme=own.scheme, netloc=own.netloc).geturl()

    def __repr__(self) -> str:
        """Returns a representation without the token."""
        return "<control token>"

    def reveal(self) -> str:
        """Returns the token."""
        return self._token

    def authorization(self) -> str:
        """Returns the value of the ``Authorization`` header, which contains the token."""
        return f"Bearer {self._token}"


def find(url: str) -> Found | None:
    """Returns the control token of an emulator that this user runs on this machine.

    Args:
        url: Any address of the emulator, with a loopback host (such as ``127.0.0.1``) and a port.

    Returns:
        The token. None if the address has no loopback host or no port, or if no token is saved for the port.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not port or not _is_loopback(parts.hostname or ""):
        return None
    entries = [(str(entry["base_url"]), str(entry["control_token"])) for entry in _entries(port)]
    same_host = [entry for entry in entries if urlsplit(entry[0]).hostname == parts.hostname]
    return next((Found(*entry) for entry in same_host or entries), None)


def _folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return (Path(runtime) / "svcnb" if runtime else cache_folder()) / "emulators"


def _entries(port: int | str) -> list[dict[str, object]]:
    """Returns the contents of the files of running emulators at a port (``*``: at any port), newest first."""
    files: list[Path] = []
    with suppress(OSError):
        files.extend(_folder().glob(f"{port}-*.json"))
    newest_first = sorted((_read(file) for file in files), key=lambda read: read[0], reverse=True)
    return [
        entry
        for _, entry in newest_first
        if isinstance(entry.get("base_url"), str)
        and isinstance(entry.get("control_token"), str)
        and isinstance(pid := entry.get("pid"), int)
        and _is_running(pid)
    ]


def _read(file: Path) -> tuple[int, dict[str, object]]:
    """Returns the time of the last write in nanoseconds, and the parsed content of a file.

    The result is 0 and an empty dictionary if the file cannot be read or other users can read it. The content is also
    empty if the file is not a JSON object.
    """
    try:
        with file.open("rb") as opened:
            about = os.fstat(opened.fileno())
            if hasattr(os, "geteuid") and (about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077):
                return 0, {}  # another user wrote the file, or other users can read it
            found = parse(opened.read(_MAX_BYTES))
    except (OSError, ValueError):
        return 0, {}
    return about.st_mtime_ns, found if isinstance(found, dict) else {}


def _delete_stale(folder: Path) -> None:
    """Deletes the files of emulators whose processes no longer run."""
    for file in folder.glob("*.json"):
        pid = file.stem.rpartition("-")[2]
        if not pid.isdecimal() or not _is_running(int(pid)):
            file.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # on Windows, os.kill would terminate the process
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False  # the process has ended, or a process of another user now has this id
    return True


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
