"""Spawner, a small process that starts and stops the processes of an engine.

The emulator runs the spawner as a script, ``python -I -S spawner.py FD``, where FD is one end of a stream socket pair.
The emulator has the other end. The spawner exists for three reasons:

- A fork of a small process is fast and does not block the event loop.
- The kernel can kill the children when the spawner dies.
- The spawner detects a crash of the emulator. It then kills all children, deletes their folder and exits.

Both sides send JSON messages, one per line (in: to the spawner, out: to the emulator):
    in   {"argv", "template", "env", "own_folder", "cwd", "limits", "remove"}   first message; template: command line,
                                                         or null; own_folder: variable in env with the path of a folder,
                                                         which is different for each template
    in   {"spawn": token, "aside"}                       two descriptors: standard input and output, standard error
    in   {"kill": token}                                 kills the process
    in   {"near": token}                                 moves the main thread to the reserved cores
    in   {"off": token}  |  {"back": token}              moves the process off the reserved cores and sets the lowest
                                                         priority; back: allows all cores and the normal priority
    in   {"lower": token, "aside"}                       lowers the priority; aside: also leave the reserved cores
    in   {"stop_template": true}                         stops the template until many processes start again
    in   {"ping": number}                                checks that the spawner responds
    out  {"pong": number}
    out  {"spawned": token, "pid"}  |  {"failed": token, "error"}
    out  {"exited": token, "status", "held"}     held: peak memory of the process, in bytes
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

TYPE_CHECKING = False  # do not import this from `typing`, which takes longer to load than all other modules
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_MAX_LINE = 1 << 16
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# Niceness that results in a tenth of the processor share of other processes, so that the process never stops.
_LOWER = 10
_LOWEST = 19
_AGAIN_S = 0.1
# One in this number of cores, but at least one, is reserved for work with a waiting caller. Priorities alone do not
# reserve a core. The kernel interrupts a busy process only at the next tick, and threads that wake on the core of the
# process must wait.
_PART_FOR_OTHERS = 4
# After this number of processes, more are likely to follow, and a template process creates them.
_TEMPLATE_AFTER = 4
_TEMPLATE_FAILURES = 3
_COPY_S = 2.0
_TEMPLATE_READY = b"F"


class _Template:
    """Warmed-up process that creates copies of itself, which are children of the spawner."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.connection = connection  # standard input and output of the process
        self.pid = pid
        self.is_ready = False


