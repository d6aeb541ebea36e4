"""Node that runs anvil as a child process. The child process exits with the emulator.

A short shell script runs between the emulator and the node. The script limits the node's memory. When the emulator
stops or is killed, the script's standard input closes. The script then kills the node and deletes the node's folder.
This approach works on every Unix system, needs no code between fork and exec, and adds a millisecond to the start. If
the shell itself is killed, the kernel terminates the node on Linux. On other systems, `AnvilNode.stop` terminates the
node.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from svcnb import tools
from svcnb.emulator.chain.connection import StreamConnection
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable
from svcnb.emulator.chain.genesis import HARDFORK, Genesis

log = logging.getLogger(__name__)

KEPT_STATES: Final = 32
"""Number of past blocks whose state a call can read.

The node stores a complete copy of each state, so its memory use grows with this number. With 128 states, as in public
nodes, 500 groups with long descriptions used the whole memory limit of 2 GiB.
"""
_START_S: Final = 120.0
_STOP_S: Final = 5.0
_WORDS: Final = 4_000

_SHELL: Final = f"""
ulimit -d "$1" 2>/dev/null; folder=$2; shift 2
exec 3<&0 4>&1 5>&2 >"$folder/log" 2>&1
setpriv --pdeathsig KILL true 2>/dev/null && set -- setpriv --pdeathsig KILL "$@"
"$@" 3<&- 4>&- 5>&- </dev/null & node=$!
trap 'kill -9 $node' TERM INT HUP
echo $node >&4; exec 4>&-
{{ read -r _ <&3; kill -9 $node; }} 5>&- & watch=$!
while kill -0 $node 2>/dev/null; do wait $node; code=$?; done
kill $watch 2>/dev/null
tail -c {_WORDS} "$folder/log" >&5
rm -rf "$folder"
exit $code
"""


class AnvilNode:
    """Running anvil process.

    Attributes:
        connection: Connection to the node.
        pid: Process id of anvil, or 0 before anvil has started.
        exited: Task that completes when the shell process has exited. The result is the exit code of the shell.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._process = process
        self._folder = folder
        self.pid = 0
        self.connection: StreamConnection
        self.exited: asyncio.Task[int] = asyncio.create_task(process.wait(), name="svcnb-chain-exit")

    @classmethod
    async def start(cls, genesis: Genesis, *, memory_mb: int) -> AnvilNode:
        """Starts a node with only its first block, and returns the running node.

        Args:
            genesis: First block of the chain.
            memory_mb: Memory limit in MiB. A node that exceeds the limit exits.

        Raises:
            ToolMissing: The binary is not installed.
            ChainUnusable: This system cannot run anvil.
            ChainUnavailable: The node did not start. The message contains the node's last output.
        """
        if sys.platform == "win32":
            raise ChainUnusable(
                "anvil runs only on Linux and macOS: use --chain-engine ethereumjs, or another chain with --chain-rpc"
            )
        binary = tools.anvil()
        folder = tempfile.TemporaryDirectory(prefix="svcnb-chain-", ignore_cleanup_errors=True)
        node: AnvilNode | None = None
        try:
            place = Path(folder.name)
            (place / "genesis.json").write_text(genesis.as_file())
            command = [str(binary), *_arguments(genesis, place)]
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _SHELL,
                "svcnb-chain",
                str(memory_mb * 1024),
                folder.name,
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={},
                start_new_session=True,  # the emulator handles keyboard interrupts
            )
            node = cls(process, folder)
            await node._connect(place / "rpc")
        except BaseException:
            if node is None:
                folder.cleanup()
            else:
                await node.stop()
            raise
        return node

    async def _connect(self, path: Path) -> None:
        assert self._process.stdout is not None  # noqa: S101 - requested above
        self.pid = int((await self._process.stdout.readline()).strip() or 0)
        deadline = asyncio.get_running_loop().time() + _START_S
        while True:
            try:
                self.connection = await StreamConnection.open(path)
            except OSError as error:
                if self.exited.done():
                    raise ChainUnavailable(f"the chain node stopped immediately: {await self.last_output()}") from error
                if asyncio.get_running_loop().time() > deadline:
                    raise ChainUnavailable(
                        f"the chain node did not start within {_START_S:.0f} s",
                        fix="Try again when this machine is less busy.",
                    ) from error
                await asyncio.sleep(0.002)
            else:
                await self.connection.request("net_version")  # the node itself has responded, not only the kernel
                if sys.platform == "linux" and self.pid:
                    await self._block_connections(deadline)
                return

    async def _block_connections(self, deadline: float) -> None:
        """Blocks all other connections to the node after the node has accepted the emulator's connection.

        The node also listens on a TCP port, where it accepts WebSocket connections from pages of any website. Without
        this method, a page that finds the port can set balances and code, and bypass the journal. The method
        lowers the limit on file descriptors, so that the node cannot accept another connection.
        """
        import resource

        # The node first checks once more for a pending connection at the Unix socket. accept(2) needs a free descriptor
        # even to report that no connection is pending. Without a free descriptor, the node repeats the call forever and
        # uses a full core.
        before: _Threads | None = None
        while (now := _idle_switches(self.pid)) is None or now != before:
            if asyncio.get_running_loop().time() > deadline:
                raise ChainUnavailable(
                    f"the chain node was not ready within {_START_S:.0f} s",
                    fix="Try again when this machine is less busy.",
                )
            before = now
            await asyncio.sleep(0.001)
        with suppress(OSError):  # the process has already exited
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (0, 0))

    async def last_output(self) -> str:
        """Returns the exit code of the shell and the node's last output."""
        assert self._process.stderr is not None  # noqa: S101 - requested above
        words = (await self._process.stderr.read(_WORDS)).decode(errors="replace").strip()
        return f"exit code {self._process.returncode}, {words or 'no message'}"

    async def stop(self) -> None:
        """Stops the node and waits until it has exited. The node's copy of the chain is lost."""
        if hasattr(self, "connection"):
            await self.connection.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await asyncio.shield(self.exited)
        except TimeoutError:
            log.warning("the shell of the chain node does not stop; killing it")
            with suppress(ProcessLookupError):
                self._process.kill()
            await self.exited
        if self.exited.result() < 0 and self.pid:  # the shell was killed before it could kill the node
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._folder.cleanup()


_Threads = dict[str, str]


def _idle_switches(pid: int) -> _Threads | None:
    """Returns the number of voluntary context switches of each thread, or None if a thread is running or ready to run.

    If two calls return the same result, no thread ran between the calls.
    """
    found = {}
    with suppress(OSError):  # a thread or the process has exited
        for thread in Path(f"/proc/{pid}/task").iterdir():
            status = (thread / "status").read_text()
            if "\nState:\tS" not in status:
                return None
            found[thread.name] = status[status.find("\nvoluntary_ctxt_switches") :]
    return found


def _arguments(genesis: Genesis, place: Path) -> list[Any]:
    return [
        "--silent",
        *("--ipc", str(place / "rpc")),
        # The node requires a TCP port. The node selects a free port, which the emulator does not publish. See
        # `_block_connections`.
        *("--host", "127.0.0.1", "--port", "0", "--no-cors"),
        *("--chain-id", str(genesis.chain_id)),
        *("--timestamp", str(genesis.timestamp)),
        *("--init", str(place / "genesis.json")),
        *("--hardfork", HARDFORK),
        *("--accounts", "0"),
        *("--prune-history", str(KEPT_STATES)),
        *("--threads", "2"),
    ]
