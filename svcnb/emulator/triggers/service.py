"""Triggers service, which starts and stops with the emulator."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.errors import ChainUnavailable
from svcnb.emulator.platform.json_rpc import Rpc, over_http
from svcnb.emulator.platform.store import StoreUnavailable
from svcnb.emulator.triggers.chain_events import ChainEvents, WatchedChain
from svcnb.emulator.triggers.encryption import UsageKeyEncryption
from svcnb.emulator.triggers.execution import Execution, InProcess, OverHttp
from svcnb.emulator.triggers.identity import Identity
from svcnb.emulator.triggers.queue import RetryPolicy, RunQueues
from svcnb.emulator.triggers.rules import chain_event
from svcnb.emulator.triggers.schedules import Schedules
from svcnb.emulator.triggers.store import TriggerRecord, from_json
from svcnb.emulator.triggers.webhooks import PostLimit
from svcnb.protocol.json_rpc import RpcError
from svcnb.protocol.limits import CHAIN_CONFIRMATIONS
from svcnb.protocol.wire.triggers import CHAIN_IDS, ChainName

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from svcnb.emulator.keys.custody import Custody
    from svcnb.emulator.platform.clock import Clock
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.platform.store import Store
    from svcnb.emulator.settings import Settings

_LOG = logging.getLogger(__name__)
_GRACE_S: Final = 5.0
_LOOK_S: Final = 5.0


class Triggers:
    """Triggers service of ``/api``, ``/webhook`` and ``/agent``, with its background tasks.

    Args:
        settings: The emulator's settings.
        clock: The emulator's clock.
        store: The database.
        randomness: Source of ids.
        custody: Custody, which derives the keys that encrypt usage keys and authenticate session cookies.
        rpc: Function that handles JSON-RPC requests to the emulator's own chain.
        control_token: The control token, with which a user can sign in under any e-mail address.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        store: Store,
        randomness: Randomness,
        custody: Custody,
        rpc: Callable[[Any], Awaitable[Any]],
        control_token: str,
    ) -> None:
        self.settings = settings
        self.vocabulary = settings.vocabulary
        self.clock = clock
        self.store = store
        self.randomness = randomness
        self.control_token = control_token
        self.max_body_bytes = settings.max_body_bytes
        self.encryption = UsageKeyEncryption(custody.derived_key("trigger usage keys"), randomness)
        self.identity = Identity(
            store,
            clock,
            custody.derived_key("trigger sessions"),
            auto_approve=settings.auto_approve_agents,
        )
        self.posts_by_address = PostLimit(
            settings.webhook_posts_per_address, "ip_rate_limited", "IP address", "--webhook-posts-per-address", store
        )
        self.posts_by_user = PostLimit(
            settings.webhook_posts_per_user, "user_rate_limited", "owner", "--webhook-posts-per-user", store
        )
        self._execution = _execution(settings)
        self.queues = RunQueues(
            store,
            clock,
            self._execution,
            encryption=self.encryption,
            policy=RetryPolicy(settings.run_max_retries, retry_thrown=settings.retry_thrown_actions),
            workers=settings.trigger_workers,
            kept_runs=settings.kept_trigger_runs,
        )
        self.schedules = Schedules(store, clock, settings.schedule_scan_s, self.queues.wake)
        self._chains = [_watched(settings, rpc, name) for name in CHAIN_IDS]
        self._watchers: list[Schedules | ChainEvents] = [
            self.schedules,
            *(
                ChainEvents(chain, store, clock, settings.chain_event_scan_s, wake=self.queues.wake)
                for chain in self._chains
            ),
        ]
        self._attached = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def attach(self, app: ASGIApp) -> None:
        """Sets the application that executes runs. Runs wait for this call.

        Args:
            app: The emulator's own application. With an execution URL, another service executes the runs instead.

        Raises:
            RuntimeError: The call does not come from the event loop. Only the loop's own thread can set its events.
        """
        asyncio.get_running_loop()
        if isinstance(self._execution, InProcess):
            self._execution.app = app
        self._attached.set()

    def start(self) -> None:
        """Starts the background tasks. The emulator does not wait for the search for unfinished runs."""
        self._tasks = [asyncio.create_task(self._begin(), name="triggers")]
        self._tasks += [asyncio.create_task(watcher.run()) for watcher in self._watchers]
        for task in self._tasks:
            task.add_done_callback(_report)

    async def _begin(self) -> None:
        await self._attached.wait()
        looked = await self._look(self.queues.start)
        while self.store.shared or not looked:
            # Finds changes by other servers, runs of killed servers, and runs that the service could not read at the
            # start.
            await asyncio.sleep(_LOOK_S)
            looked = await self._look(self.queues.look)
            self.wake()

    async def _look(self, look: Callable[[], Awaitable[None]]) -> bool:
        try:
            await look()
        except StoreUnavailable as error:
            _LOG.warning("the database is unavailable (%s): queued runs stay queued", error.message)
            return False
        return True

    async def stop(self) -> None:
        """Stops the scanners and the queues. Cancels executions that do not finish within 5 seconds.

        The next start executes the cancelled runs again. Repeated calls have no effect.
        """
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        await self.queues.stop(_GRACE_S)
        await self._execution.close()
        for chain in self._chains:
            await chain.rpc.close()

    async def reload(self) -> None:
        """Restarts the queues and wakes the scanners after a replacement of the database.

        Also deletes the counts of webhook requests in memory.
        """
        self.posts_by_address.clear()
        self.posts_by_user.clear()
        await self.queues.restart()
        self.wake()

    def changed(self, trigger: TriggerRecord) -> None:
        """Wakes the scanners, and the queue of an enabled trigger. Call this method after the commit."""
        if trigger.enabled:
            self.queues.wake(trigger.id)
        self.wake()

    def wake(self) -> None:
        """Wakes the scanners after a possible change of schedules or watched events."""
        for watcher in self._watchers:
            watcher.wake()

    async def place_now(self, trigger: TriggerRecord) -> dict[str, Any]:
        """Returns the columns that move a chain_event trigger's position to the block after the newest block.

        Returns no columns for other kinds of triggers. Also returns no columns if the chain does not respond, because
        repeated events are better than lost events.
        """
        if trigger.kind != "chain_event":
            return {}
        name = chain_event(from_json(trigger.config)).chain
        chain = next(chain for chain in self._chains if chain.name == name)
        try:
            head = await chain.rpc.number()
            return {"next_block": head + 1, "last_block_hash": await chain.rpc.block_hash(head)}
        except (ChainUnavailable, RpcError) as error:
            _LOG.warning("chain %s: %.300s", name, error)
            return {}


def _execution(settings: Settings) -> Execution:
    given_ms = settings.trigger_timeout_ms
    if settings.trigger_execution_url is None:
        # Set no additional timeout, because the engine stops runs that take too long, and a run can wait for a free
        # slot.
        return InProcess(settings.vocabulary.run_path, None if given_ms is None else given_ms / 1000)
    limits = settings.limits
    timeout_s = (limits.timeout_ms + limits.client_timeout_ms_buffer if given_ms is None else given_ms) / 1000
    return OverHttp(settings.trigger_execution_url, settings.vocabulary.run_path, timeout_s)


def _watched(settings: Settings, rpc: Callable[[Any], Awaitable[Any]], name: ChainName) -> WatchedChain:
    url: str | None = getattr(settings, f"rpc_{name}")
    confirmations = settings.chain_confirmations
    if url is not None:
        return WatchedChain(name, over_http(url), CHAIN_CONFIRMATIONS if confirmations is None else confirmations)

    # The emulator's own chain creates a block only for a transaction, so further blocks can confirm a log much later or
    # never.
    return WatchedChain(name, Rpc(rpc), confirmations or 0)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("a scanner of the triggers service stopped", exc_info=error)