class Spawner:
    """Main loop of a spawner, for one emulator.

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
        self._to_restore: set[int] = set()  # ids of sessions whose normal priority is not restored yet
        self._cores = os.sched_getaffinity(0) if sys.platform == "linux" else set()
        self._kept = set(sorted(self._cores)[: max(1, len(self._cores) // _PART_FOR_OTHERS)])
        self._aside = self._cores - self._kept or self._cores
        self._template: _Template | None = None
        self._spawned = 0
        self._failures = 0
        self._prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def serve(self) -> None:
        """Processes messages until the emulator has exited, then stops all processes and deletes the folder."""
        wake_out, wake_in = os.pipe()
        os.set_blocking(wake_out, False)
        os.set_blocking(wake_in, False)
        signal.set_wakeup_fd(wake_in)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            while True:
                self._to_restore = {pid for pid in self._to_restore if pid in self._tokens and not _weigh(pid, 0)}
                wait_s = _AGAIN_S if self._to_restore else None
                received = [self._control.fileno(), wake_out]
                if self._template is not None:
                    received.append(self._template.connection.fileno())
                readable, _, _ = select.select(received, [], [], wait_s)
                if wake_out in readable:
                    os.read(wake_out, 4096)
                    self._reap()
                if self._template is not None and self._template.connection.fileno() in readable:
                    self._handle_template(self._template)
                if self._control.fileno() in readable and not self._receive():
                    return
        except (BrokenPipeError, ConnectionResetError):
            return  # the emulator has exited
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
            self._handle_order(json.loads(line))
        return True

    def _handle_order(self, order: dict[str, Any]) -> None:
        if "spawn" in order:
            self._spawn(order["spawn"], aside=order["aside"])
        elif "argv" in order:
            self._setup = order
        elif "ping" in order:
            self._send({"pong": order["ping"]})
        elif "stop_template" in order:
            self._drop_template()
            self._spawned = 0
        else:
            self._treat(order)

    def _treat(self, order: dict[str, Any]) -> None:
        what = next(word for word in ("kill", "near", "off", "back", "lower") if word in order)
        pid = self._pids.get(order[what])
        if pid is None:
            return  # only this process reaps children, so the system cannot reuse the id of a listed process
        if what == "kill":
            _kill(pid)
        elif what == "near":
            if self._kept:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(pid, self._kept)  # only the main thread
        elif what == "off":
            _confine(pid, self._aside)
            self._to_restore.discard(pid)
            _weigh(pid, _LOWEST)
        elif what == "back":
            _confine(pid, self._cores)
            self._to_restore.add(pid)
        else:
            _confine(pid, self._aside if order["aside"] else self._cores)
            _lower(pid, _LOWEST if order["aside"] else _LOWER)

    def _spawn(self, token: int, *, aside: bool) -> None:
        channel, errors = self._descriptors.pop(0), self._descriptors.pop(0)
        pid, failure = self._copy(channel, errors), ""
        if pid is not None:
            if aside:
                _confine(pid, self._aside)
        else:
            try:
                pid = self._fork(channel, errors, aside=aside)
            except OSError as error:
                failure = str(error)
        answer: dict[str, Any] = {"failed": token, "error": failure}
        if pid is not None:
            self._tokens[pid] = token
            self._pids[token] = pid
            answer = {"spawned": token, "pid": pid}
        os.close(channel)
        os.close(errors)
        self._send(answer)
        self._spawned += 1
        if self._spawned >= _TEMPLATE_AFTER:
            self._start_template()

    def _fork(self, channel: int, errors: int, *, aside: bool, argv: list[str] | None = None) -> int:
        spawner = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_isolate(channel, errors, spawner, aside=aside, argv=argv)
        return pid

    def _copy(self, channel: int, errors: int) -> int | None:
        """Returns the id of a new copy of the template, or None if no template is ready or the template fails."""
        if self._template is None or not self._template.is_ready:
            return None
        answer = b""
        with contextlib.suppress(OSError):
            socket.send_fds(self._template.connection, [b"x"], [channel, errors])
            answer = self._template.connection.recv(4)
        pid = int.from_bytes(answer, sys.byteorder, signed=True)
        if len(answer) == 4 and pid > 0:  # noqa: PLR2004 - a number of 32 bits
            return pid
        self._end_template()
        return None

    def _start_template(self) -> None:
        """Starts to warm up a template, in parallel with other work."""
        argv = (self._setup or {}).get("template")
        if not argv or self._template is not None or self._failures >= _TEMPLATE_FAILURES:
            return
        ours, theirs = socket.socketpair()
        ours.settimeout(_COPY_S)
        errors = os.memfd_create("template", os.MFD_CLOEXEC)
        try:
            self._template = _Template(ours, self._fork(theirs.fileno(), errors, aside=True, argv=argv))
        except OSError:
            self._failures += 1
        finally:
            theirs.close()
            os.close(errors)

    def _handle_template(self, template: _Template) -> None:
        """Handles the end of a template's warm-up, or its exit."""
        try:
            received = template.connection.recv(1)
        except OSError:
            received = b""
        if received == _TEMPLATE_READY:
            template.is_ready = True
            _confine(template.pid, self._cores)
        else:
            self._end_template()

    def _end_template(self) -> None:
        """Stops a failed template. Processes then start without a template until a new template is ready."""
        if self._template is not None:
            self._drop_template()
            self._failures += 1

    def _drop_template(self) -> None:
        if self._template is not None:
            self._template.connection.close()
            _kill(self._template.pid)
            self._template = None

    def _become_isolate(self, channel: int, errors: int, spawner: int, *, aside: bool, argv: list[str] | None) -> None:
        try:
            setup = self._setup or {}
            os.setsid()
            if aside:
                _confine(os.getpid(), self._aside)
            if self._prctl is not None:
                self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                self._prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            if os.getppid() != spawner:
                return  # the parent died before the kernel setting took effect
            os.dup2(channel, 0)
            os.dup2(channel, 1)
            os.dup2(errors, 2)
            os.closerange(3, 1024)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for name, value in setup["limits"].items():
                _limit(getattr(resource, name), value)
            os.chdir(setup["cwd"])
            command: list[str] = argv or setup["argv"]
            env: dict[str, str] = setup["env"]
            if argv is not None and setup["own_folder"]:
                # Copies map the files of the template, but do not have its locks. A process that opens these files
                # after the end of the template truncates the files, which kills the copies.
                env |= {setup["own_folder"]: f"{env[setup['own_folder']]}-{os.getpid()}"}
            os.execve(command[0], command, env)  # noqa: S606 - no shell is needed
        except BaseException as error:  # noqa: BLE001 - a forked child must never return to the parent's loop
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
            self._send({"exited": token, "status": code, "held": usage.ru_maxrss * _RSS_UNIT})

    def _send(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def _end(self) -> None:
        if self._template is not None:
            self._tokens[self._template.pid] = 0
        for pid in self._tokens:
            _kill(pid)
        for pid in self._tokens:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if self._setup and (folder := self._setup.get("remove")):
            import shutil  # this import is slow, but the time is not important here

            shutil.rmtree(folder, ignore_errors=True)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _lower(pid: int, by: int) -> None:
    with contextlib.suppress(OSError):
        # The priority is relative to the spawner's own niceness. Each isolate has its own process group, so the change
        # includes all of its threads.
        os.setpriority(os.PRIO_PGRP, pid, min(_LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + by))
    _weigh(pid, by)


def _weigh(pid: int, niceness: int) -> bool:
    """Sets the niceness of a process's operating system session.

    If the kernel schedules by session (autogroup), the niceness of a single process has no effect.

    Returns:
        False if the caller must repeat the call later. The kernel accepts only ten changes per second from non-root
        users.
    """
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:  # noqa: PTH123 - this script loads few modules
            file.write(str(niceness))
    except BlockingIOError:
        return False
    except OSError:
        pass  # the system does not support the call, or the process has exited
    return True


def _confine(pid: int, cores: set[int]) -> None:
    """Restricts all current and future threads of a process to the given cores.

    If the system does not support or permit this, the function has no effect.
    """
    if not cores:
        return
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this script loads few modules
            with contextlib.suppress(OSError):  # this thread has exited
                os.sched_setaffinity(int(thread), cores)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    for _name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, _name), signal.SIG_IGN)  # the spawner exits with the emulator
    Spawner(socket.socket(fileno=int(sys.argv[1]))).serve()
