"""Engines of the built-in chain: anvil in a process, or @ethereumjs/vm in a Deno process or in a browser page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from svcnb.emulator.chain.genesis import ANVIL, ETHEREUMJS, Genesis
from svcnb.protocol.in_page import IN_PAGE

if TYPE_CHECKING:
    import asyncio

    from svcnb.emulator.chain.connection import Connection

Engine = Literal["anvil", "ethereumjs"]


class Node(Protocol):
    """A running node of the built-in chain, with any engine.

    Attributes:
        pid: Its process id, 0 if it has no process of its own.
        exited: Done when the node has ended.
    """

    pid: int
    exited: asyncio.Task[int]

    @property
    def connection(self) -> Connection:
        """The connection to it."""

    async def stop(self) -> None:
        """Stops the node and waits until it has ended. Its state is not kept."""


def engine_of(setting: Engine) -> Engine:
    """The engine that a setting selects. In a page there is only one."""
    return ETHEREUMJS if IN_PAGE else setting


async def start_node(genesis: Genesis, *, memory_mb: int) -> Node:
    """Starts a node at its first block.

    Args:
        genesis: The first block, and the engine.
        memory_mb: Memory ceiling in MiB. A node that exceeds it ends. A page has its own ceiling.

    Raises:
        PartMissing: A binary or a bundle is not installed.
        ChainUnusable: This system cannot run it.
        ChainUnavailable: It does not start. The text contains its last output.
    """
    if genesis.engine == ANVIL:
        from svcnb.emulator.chain.node import AnvilNode

        return await AnvilNode.start(genesis, memory_mb=memory_mb)
    if IN_PAGE:
        from svcnb.emulator.chain.page_node import PageNode

        return await PageNode.start(genesis)
    from svcnb.emulator.chain.deno_node import DenoNode

    return await DenoNode.start(genesis, memory_mb=memory_mb)
