"""Node with anvil as a child process that never outlives the emulator.

A short shell script runs between them. It holds the node's memory ceiling. When its standard input closes, because the
emulator stopped or was killed, it kills the node and removes its folder. That works on every Unix, needs no code
between fork and exec, and costs a millisecond. If the shell itself is killed, the kernel ends the node where that is
supported (Linux), and `Node.stop` does elsewhere.
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
"""How many blocks back a call can read old state. The node keeps a whole copy of each, so they multiply the memory
for the state. With 128, as in public nodes, five hundred groups with long descriptions filled a node of 2 GiB."""
_START_S: Final = 120.0
_STOP_S: Final = 5.0
_WORDS: Final = 4_000

_KEEPER: Final = f"""
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
    """One running anvil.

    Attributes:
        connection: The connection to it.
        pid: Its process id.
        exited: Done when the process has ended.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._process = process
        self._folder = folder
        self.pid = 0
        self.connection: StreamConnection
        self.exited: asyncio.Task[int] = asyncio.create_task(process.wait(), name="svcnb-chain-exit")

    @classmethod
    async def start(cls, genesis: Genesis, *, memory_mb: int) -> AnvilNode:
        """Starts a node at its first block.

        Args:
            genesis: The first block.
            memory_mb: Memory ceiling in MiB. A node that exceeds it ends.

        Raises:
            PartMissing: The binary is not installed.
            ChainUnusable: This system cannot run it.
            ChainUnavailable: It does not start. The text contains its last output.
        """
        if sys.platform == "win32":
            raise ChainUnusable(
                "anvil runs on Linux and macOS: choose --chain-engine ethereumjs, or another chain with --chain-rpc"
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
                _KEEPER,
                "svcnb-chain",
                str(memory_mb * 1024),
                folder.name,
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={},
                start_new_session=True,  # the emulator handles an interrupt from the keyboard
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
                    raise ChainUnavailable(f"the node stopped at once: {await self.last_words()}") from error
                if asyncio.get_running_loop().time() > deadline:
                    raise ChainUnavailable(f"the node did not start within {_START_S:.0f} s") from error
                await asyncio.sleep(0.002)
            else:
                await self.connection.request("net_version")  # the node itself answers, not only the kernel
                if sys.platform == "linux" and self.pid:
                    await self._shut(deadline)
                return

    async def _shut(self, deadline: float) -> None:
        """Blocks all other connections to the node, once ours is accepted.

        The node also listens on a port, and accepts web sockets there from any page of any site. A page that found the
        port could set balances and code and bypass the journal. Without free file descriptors the node cannot accept a
        connection.
        """
        import resource

        # The node checks once more whether a connection waits at our socket. accept(2) needs a free descriptor even to
        # report that none waits. Without one the node would repeat the call for ever, and keep one core busy.
        before: _Threads | None = None
        while (now := _resting(self.pid)) is None or now != before:
            if asyncio.get_running_loop().time() > deadline:
                raise ChainUnavailable(f"the node did not come to rest within {_START_S:.0f} s of its start")
            before = now
            await asyncio.sleep(0.001)
        with suppress(OSError):  # the process has ended in the meantime
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (0, 0))

    async def last_words(self) -> str:
        """The node's last output before it ended, and its exit status."""
        assert self._process.stderr is not None  # noqa: S101 - requested above
        words = (await self._process.stderr.read(_WORDS)).decode(errors="replace").strip()
        return f"exit code {self._process.returncode}, {words or 'no message'}"

    async def stop(self) -> None:
        """Stops the node and waits until it has ended. Its state is not kept."""
        if hasattr(self, "connection"):
            await self.connection.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await asyncio.shield(self.exited)
        except TimeoutError:
            log.warning("the shell that keeps the chain node does not end; killing it")
            with suppress(ProcessLookupError):
                self._process.kill()
            await self.exited
        if self.exited.result() < 0 and self.pid:  # the shell was killed before it could end the node
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._folder.cleanup()


_Threads = dict[str, str]


def _resting(pid: int) -> _Threads | None:
    """Voluntary context switches of each thread of a process. None if one of them runs or is ready to run.

    The same result twice means that none of them ran in between.
    """
    found = {}
    with suppress(OSError):  # a thread or the process has ended
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
        # The node also requires a port. It gets any free one, which is not published; see `_shut`.
        *("--host", "127.0.0.1", "--port", "0", "--no-cors"),
        *("--chain-id", str(genesis.chain_id)),
        *("--timestamp", str(genesis.timestamp)),
        *("--init", str(place / "genesis.json")),
        *("--hardfork", HARDFORK),
        *("--accounts", "0"),
        *("--prune-history", str(KEPT_STATES)),
        *("--threads", "2"),
    ]
