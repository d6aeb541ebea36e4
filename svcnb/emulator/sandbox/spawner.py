"""Starts and ends the processes of an engine, from a small process of its own.

Run as a script: ``python -I -S spawner.py FD``, where FD is one end of a stream socket pair. The emulator holds the
other end. It exists for three reasons: forking a small process is quick and blocks no event loop, a child can be tied
to it by the kernel (it dies when this process dies), and when the emulator itself is killed this process notices,
ends all children, removes their folder and exits.

Lines of JSON both ways:
    in   {"argv", "env", "cwd", "limits", "remove"}      once, first
    in   {"spawn": token, "aside"}                       with two descriptors: standard input and output, standard error
    in   {"kill": token}                                 ends it
    in   {"near": token}                                 its main thread, onto the cores that are kept for others
    in   {"off": token}  |  {"back": token}              off the cores that are kept for others, and onto all again
    in   {"lower": token, "aside"}                       others go first, on all cores or off those that are kept
    in   {"ping": number}                                asks whether this process works
    out  {"pong": number}
    out  {"spawned": token, "pid"}  |  {"failed": token, "error"}
    out  {"exited": token, "status", "cpu_s", "held"}      held: the most memory it had, in bytes
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys

TYPE_CHECKING = False  # as type checkers know it; the module that has it takes longer to load than all the others
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_MAX_LINE = 1 << 16
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# A tenth of the share of others: little beside work that is waited for, not nothing on a busy machine.
_LOWER = 10
_LOWEST = 19
_AGAIN_S = 0.1
# This part of the cores, at least one, is kept free of what has to stand aside. Shares alone do not keep a core free:
# whoever computes is looked at again at the next tick only, and a busy core makes those wait who wake on it.
_PART_FOR_OTHERS = 4


class Spawner:
    """One emulator's spawner.

    Args:
        control: Connection to the emulator.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._buffer = b""
        self._descriptors: list[int] = []
        self._setup: dict[str, Any] | None = None
        self._tokens: dict[int, int] = {}  # pid to token
        self._pids: dict[int, int] = {}  # token to pid
        self._owed: set[int] = set()  # sessions that get their share again as soon as the kernel permits
        self._cores = os.sched_getaffinity(0) if sys.platform == "linux" else set()
        self._kept = set(sorted(self._cores)[: max(1, len(self._cores) // _PART_FOR_OTHERS)])
        self._aside = self._cores - self._kept or self._cores
        self._prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def serve(self) -> None:
        """Works until the emulator goes, then leaves nothing behind."""
        wake_out, wake_in = os.pipe()
        os.set_blocking(wake_out, False)
        os.set_blocking(wake_in, False)
        signal.set_wakeup_fd(wake_in)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            while True:
                self._owed = {pid for pid in self._owed if pid in self._tokens and not _weigh(pid, 0)}
                wait_s = _AGAIN_S if self._owed else None
                readable, _, _ = select.select([self._control.fileno(), wake_out], [], [], wait_s)
                if wake_out in readable:
                    os.read(wake_out, 4096)
                    self._reap()
                if self._control.fileno() in readable and not self._receive():
                    return
        except (BrokenPipeError, ConnectionResetError):
            return  # the emulator is gone
        finally:
            self._end()

    def _receive(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, _MAX_LINE, 64)
        if not data:
            return False
        self._descriptors += descriptors
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        return True

    def _obey(self, order: dict[str, Any]) -> None:
        if "spawn" in order:
            self._spawn(order["spawn"], aside=order["aside"])
        elif "argv" in order:
            self._setup = order
        elif "ping" in order:
            self._tell({"pong": order["ping"]})
        else:
            self._treat(order)

    def _treat(self, order: dict[str, Any]) -> None:
        what = next(word for word in ("kill", "near", "off", "back", "lower") if word in order)
        pid = self._pids.get(order[what])
        if pid is None:
            return  # reaped, here alone: the number of one that is known cannot belong to anybody else yet
        if what == "kill":
            _kill(pid)
        elif what == "near":
            _bring(pid, self._kept)
        elif what == "off":
            _confine(pid, self._aside)
            self._owed.discard(pid)
            _weigh(pid, _LOWEST)
        elif what == "back":
            _confine(pid, self._cores)
            self._owed.add(pid)
        else:
            _confine(pid, self._aside if order["aside"] else self._cores)
            _lower(pid, _LOWEST if order["aside"] else _LOWER)

    def _spawn(self, token: int, *, aside: bool) -> None:
        channel, errors = self._descriptors.pop(0), self._descriptors.pop(0)
        spawner = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            answer: dict[str, Any] = {"failed": token, "error": str(error)}
        else:
            if pid == 0:
                self._become_isolate(channel, errors, spawner, aside=aside)
            self._tokens[pid] = token
            self._pids[token] = pid
            answer = {"spawned": token, "pid": pid}
        os.close(channel)
        os.close(errors)
        self._tell(answer)

    def _become_isolate(self, channel: int, errors: int, spawner: int, *, aside: bool) -> None:
        try:
            setup = self._setup or {}
            os.setsid()
            if aside:
                _confine(os.getpid(), self._aside)
            if self._prctl is not None:
                self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                self._prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            if os.getppid() != spawner:
                return  # it died before its end could be tied to
            os.dup2(channel, 0)
            os.dup2(channel, 1)
            os.dup2(errors, 2)
            os.closerange(3, 1024)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for name, value in setup["limits"].items():
                _limit(getattr(resource, name), value)
            os.chdir(setup["cwd"])
            os.execve(setup["argv"][0], setup["argv"], setup["env"])  # noqa: S606 - no shell is wanted
        except BaseException as error:  # noqa: BLE001 - a forked child must never return into the parent's loop
            with contextlib.suppress(OSError):
                os.write(2, f"cannot start: {error}\n".encode())
        finally:
            os._exit(127)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            token = self._tokens.pop(pid, None)
            if token is None:
                continue
            del self._pids[token]
            code = os.waitstatus_to_exitcode(status)
            held = usage.ru_maxrss * _RSS_UNIT
            self._tell({"exited": token, "status": code, "cpu_s": usage.ru_utime + usage.ru_stime, "held": held})

    def _tell(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def _end(self) -> None:
        for pid in self._tokens:
            _kill(pid)
        for pid in self._tokens:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if self._setup and (folder := self._setup.get("remove")):
            import shutil  # takes a while to load, which there is now

            shutil.rmtree(folder, ignore_errors=True)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _lower(pid: int, by: int) -> None:
    with contextlib.suppress(OSError):
        # Below this process, however nice that is itself. Each isolate leads a process group of its own, so all of its
        # threads are reached.
        os.setpriority(os.PRIO_PGRP, pid, min(_LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + by))
    _weigh(pid, by)


def _weigh(pid: int, niceness: int) -> bool:
    """Sets the niceness of a session, where the kernel shares time between sessions first; inside one it means nothing.

    Returns:
        False when it must be tried again: the kernel takes ten changes a second from whoever is not root.
    """
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:  # noqa: PTH123 - this script loads as little as it can
            file.write(str(niceness))
    except BlockingIOError:
        return False
    except OSError:
        pass  # no such system, or the process is gone
    return True


def _confine(pid: int, cores: set[int]) -> None:
    """Lets the threads of a process, and those they start from now on, run on these cores alone.

    Where the system has no such choice, or does not leave it to us, nothing changes.
    """
    if not cores:
        return
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this script loads as little as it can
            with contextlib.suppress(OSError):  # this one has ended
                os.sched_setaffinity(int(thread), cores)


def _bring(pid: int, cores: set[int]) -> None:
    """Lets the main thread of a process wake on these cores, while its helpers stay where they are."""
    if cores:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, cores)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    for _name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, _name), signal.SIG_IGN)  # it goes when the emulator goes
    Spawner(socket.socket(fileno=int(sys.argv[1]))).serve()
