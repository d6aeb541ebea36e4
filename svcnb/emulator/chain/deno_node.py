"""Node that runs @ethereumjs/vm in a Deno process, for systems without an anvil binary.

This node is slower than anvil, and its dumps do not contain old states. The process exits when its standard input
closes, so it never outlives the emulator.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svcnb import tools
from svcnb.bundles import bundle_exists, read_bundle
from svcnb.emulator.chain.connection import PIECE_BYTES, StreamConnection
from svcnb.emulator.chain.errors import ChainUnavailable

if TYPE_CHECKING:
    from svcnb.emulator.chain.genesis import Genesis

_STATIC: Final = Path(__file__).with_name("static")
CHAIN: Final = _STATIC / "chain.js"
"""Script that implements the node. A browser page runs the same script."""
_PROCESS: Final = _STATIC / "chain_process.js"
_FLAGS: Final = ("run", *tools.OFFLINE_FLAGS, "--no-code-cache")
_START_S: Final = 60.0
_STOP_S: Final = 5.0
_WORDS: Final = 4_000


class DenoNode:
    """Deno process that runs the chain node.

    Attributes:
        connection: Connection to the node.
        pid: Id of the Deno process.
        exited: Task that completes when the process has exited. The result is the exit code.
    """

    def __init__(self, process: asyncio.subprocess.Process, connection: StreamConnection) -> None:
        self._process = process
        self.connection = connection
        self.pid = process.pid
        self.exited: asyncio.Task[int] = asyncio.create_task(process.wait(), name="svcnb-chain-exit")

    @classmethod
    async def start(cls, genesis: Genesis, *, memory_mb: int) -> DenoNode:
        """Starts the process. For arguments and errors, see `svcnb.emulator.chain.engines.start_node`."""
        if not bundle_exists(CHAIN):
            raise tools.ToolMissing(
                "the chain on @ethereumjs/vm",
                f"the file {CHAIN} does not exist",
                "In a working copy, run: python hatch_build.py. Otherwise, reinstall svcnb.",
            )
        with tempfile.TemporaryDirectory(prefix="svcnb-chain-") as folder:
            script = Path(folder) / _PROCESS.name
            script.write_bytes(b"const chain = %b;\n%b" % (read_bundle(CHAIN), read_bundle(_PROCESS)))
            # When the node responds, it has already read its script.
            return await cls._started(script, genesis, memory_mb)

    @classmethod
    async def _started(cls, script: Path, genesis: Genesis, memory_mb: int) -> DenoNode:
        process = await asyncio.create_subprocess_exec(
            str(tools.deno()),
            *_FLAGS,
            f"--v8-flags=--max-old-space-size={memory_mb}",
            str(script),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=PIECE_BYTES,
            env={"DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"},
            start_new_session=True,  # the emulator handles keyboard interrupts
        )
        assert process.stdin is not None  # noqa: S101 - requested above
        assert process.stdout is not None  # noqa: S101 - as above
        assert process.stderr is not None  # noqa: S101 - as above
        try:
            process.stdin.write(genesis.as_request().encode() + b"\n")
            async with asyncio.timeout(_START_S):
                await process.stdin.drain()
                await _wait_until_ready(process.stdout, process.stderr)
        except BaseException as error:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            if isinstance(error, TimeoutError):
                raise ChainUnavailable(
                    f"the chain node did not start within {_START_S:.0f} s",
                    fix="Try again when this machine is less busy.",
                ) from error
            if isinstance(error, OSError):
                raise ChainUnavailable(f"the chain node stopped immediately: {error}") from error
            raise
        return cls(process, StreamConnection(process.stdout, process.stdin))

    async def stop(self) -> None:
        """Stops the node. If the process does not exit within 5 seconds, the method kills the process."""
        await self.connection.close()  # this also closes the standard input of the process
        try:
            async with asyncio.timeout(_STOP_S):
                await asyncio.shield(self.exited)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self.exited


async def _wait_until_ready(output: asyncio.StreamReader, errors: asyncio.StreamReader) -> None:
    if await output.readline() != b"{}\n":
        words = (await errors.read(_WORDS)).decode(errors="replace").strip()
        raise ChainUnavailable(f"the chain node stopped immediately: {words or 'no message'}")
