"""No token and no file is visible to another user of the machine, or to a person who sees the screen."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.process_groups import stop

pytestmark = [
    pytest.mark.engine,
    pytest.mark.chain,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are read in /proc"),
]
PATIENCE_S = 300
ACTION = "const main = ({ n }) => { console.log('working'); return n + 1; };\n"
# Files that the user creates to share them, and those of IPython.
MEANT_TO_BE_READ = ("reports", "project", "action.js", ".ipython")


class Terminal:
    """Pseudo-terminal on which a program runs, with all output of the program."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._shown: list[bytes] = []
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=environment,
            start_new_session=True,
            umask=0o022,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # the terminal closes when its last program ends
            while data := os.read(self._ours, 65_536):
                self._shown.append(data)

    @property
    def shown(self) -> str:
        return b"".join(self._shown).decode(errors="replace")

    def wait_for(self, pattern: str) -> re.Match[str]:
        until = time.monotonic() + PATIENCE_S
        while (found := re.search(pattern, self.shown)) is None:
            assert self.process.poll() is None, self.shown
            assert time.monotonic() < until, self.shown
            time.sleep(0.05)
        return found

    def close(self) -> None:
        stop(self.process)
        self._reader.join(PATIENCE_S)
        os.close(self._ours)


def descendants(pid: int) -> Iterator[int]:
    """Returns a process and all its descendants."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                yield from descendants(int(child))


def readable_by_others(root: Path) -> Iterator[str]:
    """Returns all files, folders and sockets below a folder that another user can read, change or connect to."""
    for entry in sorted(root.iterdir()):
        about = entry.lstat()
        mode = stat.S_IMODE(about.st_mode)
        if entry.name in MEANT_TO_BE_READ or stat.S_ISLNK(about.st_mode):
            continue
        if stat.S_ISDIR(about.st_mode):
            if mode & 0o011:  # other users can enter the folder
                yield from readable_by_others(entry)
            if mode & 0o022:
                yield f"{entry} ({mode:o}): others can change what is in it"
        elif mode & 0o066:
            yield f"{entry} ({mode:o})"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Home folder that all users can enter, as on many systems."""
    for part in ("home", "home/work", "tmp"):
        (tmp_path / part).mkdir()
        (tmp_path / part).chmod(0o755)
    return tmp_path


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    from svcnb import tools

    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "XDG_"))}
    found = {"SVC_ANVIL": str(tools.anvil()), "SVC_DENO": str(tools.deno())}
    places = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | found | places


@pytest.fixture
def svcnb(folder: Path, environment: dict[str, str]) -> Callable[..., str]:
    """Runs a command of the README like a user. Returns its output."""

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "svcnb", *arguments],
            cwd=folder / "home/work",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            umask=0o022,
            check=False,
        )
        assert done.returncode == code, (arguments, done.stdout)
        return done.stdout

    return run


def test_typical_use_reveals_no_control_token_or_private_file(
    folder: Path, environment: dict[str, str], svcnb: Callable[..., str]
) -> None:
    work = folder / "home/work"
    (work / "action.js").write_text(ACTION)
    command = [sys.executable, "-m", "svcnb", "emulator", "--port", "0", "--starter-credits", "500"]
    terminals = [Terminal([*command, "--state", "state"], work, environment)]
    try:
        url = terminals[0].wait_for(r'"base_url": "([^"]+)"')[1]
        kept = list(folder.rglob(f"emulators/{url.rpartition(':')[2]}-*.json"))
        token = json.loads(kept[0].read_text())["control_token"]
        assert len(token) > 40
        environment["SVC_BASE_URL"] = url
        shown = {
            "account": svcnb("account", "create", "demo", "--save", "demo.key"),
            "run": svcnb("run", "action.js", "--params", '{"n": 41}', "--key-file", "demo.key"),
            "trace": svcnb("run", "action.js", "--params", '{"n": 1}', "--key-file", "demo.key", "--json"),
            "status": svcnb("emulator", "status"),
            "status as JSON": svcnb("emulator", "status", "--json"),
            "clock": svcnb("emulator", "clock", "--advance", "10m"),
            "snapshot": svcnb("emulator", "snapshot", "save", "before"),
            "a refusal": svcnb("emulator", "snapshot", "restore", "nothing", code=1),
            "history": svcnb("history", "list"),
            "project": svcnb("new", "price-oracle", "project"),
            "report": svcnb("report", "run-history", "--key-file", "demo.key", "-p", "since=1d", "--out", "reports"),
        }
        terminals.append(Terminal([*command, "--database", f"sqlite:////{work}/own.db"], work, environment))
        terminals[1].wait_for(r'"base_url": "([^"]+)"')
        workshop = [sys.executable, "-m", "svcnb", "workshop", "start", "ada", "grace", "--folder", "room"]
        del environment["SVC_BASE_URL"]
        terminals.append(Terminal(workshop, work, environment))
        terminals[2].wait_for("Ctrl-C")

        for number, terminal in enumerate(terminals):
            shown[f"terminal {number}"] = terminal.shown
            for pid in descendants(terminal.process.pid):
                for name in ("cmdline", "environ"):
                    with suppress(OSError):
                        shown[f"{name} of {pid}"] = Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace")
        for file in folder.rglob("*"):
            if file.is_file() and file not in kept:
                shown[str(file)] = file.read_bytes().decode(errors="replace")
        assert not [what for what, text in shown.items() if token in text]
        assert list(readable_by_others(folder)) == []
        assert httpx.get(f"{url}/health", trust_env=False).status_code == 200
    finally:
        for terminal in terminals:
            terminal.close()
    assert list(readable_by_others(folder)) == []
