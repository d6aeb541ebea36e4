"""First phase of the start. This phase creates all components that need no database.

This phase runs before the import of the other modules, so that the chain node starts while those modules load.
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


class Bootstrap:
    """First components of a service. The service stops them later. Call `stop` only if no service was created.

    Args:
        settings: The emulator's settings.

    Raises:
        StateUnusable: The state folder cannot be used, for example because another emulator uses it.
        RootSecretUnusable: The root secret is damaged or belongs to a different seed.

    Attributes:
        clock: The service's clock.
        folder: Locked state folder of the service, or None if the service stores no state.
        is_known: Whether an earlier start used the state folder. If so, the folder's database must not be empty.
        root_secret: The secret from which the service derives all keys.
        node: The chain node that is starting, or None if `boot_node` did not create one.
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
        """Starts the node of the emulator's own chain, with an empty chain.

        Does nothing for an external chain. Does nothing with a state folder or a database either, because the database
        can contain the chain's first block.
        """
        settings = self._settings
        if settings.keeps_state or settings.chain_rpc is not None:
            return
        custody = Custody(self.root_secret, settings.vocabulary, Randomness())  # this step needs no random bytes
        balances = first_balances(custody, settings.api_payers)
        genesis = Genesis(settings.chain_id, self.clock.now_s(), balances, engine_of(settings.chain_engine))
        self.node = EarlyNode(genesis, memory_mb=settings.chain_memory_mb)

    def release(self) -> None:
        """Releases the state folder. Repeated calls have no effect."""
        if self.folder is not None:
            self.folder.release()

    async def stop(self) -> None:
        """Stops the node, if any, and releases the state folder. Repeated calls have no effect."""
        if self.node is not None:
            await self.node.stop()
        self.release()
