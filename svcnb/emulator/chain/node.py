"""The chain node: anvil as a child process that never outlives the emulator.

A shell of a few lines stands between: it holds the node's memory ceiling, and when its standard input ends, because
the emulator stopped or was killed, it kills the node and removes its folder. That works on every Unix, needs no code
between fork and exec, and costs a millisecond. Should the shell itself be killed, the kernel ends the node where it can
be told to (Linux), and `Node.stop` does elsewhere.
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
"""Blocks back to which a call can ask for old state. The node keeps each of them whole, so they cost this many times
the state: 128, as public nodes keep, filled a node of 2 GiB with five hundred groups of long descriptions."""
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
        connection: How to ask it.
        pid: Its process id.
        exited: Done when it has ended.
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
            memory_mb: Memory ceiling in MiB; above it the node dies.

        Raises:
            PartMissing: The binary is not here.
            ChainUnusable: This system cannot run it.
            ChainUnavailable: It does not start; the text holds its last words.
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
                start_new_session=True,  # an interrupt from the keyboard is the emulator's to handle
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
        assert self._process.stdout is not None  # noqa: S101 - asked for above
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
                await self.connection.request("net_version")  # an answer: it has taken us in, not only the system
                if sys.platform == "linux" and self.pid:
                    await self._shut(deadline)
                return

    async def _shut(self, deadline: float) -> None:
        """Keeps everybody else out of the node, once we are in.

        It listens on a port besides, and takes web sockets there from any page of any site: a page that found the port
        could set balances and code past the journal. Without descriptors left it can accept nobody.
        """
        import resource

        # It asks once more whether anybody waits at the socket by which we came. accept(2) needs a free descriptor even
        # to say no; in want of one the node would ask for ever, on a core that it never leaves again.
        before: _Threads | None = None
        while (now := _resting(self.pid)) is None or now != before:
            if asyncio.get_running_loop().time() > deadline:
                raise ChainUnavailable(f"the node did not come to rest within {_START_S:.0f} s of its start")
            before = now
            await asyncio.sleep(0.001)
        with suppress(OSError):  # it has ended meanwhile
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (0, 0))

    async def last_words(self) -> str:
        """What the node wrote before it ended, and how it ended."""
        assert self._process.stderr is not None  # noqa: S101 - asked for above
        words = (await self._process.stderr.read(_WORDS)).decode(errors="replace").strip()
        return f"exit code {self._process.returncode}, {words or 'no message'}"

    async def stop(self) -> None:
        """Ends the node and waits until it is gone. Nothing it knows is kept."""
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
        if self.exited.result() < 0 and self.pid:  # the shell was killed, and could not end the node
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._folder.cleanup()


_Threads = dict[str, str]


def _resting(pid: int) -> _Threads | None:
    """How often each thread of a process gave up its core; None if one of them runs or wants to.

    The same answer twice says that none of them ran in between.
    """
    found = {}
    with suppress(OSError):  # one has ended, or all
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
        # The node insists on a port as well: any free one, told to nobody, and see `_shut`.
        *("--host", "127.0.0.1", "--port", "0", "--no-cors"),
        *("--chain-id", str(genesis.chain_id)),
        *("--timestamp", str(genesis.timestamp)),
        *("--init", str(place / "genesis.json")),
        *("--hardfork", HARDFORK),
        *("--accounts", "0"),
        *("--prune-history", str(KEPT_STATES)),
        *("--threads", "2"),
    ]
