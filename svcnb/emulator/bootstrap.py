"""First phase of a start: all parts that need no database.

The database library is the largest single part of a start. The parts in this module are ready before it is loaded, and
the chain's node boots at the same time.
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
    """First parts of a service. The service takes them over; `stop` is only for a caller that creates no service.

    Args:
        settings: The emulator's settings.

    Raises:
        StateUnusable: The state folder cannot be used, or another emulator uses it.
        RootSecretUnusable: The root secret is damaged or belongs to another seed.

    Attributes:
        clock: The service's clock.
        folder: Its state folder, locked; None when it keeps no state.
        is_known: Whether the state folder was used before, so that its database cannot be empty.
        root_secret: The secret from which all its keys are derived.
        node: The chain's booting node; None unless `boot_node` created it.
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
        """Boots the chain's node if its first block can be computed. That of a kept chain is in the database."""
        settings = self._settings
        if settings.keeps_state or settings.chain_rpc is not None:
            return
        custody = Custody(self.root_secret, settings.vocabulary, Randomness())  # only derives keys, so draws nothing
        balances = first_balances(custody, settings.api_payers)
        genesis = Genesis(settings.chain_id, self.clock.now_s(), balances, engine_of(settings.chain_engine))
        self.node = EarlyNode(genesis, memory_mb=settings.chain_memory_mb)

    def release(self) -> None:
        """Releases the state folder. May be called twice."""
        if self.folder is not None:
            self.folder.release()

    async def stop(self) -> None:
        """Ends a node that was not taken, and releases the state folder. May be called twice."""
        if self.node is not None:
            await self.node.stop()
        self.release()
