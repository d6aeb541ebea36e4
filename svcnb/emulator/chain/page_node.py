"""Node with @ethereumjs/vm in a browser page, beside the interpreter."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.chain.connection import ConnectionLost, result_of
from svcnb.protocol.in_page import load_script

if TYPE_CHECKING:
    from svcnb.emulator.chain.genesis import Genesis

BUNDLE: Final = Path(__file__).with_name("static") / "chain.js"


class PageConnection:
    """Connection to a node that is a JavaScript object. See `svcnb.emulator.chain.connection.Connection`."""

    def __init__(self, node: Any) -> None:
        self._node = node

    async def request(self, method: str, *params: Any) -> Any:
        """As in `Connection`."""
        if self._node is None:
            raise ConnectionLost("the node was stopped")
        return result_of(json.loads(await self._node.request(method, json.dumps(params))))

    async def close(self) -> None:
        """As in `Connection`."""
        self._node = None


class PageNode:
    """Node that is a JavaScript object.

    Attributes:
        connection: The connection to it.
        pid: 0, because it has no process.
        exited: Done when the node was stopped.
    """

    pid = 0

    def __init__(self, node: Any) -> None:
        self.connection = PageConnection(node)
        self._stopped = asyncio.Event()
        self.exited: asyncio.Task[int] = asyncio.create_task(self._wait(), name="svcnb-chain-exit")

    @classmethod
    async def start(cls, genesis: Genesis) -> PageNode:
        """Starts the node at its first block."""
        return cls(await load_script(BUNDLE).DevelopmentNode.create(genesis.as_request()))

    async def stop(self) -> None:
        """As in `svcnb.emulator.chain.engines.Node`."""
        await self.connection.close()
        self._stopped.set()
        await self.exited

    async def _wait(self) -> int:
        await self._stopped.wait()
        return 0
