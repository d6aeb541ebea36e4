"""What runs the built-in chain: anvil in a process, or @ethereumjs/vm in a Deno process or in the page of a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from svcnb.emulator.chain.genesis import ANVIL, ETHEREUMJS, Genesis
from svcnb.protocol.in_page import IN_PAGE

if TYPE_CHECKING:
    import asyncio

    from svcnb.emulator.chain.connection import Connection

Engine = Literal["anvil", "ethereumjs"]


class Node(Protocol):
    """A running node of the built-in chain, whatever runs it.

    Attributes:
        pid: Its process id, 0 where it has no process of its own.
        exited: Done when it has ended.
    """

    pid: int
    exited: asyncio.Task[int]

    @property
    def connection(self) -> Connection:
        """How to ask it."""

    async def stop(self) -> None:
        """Ends it and waits until it is gone. Nothing it holds is kept."""


def engine_of(setting: Engine) -> Engine:
    """The engine that is used for a setting: in a page there is only one."""
    return ETHEREUMJS if IN_PAGE else setting


async def start_node(genesis: Genesis, *, memory_mb: int) -> Node:
    """Starts a node at its first block.

    Args:
        genesis: The first block, and the engine.
        memory_mb: Memory ceiling in MiB; above it the node dies. A page has its own.

    Raises:
        PartMissing: A binary or a bundle is not here.
        ChainUnusable: This system cannot run it.
        ChainUnavailable: It does not start; the text holds what it wrote last.
    """
    if genesis.engine == ANVIL:
        from svcnb.emulator.chain.node import AnvilNode

        return await AnvilNode.start(genesis, memory_mb=memory_mb)
    if IN_PAGE:
        from svcnb.emulator.chain.page_node import PageNode

        return await PageNode.start(genesis)
    from svcnb.emulator.chain.deno_node import DenoNode

    return await DenoNode.start(genesis, memory_mb=memory_mb)
