"""Components of one emulator. The service constructs them in order, and starts and stops them together.

There is no global state, so several emulators can run in one process. Only this module, `areas` and `main` have access
to all components. Other modules receive the components that they use.
"""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import svcnb.emulator.platform.rate_limiter  # this import declares tables that other modules use later
import svcnb.emulator.triggers.tables  # noqa: F401 - as above
from svcnb.emulator.access.guards import Access
from svcnb.emulator.access.permission_cache import PermissionCache
from svcnb.emulator.access.signatures import EnvelopeVerifier
from svcnb.emulator.accounts.contract_calls import ContractCalls
from svcnb.emulator.accounts.creation_order import CreationOrder
from svcnb.emulator.actions.sources import SourceCache
from svcnb.emulator.actions.store import RunLog
from svcnb.emulator.billing.guards import BillingGuards
from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.billing.processor import Processor
from svcnb.emulator.bootstrap import Bootstrap
from svcnb.emulator.chain.chain import Chain
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable
from svcnb.emulator.control.snapshots import Snapshots
from svcnb.emulator.errors import StartRefused, StateUnusable
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.root import bind_root
from svcnb.emulator.platform.addresses import AddressPolicy
from svcnb.emulator.platform.faults import Faults
from svcnb.emulator.platform.idle import Resumption
from svcnb.emulator.platform.offload import in_thread
from svcnb.emulator.platform.origins import ServerAddress
from svcnb.emulator.platform.quiesce import Quiesce
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.schema import get_meta, set_meta
from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.sandbox.engine import make_engine
from svcnb.emulator.sandbox.load import LoadMonitor
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.packages import Packages
from svcnb.emulator.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from svcnb.emulator.platform.database import Connection
    from svcnb.emulator.sandbox.protocol import Engine
    from svcnb.emulator.triggers.service import Triggers

_LOG = logging.getLogger(__name__)
_BOOT = "boot"


