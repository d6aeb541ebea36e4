"""One emulator: all its parts, started together and stopped together.

Nothing here is global, so two of them may live in one process.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request

import svcnb.emulator.triggers.tables  # noqa: F401 - a database is made before anything of triggers is needed
from svcnb.emulator.access.permission_cache import Directory
from svcnb.emulator.access.rate import Buckets
from svcnb.emulator.accounts.creation_order import CreationOrder
from svcnb.emulator.actions.sources import SourceCache
from svcnb.emulator.actions.store import RunLog
from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.billing.processor import Processor
from svcnb.emulator.bootstrap import Beginning
from svcnb.emulator.chain.chain import Chain
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable, Unsupported
from svcnb.emulator.control.faults import Faults
from svcnb.emulator.control.snapshots import Snapshots
from svcnb.emulator.errors import StartRefused, StateUnusable
from svcnb.emulator.http.forgiven import Forgiven
from svcnb.emulator.http.openapi import describe
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.root import bind_root
from svcnb.emulator.platform.addresses import AddressPolicy
from svcnb.emulator.platform.idle import Resumption
from svcnb.emulator.platform.quiesce import Traffic
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.schema import get_meta, set_meta
from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.sandbox.engine import make_engine
from svcnb.emulator.sandbox.load import LoadGauge
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.packages import Packages
from svcnb.emulator.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from svcnb.emulator.chain.bootstrap import EarlyNode
    from svcnb.emulator.http.endpoint import Endpoint
    from svcnb.emulator.platform.database import Connection
    from svcnb.emulator.sandbox.protocol import Engine
    from svcnb.emulator.triggers.service import Triggers

_LOG = logging.getLogger(__name__)
_BOOT = "boot"


class Service:
    """The emulator's parts, by name.

    Args:
        settings: How it behaves.
        engine: Runs actions; one made from the settings when None. The service starts and stops it.
        beginning: Its first parts, made from the same settings; made here when None.

    Raises:
        StateUnusable: The kept state cannot be used.
        RootSecretUnusable: The root secret is damaged or does not belong to the state.

    Attributes:
        settings: How it behaves.
        vocabulary: Its names.
        clock: Its time.
        store: Its database.
        randomness: Where its random bytes come from.
        custody: Its keys.
        chain: Its chain, after `start`.
        directory: Keys and permissions, after `start`.
        creation_order: Creation order of lists, after `start`.
        ledger: Credits.
        processor: The payment processor.
        engine: Runs actions.
        control_token: Secret of the control plane: the setting, or a new one. Never derived from the seed.
        action_addresses: Which addresses actions may reach.
        network: Outbound requests of actions.
        packages: What actions may import, None when nothing.
        sources: Sources that ran before.
        runs: What ran.
        load: How busy the machine is.
        faults: Injected failures.
        traffic: Requests under way.
        snapshots: Saved states.
        new_accounts: How often an address may create accounts.
        base_url: Where it listens, once it does (`listens_at`).
        endpoints: Its endpoints, once the application is built.
    """

    chain: Chain
    directory: Directory
    creation_order: CreationOrder

    def __init__(self, settings: Settings, engine: Engine | None = None, beginning: Beginning | None = None) -> None:
        self.settings = settings
        self.vocabulary = settings.vocabulary
        self.base_url = ""
        self.control_token = settings.control_token or secrets.token_urlsafe(32)
        self.endpoints: tuple[Endpoint, ...] = ()
        self._beginning = Beginning(settings) if beginning is None else beginning
        self.clock = self._beginning.clock
        root, folder = self._beginning.root_secret, self._beginning.folder
        try:
            self.store = Store(settings.database or (folder.database_url if folder else None))
        except BaseException:
            self._beginning.release()
            raise
        try:
            is_known = self._beginning.is_known and settings.database is None
            self.store.run_now(lambda connection: bind_root(connection, root, is_known=is_known))
            if folder is not None:
                folder.complete_first_start()
            self._resumption = None if settings.idle_stop_s is None else Resumption(self.store, settings.clock)
            self._boot = self._number_of_start()
            self.randomness = Randomness(settings.seed, boot=self._boot)
            self.custody = Custody(root, settings.vocabulary, self.randomness)
            self.ledger = Ledger(self.store, self.clock)
            self.processor = Processor(
                store=self.store,
                clock=self.clock,
                randomness=self.randomness,
                custody=self.custody,
                settings=settings,
            )
            self.action_addresses = AddressPolicy(settings.allow_address)
            self.network = Network(settings.network_policy, settings.network_file, addresses=self.action_addresses)
            self.packages = None if settings.action_packages is None else Packages(settings.action_packages)
            self.engine = make_engine(settings) if engine is None else engine
        except BaseException:
            self.store.close()
            self._beginning.release()
            raise
        self.sources = SourceCache()
        self.runs = RunLog(self.store)
        self.load = LoadGauge(multiplier=settings.cpu_overload_multiplier, psi_threshold=settings.cpu_psi_threshold)
        self.faults = Faults()
        self.forgiven = Forgiven()
        self.traffic = Traffic()
        self.new_accounts = Buckets(settings.new_account_burst)
        self.snapshots = Snapshots(self)
        if self._resumption is not None:
            self.control_token = settings.control_token or self._resumption.control_token
            self._resumption.resume(self.clock, self.randomness)
        self._triggers: Triggers | None = None
        self._app: ASGIApp | None = None
        self._runs_triggers = False

    async def start(self) -> None:
        """Starts the chain and the engine.

        Raises:
            PartMissing: A part is not on this machine.
            StateUnusable: The chain cannot be built from the kept state.
            StartRefused: The chain does not start, or cannot be reached.
        """
        try:
            # One warm process is what a first run needs. The others would only take the chain's share of the machine.
            await self.engine.prepare()
            await self._start_chain(self._beginning.node)
            await self.engine.start()
            self._start_triggers()
        except ChainUnusable as error:
            await self.stop()
            raise StateUnusable(str(error)) from error
        except ChainUnavailable as error:
            await self.stop()
            raise StartRefused(
                f"the chain cannot be started or reached: {error}",
                "Look at --chain-rpc if you gave one; `svcnb doctor` tells whether the built-in chain is there.",
            ) from error
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends every child process and closes the database; nothing is left behind. May be called twice."""
        for name, stop in (
            ("triggers", self._stop_triggers),
            ("engine", self.engine.stop),
            ("network", self.network.close),
            ("runs", self.runs.flush),
            ("chain", self._stop_chain),
            ("early node", self._stop_early_node),
        ):
            try:
                await stop()
            except Exception:  # noqa: BLE001 - each part is ended whatever happened to the others
                _LOG.exception("could not stop the %s cleanly", name)
        self._keep_streams()
        self.store.close()
        self._beginning.release()

    def _number_of_start(self) -> int:
        resumed = None if self._resumption is None else self._resumption.boot
        return self.store.run_now(_next_boot) if resumed is None else resumed

    def _keep_streams(self) -> None:
        if self._resumption is not None:
            # The store is closed when this stops for the second time: the streams are kept already.
            with suppress(StoreUnavailable):
                self._resumption.keep(self.randomness, self._boot)

    @property
    def triggers(self) -> Triggers:
        """Actions that run by themselves. Asked on the event loop; made when first asked for."""
        if self._triggers is None:
            from svcnb.emulator.triggers.service import Triggers

            self._triggers = Triggers(self)
            if self._app is not None:
                self._triggers.attach(self._app)
            if self._runs_triggers:
                self._triggers.start()
        return self._triggers

    def attach(self, app: ASGIApp) -> None:
        """Gives the application, which runs of triggers call as any client does. Called on the event loop."""
        self._app = app
        if self._triggers is not None:
            self._triggers.attach(app)

    def _start_triggers(self) -> None:
        self._runs_triggers = True
        if self._triggers is not None:
            self._triggers.start()
        elif self.settings.keeps_state:
            _ = self.triggers  # what an earlier start left behind goes on; a fresh memory holds nothing that could

    async def _stop_triggers(self) -> None:
        self._runs_triggers = False
        if self._triggers is not None:
            await self._triggers.stop()

    async def replace_chain(self, between: Callable[[], Awaitable[object]]) -> None:
        """Ends the chain and starts it again.

        Args:
            between: Awaited while there is no chain.

        Raises:
            Unsupported: The chain is not ours.
        """
        if self.settings.chain_rpc is not None:
            raise Unsupported("a chain that the emulator did not start cannot go back to its beginning")
        await self.chain.stop()
        await between()
        await self._start_chain()

    async def _start_chain(self, early: EarlyNode | None = None) -> None:
        self.chain = await Chain.start(self.settings, self.store, self.custody, self.clock, early)
        self.directory = Directory(self.settings, self.chain, self.clock)
        self.creation_order = CreationOrder(self.chain)

    async def _stop_chain(self) -> None:
        chain = getattr(self, "chain", None)
        if chain is not None:
            await chain.stop()

    async def _stop_early_node(self) -> None:
        if self._beginning.node is not None:
            await self._beginning.node.stop()

    async def is_valid_contract_signature(self, address: str, digest: bytes, signature: bytes) -> bool:
        """Whether the contract at an address accepts a signature (ERC-1271).

        Args:
            address: The contract wallet.
            digest: What was signed.
            signature: In whatever form the contract understands.

        Raises:
            Unavailable: The chain cannot be asked.
        """
        await self.faults.check("chain")
        return await self.chain.is_valid_signature(address, digest, signature)

    @cached_property
    def description(self) -> dict[str, Any]:
        """The OpenAPI description of this very server."""
        return describe(self.endpoints, self.vocabulary)

    def listens_at(self, url: str) -> None:
        """Sets the address of this server.

        Args:
            url: With scheme, host and port, without a path.
        """
        self.base_url = url
        self.action_addresses.own_port = urlsplit(url).port or 0

    def addresses(self) -> dict[str, object]:
        """Where everything is."""
        return {
            "base_url": self.base_url,
            "triggers_url": self.base_url,
            "rpc_url": f"{self.base_url}/rpc",
            "control_url": f"{self.base_url}/_emulator",
            "contract_address": self.chain.contract_address,
            "chain_id": self.chain.chain_id,
            "pid": os.getpid(),
            "service_name": self.vocabulary.service,
            "processor_name": self.vocabulary.processor,
        }

    def public_url(self, request: Request) -> str:
        """The address under which a caller reached this server, without a path.

        Args:
            request: What the caller sent.
        """
        host = request.headers.get("host")
        return f"{request.url.scheme}://{host}" if host else self.base_url


def _next_boot(connection: Connection) -> int:
    """How often this state was started before; counted so that a seeded restart never draws the same bytes again."""
    boot = int(get_meta(connection, _BOOT) or 0)
    set_meta(connection, _BOOT, str(boot + 1))
    return boot
