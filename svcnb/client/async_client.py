"""`AsyncClient`: asynchronous client of the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from svcnb.client import explain as explanations, running, tracing
from svcnb.client._http import AsyncTransport
from svcnb.client.aio.accounts import AsyncAccounts
from svcnb.client.aio.actions import AsyncActions
from svcnb.client.aio.billing import AsyncBilling
from svcnb.client.aio.groups import AsyncGroups
from svcnb.client.aio.node import AsyncNode
from svcnb.client.aio.usage_keys import AsyncUsageKeys
from svcnb.client.aio.wallets import AsyncWallets
from svcnb.client.batch import AsyncBatch
from svcnb.client.client_settings import (
    AnyKey,
    ClientSettings,
    close_recorders,
    history_setting,
    keyed,
    listeners,
    optioned,
)
from svcnb.client.config import Retries, Timeouts, load
from svcnb.client.explain import AnyKeyRef
from svcnb.client.models.explanation import Explanation
from svcnb.client.models.runs import Run
from svcnb.client.models.traces import Trace
from svcnb.client.raw_response import AsyncRecording, RawResponse
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.remote import Executor, RemoteRuns
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession, Listener
from svcnb.client.tracing import Traced
from svcnb.protocol.limits import DEFAULT_BATCH_CONCURRENCY

if TYPE_CHECKING:
    import httpx

    from svcnb.client.aio.chain_secured import AsyncChainSecured
    from svcnb.protocol.vocabulary import Vocabulary

T = TypeVar("T")


class AsyncClient(ClientSettings[AsyncSession]):
    """Asynchronous client of the service, with the same resources and methods as `Client`.

    Notebooks support ``await``. Close the client after use, with ``async with`` or ``await svc.close()``.

    The arguments are the same as those of `Client`. Listeners of ``on_run`` can also be coroutine functions.

    Raises:
        ConfigError: The address of the service is not set, or a setting is invalid.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: AnyKey | None = None,
        triggers_url: str | None = None,
        rpc_url: str | None = None,
        control_token: str | Secret | None = None,
        vocabulary: Vocabulary | None = None,
        timeout: float | Timeouts | None = None,
        retries: int | Retries | None = None,
        on_run: Callable[[running.RunRecord], object] | Sequence[Listener] = (),
        history: bool | str | Path | None = None,
        config_file: str | Path | None = None,
        http_client: httpx.AsyncClient | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        config = load(
            base_url=base_url,
            triggers_url=triggers_url,
            rpc_url=rpc_url,
            control_token=control_token,
            vocabulary=vocabulary,
            history=history_setting(history),
            file=config_file,
        )
        config = keyed(config, api_key) if api_key is not None else config
        config = optioned(config, timeout, retries, headers=headers)
        transport = AsyncTransport(config.base_url, client=http_client)
        self._start(AsyncSession(transport, config, listeners(on_run, config)), owner=True)

    # --- resources --------------------------------------------------------------------------------------------------

    @cached_property
    def accounts(self) -> AsyncAccounts:
        """Methods that create an account, check the client's key, and convert an account to ChainSecured."""
        return AsyncAccounts(self._session)

    @cached_property
    def usage_keys(self) -> AsyncUsageKeys:
        """Usage keys: API keys with restricted permissions."""
        return AsyncUsageKeys(self._session)

    @cached_property
    def groups(self) -> AsyncGroups:
        """Groups: sets of actions and wallets that belong together."""
        return AsyncGroups(self._session)

    @cached_property
    def wallets(self) -> AsyncWallets:
        """Wallets whose private keys the service derives."""
        return AsyncWallets(self._session)

    @cached_property
    def actions(self) -> AsyncActions:
        """Actions that the account has registered under a name."""
        return AsyncActions(self._session)

    @cached_property
    def billing(self) -> AsyncBilling:
        """Credit and payments."""
        return AsyncBilling(self._session)

    @cached_property
    def chain_secured(self) -> AsyncChainSecured:
        """Methods that create, open and read accounts that a wallet owns, and resume interrupted operations."""
        from svcnb.client.aio.chain_secured import AsyncChainSecured

        return AsyncChainSecured(self._session)

    @cached_property
    def node(self) -> AsyncNode:
        """Information about the node that responds: chain, limits, payers, version and health."""
        return AsyncNode(self._session)

    # --- operations -------------------------------------------------------------------------------------------------

    async def run(
        self,
        action: ActionRef,
        /,
        params: object = None,
        *,
        until_effective: float | None = None,
        **named: object,
    ) -> Run:
        """Asynchronous version of `Client.run`."""
        return await self._session.drive(running.run(self._config, action, params, named, until_effective))

    async def trace(self, of: Traced) -> Trace:
        """Asynchronous version of `Client.trace`."""
        return await self._session.drive(tracing.trace(of))

    def map(
        self,
        action: ActionRef,
        params: Iterable[object],
        *,
        concurrency: int = DEFAULT_BATCH_CONCURRENCY,
        progress: bool | None = None,
        resume: str | Path | None = None,
        executor: Executor | None = None,
    ) -> AsyncBatch:
        """Asynchronous version of `Client.map`.

        Await the returned batch. After a cancellation, the batch keeps the outcomes of the completed runs. To execute
        the remaining runs, await the batch again.
        """
        perform = self.run if executor is None else RemoteRuns(self._session, executor).run_async
        return AsyncBatch(perform, action, params, concurrency=concurrency, resume=resume, progress=progress)

    async def explain(self, key: AnyKeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """Asynchronous version of `Client.explain`."""
        return await self._session.drive(
            explanations.explain(self._config, key, action, wallet, self.clock_skew or 0.0)
        )

    async def with_raw_response(self, call: Callable[[Self], Awaitable[T]]) -> RawResponse[T]:
        """Asynchronous version of `Client.with_raw_response`; ``call`` returns an awaitable."""
        recording = AsyncRecording(self._session.transport)
        derived = self._derive(AsyncSession(recording, self._config, self.on_run))
        return RawResponse(await call(derived), tuple(recording.answers))

    # --- time and closing -------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Asynchronous version of `Client.close`."""
        if self._owner:
            await self._session.transport.aclose()
            close_recorders(self.on_run)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
