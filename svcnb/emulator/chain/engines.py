"""Engines of the emulator's own chain: anvil in a process, or @ethereumjs/vm in a Deno process or in a browser page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from svcnb.emulator.chain.genesis import ANVIL, ETHEREUMJS, Genesis
from svcnb.protocol.in_page import IN_PAGE

if TYPE_CHECKING:
    import asyncio

    from svcnb.emulator.chain.connection import Connection

Engine = Literal["anvil", "ethereumjs"]


class Node(Protocol):
    """Running node of the emulator's own chain, with any engine.

    Attributes:
        pid: Process id, or 0 if the node has no separate process.
        exited: Task that completes when the node has stopped. The result is an exit code.
    """

    pid: int
    exited: asyncio.Task[int]

    @property
    def connection(self) -> Connection:
        """JSON-RPC connection to the node."""
        ...

    async def stop(self) -> None:
        """Stops the node and waits until it has stopped. The node's copy of the chain is lost."""


def engine_of(setting: Engine) -> Engine:
    """Returns the engine that a setting selects. In a browser page, the result is always `ETHEREUMJS`."""
    return ETHEREUMJS if IN_PAGE else setting


async def start_node(genesis: Genesis, *, memory_mb: int) -> Node:
    """Starts a node with only its first block, and returns the running node.

    Args:
        genesis: First block and engine of the chain.
        memory_mb: Memory limit in MiB. A node that exceeds the limit exits. In a browser page, the page's own limit
            applies instead.

    Raises:
        ToolMissing: A binary or a JavaScript bundle is not installed.
        ChainUnusable: This system cannot run the engine.
        ChainUnavailable: The node did not start. The message contains the node's last output.
    """
    if genesis.engine == ANVIL:
        from svcnb.emulator.chain.node import AnvilNode

        return await AnvilNode.start(genesis, memory_mb=memory_mb)
    if IN_PAGE:
        from svcnb.emulator.chain.page_node import PageNode

        return await PageNode.start(genesis)
    from svcnb.emulator.chain.deno_node import DenoNode

    return await DenoNode.start(genesis, memory_mb=memory_mb)
