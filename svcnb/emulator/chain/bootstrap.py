"""A head start for the chain's node.

Whose wallets have ether in the first block follows from the root secret alone. So where no state is kept, the node can
boot while the database library is still being loaded, which takes longer.
"""

from __future__ import annotations

import asyncio
from typing import Final

from svcnb.emulator.chain.engines import Node, start_node
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.secp import address_of

FUNDS: Final = 1_000_000 * 10**18
"""Wei that each wallet of the service begins with."""


def first_balances(custody: Custody, payers: int) -> dict[str, int]:
    """What the service's wallets have in the first block.

    Args:
        custody: Keys of owner and payers.
        payers: How many of these.

    Returns:
        Wei by address, lowercase 0x: the owner, the admin payer, the payers.
    """
    secrets = [custody.owner_secret(), custody.admin_payer_secret(), *map(custody.payer_secret, range(payers))]
    return {address_of(secret): FUNDS for secret in secrets}


class EarlyNode:
    """A node that boots while nobody needs it yet. Whoever made it calls `stop`, whether it was taken or not.

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
        """The running node, which is the caller's from now on.

        Raises:
            ChainUnavailable: It did not start.
            LookupError: It was taken or stopped before.
        """
        task, self._task = self._task, None
        if task is None:
            raise LookupError("the early node was taken or stopped before")
        return await task

    async def stop(self) -> None:
        """Ends it unless it was taken."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            # That it could not start is no news: nobody took it.
            (found,) = await asyncio.gather(task, return_exceptions=True)
            if not isinstance(found, BaseException):
                await found.stop()
