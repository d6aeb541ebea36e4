"""Kernels that start immediately, for tests of notebooks.

The kernels are forks of a process that has imported the modules of the lessons.

In a new kernel, the imports take two seconds for each of almost forty notebooks. The forks are also separate processes
without shared state, but they have already imported the modules.

``python warm_kernels.py serve SOCKET`` forks a kernel for each request, and exits when its standard input closes.
Jupyter starts ``python warm_kernels.py start SOCKET ARGUMENT...``, which requests a kernel, forwards signals, and exits
with the kernel's exit code.
"""

import array
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

NAME = "svcnb-warm"
_IMPORTS = (
    "ipykernel.kernelapp", "ipywidgets", "anywidget", "pandas", "web3", "eth_account", "svcnb.lessons", "svcnb.launch",
    "svcnb.client", "svcnb.toolkit", "svcnb.charts", "svcnb.panels", "svcnb.magics",
)  # fmt: skip
_MOST_BYTES = 1 << 20
_LENGTH = struct.Struct("!I")


class WarmKernels:
    """Warm kernels for the notebooks of one pytest run.

    Args:
        folder: Empty folder for the socket and the kernel specification.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        address = folder / "socket"
        spec = folder / "kernels" / NAME
        spec.mkdir(parents=True)
        # Disable the module site, which is not necessary for forwarding signals.
        command = [sys.executable, "-I", "-S", __file__, "start", str(address), "-f", "{connection_file}"]
        spec.joinpath("kernel.json").write_text(
            json.dumps({"argv": command, "display_name": NAME, "language": "python"}), encoding="utf-8"
        )
        self._server = subprocess.Popen(
            [sys.executable, __file__, "serve", str(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._server.stdout is not None
        self._server.stdout.readline()  # the server accepts connections

    def stop(self) -> None:
        """Stops the forking process and all remaining kernels."""
        self._server.communicate()


class _Server:
    """Server that forks kernels, and forwards signals and exit codes.

    Args:
        address: Path of the socket.
    """

    def __init__(self, address: str) -> None:
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(address)
        self._door.listen()
        self._chosen = selectors.DefaultSelector()
        self._chosen.register(0, selectors.EVENT_READ)
        self._chosen.register(self._door, selectors.EVENT_READ)
        self._kernels: dict[int, tuple[int, socket.socket]] = {}  # with the descriptor of the process

    def serve(self) -> None:
        """Forks a kernel for each request until standard input closes, and then stops the remaining kernels."""
        while True:
            for key, _ in self._chosen.select():
                if key.fileobj == 0:
                    for watch in self._kernels:
                        signal.pidfd_send_signal(watch, signal.SIGKILL)
                    return
                if key.fileobj is self._door:
                    self._fork()
                elif isinstance(key.fileobj, socket.socket):
                    self._pass_on(key.fileobj, key.data)
                elif key.fd in self._kernels:
                    self._end(key.fd)

    def _fork(self) -> None:
        _warm_up()
        caller = self._door.accept()[0]
        order, files = _receive(caller)
        pid = os.fork()
        if pid == 0:
            self._chosen.close()
            for each in (self._door, caller, *(other for _, other in self._kernels.values())):
                each.close()
            _become_kernel(order, files)
        for file in files:
            os.close(file)
        watch = os.pidfd_open(pid)
        self._kernels[watch] = (pid, caller)
        self._chosen.register(watch, selectors.EVENT_READ)
        self._chosen.register(caller, selectors.EVENT_READ, watch)

    def _pass_on(self, caller: socket.socket, watch: int) -> None:
        """Forwards a signal to a kernel. Kills the kernel if the requesting process has exited."""
        if watch not in self._kernels:
            return
        with contextlib.suppress(ProcessLookupError):
            if received := caller.recv(1):
                signal.pidfd_send_signal(watch, received[0])
            else:
                self._chosen.unregister(caller)
                signal.pidfd_send_signal(watch, signal.SIGKILL)

    def _end(self, watch: int) -> None:
        pid, caller = self._kernels.pop(watch)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for each in (watch, caller):
            with contextlib.suppress(KeyError):
                self._chosen.unregister(each)
        os.close(watch)
        with contextlib.suppress(OSError):
            caller.send(bytes([status if status >= 0 else 128 - status]))
        caller.close()


def _warm_up() -> None:
    """Imports the modules of lessons before the first kernel. Most runs of a few tests need no kernel."""
    if gc.get_freeze_count():
        return
    for name in _IMPORTS:
        with contextlib.suppress(ImportError):  # the extra of this module is not installed
            __import__(name)
    gc.collect()
    gc.freeze()  # the memory of these objects stays shared, because no garbage collection in a kernel writes to it


def _become_kernel(order: dict[str, Any], files: list[int]) -> None:
    status = 1
    try:
        for wanted, file in enumerate(files):
            os.dup2(file, wanted)
            os.close(file)
        os.setsid()
        os.chdir(order["cwd"])
        os.environ.clear()
        # The kernel monitors its parent, which is this server, and ends with it.
        os.environ.update(order["env"], JPY_PARENT_PID=str(os.getppid()))
        sys.argv = ["ipykernel_launcher", *order["arguments"]]
        sys.path[0] = ""  # like `python -m`
        from ipykernel import kernelapp

        kernelapp.launch_new_instance()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        import atexit

        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(status)


def start(address: str, arguments: list[str]) -> int:
    """Requests a kernel and represents it for Jupyter. Returns its exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: server.send(bytes([number])))
        server.connect(address)
        order = json.dumps({"arguments": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}).encode()  # noqa: PTH109
        files = array.array("i", [0, 1, 2]).tobytes()
        server.sendmsg([_LENGTH.pack(len(order))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        server.sendall(order)
        return server.recv(1)[0]


def _receive(caller: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, files, _, _ = socket.recv_fds(caller, _LENGTH.size, 3)
    (left,) = _LENGTH.unpack(head)
    assert left <= _MOST_BYTES
    parts = []
    while left:
        parts.append(caller.recv(left))
        left -= len(parts[-1])
    order: dict[str, Any] = json.loads(b"".join(parts))
    return order, files


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        server = _Server(sys.argv[2])
        os.write(1, b"open\n")
        server.serve()
    else:
        sys.exit(start(sys.argv[2], sys.argv[3:]))
