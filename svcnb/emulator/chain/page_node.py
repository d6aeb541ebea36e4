"""Node that runs @ethereumjs/vm in a browser page, in the web worker of the Python interpreter."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.chain.connection import LARGEST_ANSWER, ConnectionLost
from svcnb.protocol import json_rpc
from svcnb.protocol.in_page import load_script

if TYPE_CHECKING:
    from svcnb.emulator.chain.genesis import Genesis

BUNDLE: Final = Path(__file__).with_name("static") / "chain.js"


class PageConnection:
    """Connection to a node that is a JavaScript object. See `svcnb.emulator.chain.connection.Connection`."""

    def __init__(self, node: Any) -> None:
        self._node = node

    async def request(self, method: str, *params: Any, limit: int = LARGEST_ANSWER) -> Any:
        """Sends a request and returns the result. See `Connection`."""
        if self._node is None:
            raise ConnectionLost("the chain node was stopped")
        answer = await self._node.request(method, json.dumps(params))
        if len(answer) > limit:
            raise json_rpc.too_large(limit)
        return json_rpc.result(json.loads(answer))

    async def close(self) -> None:
        """Releases the JavaScript object. Later requests raise `ConnectionLost`."""
        self._node = None


class PageNode:
    """Node that is a JavaScript object.

    Attributes:
        connection: Connection to the node.
        pid: Always 0, because the node has no process.
        exited: Task that completes when the node stops.
    """

    pid = 0

    def __init__(self, node: Any) -> None:
        self.connection = PageConnection(node)
        self._stopped = asyncio.Event()
        self.exited: asyncio.Task[int] = asyncio.create_task(self._wait(), name="svcnb-chain-exit")

    @classmethod
    async def start(cls, genesis: Genesis) -> PageNode:
        """Starts a node with only its first block, and returns the running node."""
        return cls(await load_script(BUNDLE).DevelopmentNode.create(genesis.as_request()))

    async def stop(self) -> None:
        """Releases the JavaScript object, and waits until the node has exited."""
        await self.connection.close()
        self._stopped.set()
        await self.exited

    async def _wait(self) -> int:
        await self._stopped.wait()
        return 0
