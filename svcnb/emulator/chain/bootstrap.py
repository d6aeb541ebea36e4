"""Start of the chain node before the rest of the emulator.

The root secret and the number of payers determine which wallets have ether in the first block. If there is no stored
state, the node can therefore start while the other modules of the emulator load.
"""

from __future__ import annotations

import asyncio
from typing import Final

from svcnb.emulator.chain.engines import Node, start_node
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.keys.custody import Custody
from svcnb.protocol.signature import address_of_secret

FUNDS: Final = 1_000_000 * 10**18
"""Initial balance of each of the service's wallets, in wei."""


def first_balances(custody: Custody, payers: int) -> dict[str, int]:
    """Returns the initial balances of the service's wallets in the first block.

    Args:
        custody: Custody that derives the keys of the owner and the payers.
        payers: Number of payer wallets.

    Returns:
        Balances in wei of the owner, the admin payer and the payers, by address. The addresses are in lowercase with
        the prefix 0x.
    """
    secrets = [custody.owner_secret(), custody.admin_payer_secret(), *map(custody.payer_secret, range(payers))]
    return {address_of_secret(secret): FUNDS for secret in secrets}


class EarlyNode:
    """Node that starts before the emulator needs it.

    The code that creates this object must always call `stop`, even after a call of `take`.

    Args:
        genesis: First block of the node.
        memory_mb: Memory limit of the node, in MiB.
    """

    def __init__(self, genesis: Genesis, *, memory_mb: int) -> None:
        self.genesis = genesis
        self._task: asyncio.Task[Node] | None = asyncio.create_task(
            start_node(genesis, memory_mb=memory_mb), name="svcnb-chain-early"
        )

    async def take(self) -> Node:
        """Waits for the start of the node, and returns the running node. The caller must then stop the node.

        Raises:
            ChainUnavailable, ChainUnusable, ToolMissing: The node did not start. See `start_node`.
            LookupError: The caller has already called `take` or `stop`.
        """
        task, self._task = self._task, None
        if task is None:
            raise LookupError("`take` or `stop` was already called for this early chain node: create a new EarlyNode")
        return await task

    async def stop(self) -> None:
        """Stops the node unless `take` returned it."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            # Ignore a failed start here, because no caller uses the node.
            (found,) = await asyncio.gather(task, return_exceptions=True)
            if not isinstance(found, BaseException):
                await found.stop()
