"""What an emulator begins with: all that needs no database.

The database library is the largest single part of a start. What stands here is ready before it is loaded, and the
chain's node boots meanwhile.
"""

from __future__ import annotations

from svcnb.emulator.chain.bootstrap import EarlyNode, first_balances
from svcnb.emulator.chain.engines import engine_of
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.root import FILE_NAME, load_root_secret
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.state_folder import StateFolder
from svcnb.emulator.settings import Settings


class Beginning:
    """The first parts of a service, which takes them over; only `stop` is for whoever made them.

    Args:
        settings: How the service behaves.

    Raises:
        StateUnusable: The state folder cannot be used, or another emulator does.
        RootSecretUnusable: The root secret is damaged or belongs to another seed.

    Attributes:
        clock: The service's time.
        folder: Its state folder, locked; None when it keeps nothing.
        is_known: Whether the state folder was used before, so that its database cannot be empty.
        root_secret: What all its keys come from.
        node: The chain's node under way; None unless `boot_node` made it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.clock = Clock(settings.frozen_at)
        self.node: EarlyNode | None = None
        self.folder = None if settings.state is None else StateFolder(settings.state)
        try:
            self.is_known = self.folder is not None and self.folder.begin(FILE_NAME)
            self.root_secret = load_root_secret(settings.state, settings.seed)
        except BaseException:
            self.release()
            raise

    def boot_node(self) -> None:
        """Lets the chain's node boot, where its first block can be known: a kept one stands in the database."""
        settings = self._settings
        if settings.keeps_state or settings.chain_rpc is not None:
            return
        custody = Custody(self.root_secret, settings.vocabulary, Randomness())  # derives keys, and draws nothing
        balances = first_balances(custody, settings.api_payers)
        genesis = Genesis(settings.chain_id, self.clock.now_s(), balances, engine_of(settings.chain_engine))
        self.node = EarlyNode(genesis, memory_mb=settings.chain_memory_mb)

    def release(self) -> None:
        """Lets go of the state folder. May be called twice."""
        if self.folder is not None:
            self.folder.release()

    async def stop(self) -> None:
        """Ends a node that nobody took, and lets go of the state folder. May be called twice."""
        if self.node is not None:
            await self.node.stop()
        self.release()
