"""Early start of the chain's node.

The root secret alone determines which wallets have ether in the first block. So without kept state, the node can boot
while the database library is still loading, which takes longer.
"""

from __future__ import annotations

import asyncio
from typing import Final

from svcnb.emulator.chain.engines import Node, start_node
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.secp import address_of

FUNDS: Final = 1_000_000 * 10**18
"""Initial balance of each wallet of the service, in wei."""


def first_balances(custody: Custody, payers: int) -> dict[str, int]:
    """The balances of the service's wallets in the first block.

    Args:
        custody: Keys of owner and payers.
        payers: The number of payers.

    Returns:
        Wei by address, lowercase 0x: the owner, the admin payer, the payers.
    """
    secrets = [custody.owner_secret(), custody.admin_payer_secret(), *map(custody.payer_secret, range(payers))]
    return {address_of(secret): FUNDS for secret in secrets}


class EarlyNode:
    """A node that boots before it is needed. Its creator must call `stop`, whether the node was taken or not.

    Args:
        genesis: Its first block.
        memory_mb: Its memory ceiling, in MiB.
    """

    def __init__(self, genesis: Genesis, *, memory_mb: int) -> None:
        self.genesis = genesis
        self._task: asyncio.Task[Node] | None = asyncio.create_task(
            start_node(genesis, memory_mb=memory_mb), name="svcnb-chain-early"
        )

    async def take(self) -> Node:
        """Returns the running node. The caller then owns it.

        Raises:
            ChainUnavailable: It did not start.
            LookupError: It was taken or stopped before.
        """
        task, self._task = self._task, None
        if task is None:
            raise LookupError("the early node was taken or stopped before")
        return await task

    async def stop(self) -> None:
        """Stops the node unless it was taken."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            # A failed start does not matter here: the node was not taken.
            (found,) = await asyncio.gather(task, return_exceptions=True)
            if not isinstance(found, BaseException):
                await found.stop()