class Service:
    """The components of an emulator.

    Args:
        settings: The emulator's settings.
        engine: Engine that runs actions, or None to create an engine from the settings. The service starts and stops
            the engine.
        bootstrap: The first components, created from the same settings, or None to create the first components here.

    Raises:
        StateUnusable: The stored state cannot be used.
        RootSecretUnusable: The root secret is damaged or does not belong to the state.

    Attributes:
        control_token: Secret of the control plane: the setting, the stored token of an earlier start, or a random
            value. The token never depends on the seed.
    """

    def __init__(self, settings: Settings, engine: Engine | None = None, bootstrap: Bootstrap | None = None) -> None:
        self.settings = settings
        self.address = ServerAddress()
        self._bootstrap = Bootstrap(settings) if bootstrap is None else bootstrap
        self.clock = self._bootstrap.clock
        with ExitStack() as on_failure:
            on_failure.callback(self._bootstrap.release)
            folder = self._bootstrap.folder
            self.store = Store(settings.database or (folder.database_url if folder else None))
            on_failure.callback(self.store.close)
            self._construct(engine)
            on_failure.pop_all()
        self._triggers: Triggers | None = None
        self._app: ASGIApp | None = None
        self._runs_triggers = False

    def _construct(self, engine: Engine | None) -> None:
        """Constructs all components, each after the components that it uses."""
        root = self._bootstrap.root_secret
        is_known = self._bootstrap.is_known and self.settings.database is None
        self.store.run_now(lambda connection: bind_root(connection, root, is_known=is_known))
        if self._bootstrap.folder is not None:
            self._bootstrap.folder.complete_first_start()
        self._construct_platform(root)
        self._construct_chain_and_billing()
        self._construct_sandbox(engine)
        self._construct_control_plane()

    def _construct_platform(self, root: bytes) -> None:
        settings, store = self.settings, self.store
        self._resumption = None if settings.idle_stop_s is None else Resumption(store, settings.clock)
        resumed = None if self._resumption is None else self._resumption.boot
        self._boot = self.store.run_now(_next_boot) if resumed is None else resumed
        self.randomness = Randomness(settings.seed, boot=self._boot)
        self.quiesce, self.faults = Quiesce(), Faults()
        self.custody = Custody(root, settings.vocabulary, self.randomness)

    def _construct_chain_and_billing(self) -> None:
        settings, store, clock = self.settings, self.store, self.clock
        self.chain = Chain(settings, store, self.custody, clock)
        self.contract = ContractCalls(self.chain)
        self.permissions = PermissionCache(settings, self.chain, clock)
        self.creation_order = CreationOrder(self.chain)
        self.access = Access(self.permissions, self.faults)
        self.envelopes = EnvelopeVerifier(self.chain, clock, self.faults, settings.vocabulary)
        self.ledger = Ledger(store, clock)
        self.processor = Processor(
            store=store, clock=clock, randomness=self.randomness, custody=self.custody, settings=settings
        )
        self.billing = BillingGuards(
            access=self.access,
            permissions=self.permissions,
            ledger=self.ledger,
            faults=self.faults,
            envelopes=self.envelopes,
            enabled=settings.billing_enabled,
        )

    def _construct_sandbox(self, engine: Engine | None) -> None:
        settings = self.settings
        self.action_addresses = AddressPolicy(settings.allow_address)
        self.network = Network(settings.network_policy, settings.network_file, addresses=self.action_addresses)
        self.packages = None if settings.action_packages is None else Packages(settings.action_packages)
        self.load = LoadMonitor(multiplier=settings.cpu_overload_multiplier, psi_threshold=settings.cpu_psi_threshold)
        self.sources = SourceCache()
        self.runs = RunLog(self.store)
        self.engine = make_engine(settings) if engine is None else engine

    def _construct_control_plane(self) -> None:
        settings = self.settings
        self.snapshots = Snapshots(
            store=self.store,
            chain=self.chain,
            clock=self.clock,
            randomness=self.randomness,
            quiesce=self.quiesce,
            runs=self.runs,
            on_exchange=self._on_exchange,
        )
        self.control_token = settings.control_token or secrets.token_urlsafe(32)
        if self._resumption is not None:
            self.control_token = settings.control_token or self._resumption.control_token
            self._resumption.resume(self.clock, self.randomness)

    # --- start and stop -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Starts the engine, the chain and the triggers.

        Raises:
            ToolMissing: An external tool is not installed.
            StateUnusable: The chain cannot be rebuilt from the stored state.
            StoreUnavailable: The database cannot be read or written, for example because the disk is full.
            StartRefused: The chain does not start or does not respond.
        """
        try:
            # The first run needs only one warm process. More processes delay the start of the chain.
            await self.engine.prepare()
            await self.chain.start(self._bootstrap.node)
            await self.engine.start()
            await self._start_triggers()
        except BaseException as error:
            await self.stop()
            if isinstance(error, ChainUnusable):
                raise StateUnusable(str(error)) from error
            if isinstance(error, ChainUnavailable):
                raise StartRefused(
                    f"the chain cannot be started or reached: {error.detail or error}",
                    f"{error.fix} If you set --chain-rpc, check the URL. To check the emulator's own chain, run: svcnb "
                    "doctor",
                ) from error
            raise

    async def stop(self) -> None:
        """Stops all child processes and closes the database. Repeated calls have no effect."""
        for name, stop in (
            ("triggers", self._stop_triggers),
            ("engine", self.engine.stop),
            ("network", self.network.close),
            ("runs", self.runs.flush),
            ("chain", self.chain.stop),
            ("early node", self._stop_early_node),
        ):
            try:
                await stop()
            except Exception:  # noqa: BLE001 - stop each component even if another one fails
                _LOG.exception("could not stop the %s cleanly", name)
        self.keep_streams()
        self.store.close()
        self._bootstrap.release()

    async def _stop_early_node(self) -> None:
        if self._bootstrap.node is not None:
            await self._bootstrap.node.stop()

    def keep_streams(self) -> None:
        """Stores the state of the random number generators, if the next start will load this state."""
        if self._resumption is not None:
            # After the first stop, the store is closed, and the database already contains the streams.
            with suppress(StoreUnavailable):
                self._resumption.keep(self.randomness, self._boot)

    async def _on_exchange(self) -> None:
        self.sources.clear()
        self.permissions.clear()
        await (await self.get_triggers()).reload()

    # --- triggers, which the service loads at their first use -----------------------------------------------------

    async def get_triggers(self) -> Triggers:
        """Returns the triggers service. The first call creates it, and loads its modules in a thread."""
        if self._triggers is None:
            make = await in_thread(_load_triggers)
            if self._triggers is None:  # another call may have created it in the meantime
                self._triggers = self._make_triggers(make)
        return self._triggers

    def _make_triggers(self, make: type[Triggers]) -> Triggers:
        triggers = make(
            settings=self.settings,
            clock=self.clock,
            store=self.store,
            randomness=self.randomness,
            custody=self.custody,
            rpc=self.chain.rpc,
            control_token=self.control_token,
        )
        if self._app is not None:
            triggers.attach(self._app)
        if self._runs_triggers:
            triggers.start()
        return triggers

    def attach(self, app: ASGIApp) -> None:
        """Sets the application that executes the runs of triggers. Call this method on the event loop."""
        self._app = app
        if self._triggers is not None:
            self._triggers.attach(app)

    async def _start_triggers(self) -> None:
        self._runs_triggers = True
        if self._triggers is not None:
            self._triggers.start()
        elif self.settings.keeps_state:
            await self.get_triggers()  # continue unfinished runs of an earlier start

    async def _stop_triggers(self) -> None:
        self._runs_triggers = False
        if self._triggers is not None:
            await self._triggers.stop()

    # --- address -----------------------------------------------------------------------------------------------------

    def listens_at(self, url: str) -> None:
        """Sets the base URL of this server, which is known after the server has started to listen.

        Args:
            url: URL with scheme, host and port, without a path.
        """
        self.address.url = url
        self.action_addresses.own_port = urlsplit(url).port or 0

    def addresses(self) -> dict[str, object]:
        """Returns the server's URLs, the contract's address, the chain id, the process id, and the configured names."""
        url, vocabulary = self.address.url, self.settings.vocabulary
        return {
            "base_url": url,
            "triggers_url": url,
            "rpc_url": f"{url}/rpc",
            "control_url": f"{url}/_emulator",
            "contract_address": self.chain.contract_address,
            "chain_id": self.chain.chain_id,
            "pid": os.getpid(),
            "service_name": vocabulary.service,
            "processor_name": vocabulary.processor,
        }


def _load_triggers() -> type[Triggers]:
    from svcnb.emulator.triggers.service import Triggers
    from svcnb.protocol import aes_gcm
    from svcnb.protocol.cron import Cron

    aes_gcm.load()
    Cron("* * * * *")
    return Triggers


def _next_boot(connection: Connection) -> int:
    """Counts this start of the emulator, and returns the number of earlier starts with the same state.

    Because of the count, a seeded restart never repeats random bytes.
    """
    boot = int(get_meta(connection, _BOOT) or 0)
    set_meta(connection, _BOOT, str(boot + 1))
    return boot
