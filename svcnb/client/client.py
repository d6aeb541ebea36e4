"""`Client`: synchronous client of the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from svcnb.client import explain as explanations, running, tracing
from svcnb.client._http import AsyncTransport, SyncTransport
from svcnb.client.batch import Batch
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
from svcnb.client.raw_response import RawResponse, SyncRecording
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.remote import Executor, RemoteRuns
from svcnb.client.resources.accounts import Accounts
from svcnb.client.resources.actions import Actions
from svcnb.client.resources.billing import Billing
from svcnb.client.resources.groups import Groups
from svcnb.client.resources.node import Node
from svcnb.client.resources.usage_keys import UsageKeys
from svcnb.client.resources.wallets import Wallets
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession, Listener, SyncSession
from svcnb.client.tracing import Traced
from svcnb.protocol.limits import DEFAULT_BATCH_CONCURRENCY

if TYPE_CHECKING:
    import httpx

    from svcnb.client.async_client import AsyncClient
    from svcnb.client.chain_secured.namespace import ChainSecured
    from svcnb.protocol.vocabulary import Vocabulary

T = TypeVar("T")


class ServiceClient(ClientSettings[SyncSession]):
    """Base class of `Client` with the connection, the resources, and the methods `trace` and `explain`."""

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
        http_client: httpx.Client | None = None,
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
        transport = SyncTransport(config.base_url, client=http_client)
        self._start(SyncSession(transport, config, listeners(on_run, config)), owner=True)

    # --- resources --------------------------------------------------------------------------------------------------

    @cached_property
    def accounts(self) -> Accounts:
        """Methods that create an account, check the client's key, and convert an account to ChainSecured."""
        return Accounts(self._session)

    @cached_property
    def usage_keys(self) -> UsageKeys:
        """Usage keys: API keys with restricted permissions."""
        return UsageKeys(self._session)

    @cached_property
    def groups(self) -> Groups:
        """Groups: sets of actions and wallets. The permissions of a usage key refer to groups."""
        return Groups(self._session)

    @cached_property
    def wallets(self) -> Wallets:
        """Wallets whose private keys the service derives."""
        return Wallets(self._session)

    @cached_property
    def actions(self) -> Actions:
        """Actions that the account has registered under a name."""
        return Actions(self._session)

    @cached_property
    def billing(self) -> Billing:
        """Credit and payments of the account. All calls are free."""
        return Billing(self._session)

    @cached_property
    def chain_secured(self) -> ChainSecured:
        """Methods that create, open and read accounts that a wallet owns, and resume interrupted operations."""
        from svcnb.client.chain_secured.namespace import ChainSecured

        return ChainSecured(self._session)

    @cached_property
    def node(self) -> Node:
        """Information about the node that responds: chain, limits, payers, version and health."""
        return Node(self._session)

    # --- explanations -----------------------------------------------------------------------------------------------

    def trace(self, of: Traced) -> Trace:
        """Returns the timeline of a run on an emulator: the run's operations, their times, and the memory use.

        Failed runs also have a timeline. To read this timeline, pass the error that ``run`` raised.

        Args:
            of: The result or the error of ``run``, or a request id.

        Raises:
            TraceUnavailable: The service is not an emulator, or has deleted the timeline.
            InvalidArgument: The result or the error has no request id.
        """
        return self._session.drive(tracing.trace(of))

    def explain(self, key: AnyKeyRef, action: ActionRef, wallet: WalletRef | None = None) -> Explanation:
        """Explains why a key can run an action with a wallet, or which permission is missing.

        This call is free. If a permission is missing, the result contains the code that grants the permission. The
        client uses its own key only to read, so any key of the account works. The result shows the account's current
        settings. A new permission can take a few seconds to take effect.

        Args:
            key: A usage key, its text or its hash, or an account. None selects the client's own key.
            action: An action, a source, a CID or a hashed CID.
            wallet: The wallet that the action uses, or None for a run without a wallet.

        Raises:
            InvalidArgument: An argument does not identify exactly one object.

        Example:
            ``svc.explain(key, action, wallet).repair.code``
        """
        return self._session.drive(explanations.explain(self._config, key, action, wallet, self.clock_skew or 0.0))

    # --- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the connections of this client, and of the clients that its `with_key` and `with_options` returned.

        The method also closes the file that records runs. An ``http_client`` that you passed stays open. On a client
        that `with_key` or `with_options` returned, this method has no effect.
        """
        if self._owner:
            self._session.transport.close()
            close_recorders(self.on_run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Client(ServiceClient):
    """Synchronous client of the service. Several threads can use one client.

    Connections stay open between calls. The connections close after ``close()``, at the end of a ``with`` block, or
    when Python deletes the last client that uses the connections.

    The client reads each setting from the first of these sources that contains the setting: argument, selected profile,
    environment, configuration file (`svcnb.client.config`).

    Args:
        base_url: Address of the service, the part before ``/core/v1``.
        api_key: Account key or usage key.
        triggers_url: Address of the triggers service.
        rpc_url: JSON-RPC address of the chain.
        control_token: Token of an emulator's control plane, for reading traces. You can omit the token for an emulator
            that you run on this machine, because the client then reads the token from a file.
        vocabulary: Names of the service and of the payment processor, as they appear in paths and headers.
        timeout: Timeout of every call in seconds, or `Timeouts` with one value for each kind of call. None means the
            default values of `Timeouts`.
        retries: Maximum number of retries of a call that is safe to repeat, or `Retries` with all details of the retry
            policy. None means the default values of `Retries`.
        on_run: Listeners that receive a `RunRecord` after every run.
        history: File in which the client records runs, without secrets. False disables the recording. None means
            the value of ``SVC_HISTORY``, or the default path if the variable is not set. `History` reads the file.
        config_file: Settings file to use instead of the default file.
        http_client: Your own `httpx.Client`, for proxies, certificates, limits or hooks. You must close this client
            yourself. The argument ``timeout`` still applies. None creates a client.
        headers: Headers to send with every request to the service, for example for a gateway.

    Raises:
        ConfigError: The address of the service is not set, or a setting is invalid.

    Example:
        >>> svc = Client("http://127.0.0.1:8000", api_key="c2VjcmV0")
        >>> svc
        Client('http://127.0.0.1:8000', with a key)
        >>> svc.close()
    """

    def run(
        self,
        action: ActionRef,
        /,
        params: object = None,
        *,
        until_effective: float | None = None,
        **named: object,
    ) -> Run:
        """Executes an action and returns its response and logs.

        A run costs one US cent for each whole second, and at least one cent. A failed run is free. The client does
        not retry a request that may have arrived, because actions can have external effects.

        Args:
            action: An action, a source, or the CID of a source that this node has already executed.
            params: Argument of ``main``, any JSON value.
            until_effective: Seconds for which the client retries while the key is unknown (401) or lacks a permission
                (403). None disables these retries. A new key or permission takes effect after a few seconds.
                Insufficient credit or a failure of the action ends the call immediately.
            **named: Parameters by name. If you also pass ``params``, the argument ``params`` must be a dictionary. The
                client adds the named parameters to this dictionary.

        Raises:
            ActionError: The action threw an error, has a syntax error, or exceeded a limit.
            Forbidden: The key does not have permission to execute this action.
            OutOfCredit: The account does not have enough credit.
            InvalidArgument: The action is a hashed CID, or the parameters cannot be written as JSON.

        Example:
            ``svc.run("const main = ({ n }) => n + 1", n=41).response``
        """
        run = self._session.drive(running.run(self._config, action, params, named, until_effective))
        return run.known_by(self.trace)

    def map(
        self,
        action: ActionRef,
        params: Iterable[object],
        *,
        concurrency: int = DEFAULT_BATCH_CONCURRENCY,
        progress: bool | None = None,
        resume: str | Path | None = None,
        executor: Executor | None = None,
    ) -> Batch:
        """Runs an action once for each set of parameters, with limited concurrency, and returns every result.

        When the service is overloaded (429, 503), all runs pause together. A failed run does not stop other runs. An
        error that affects every run (unknown key, missing permission, insufficient credit) stops the batch. An
        interrupted batch returns the outcomes so far. To continue, call ``batch.resume()``, or repeat the call with the
        same ``resume`` file in another process.

        Each run costs one cent for each whole second, and at least one cent. Failed runs are free.

        Args:
            action: An action, a source, or the CID of a source that this node has already executed.
            params: Arguments of ``main``, one for each run. Each row of a DataFrame becomes an object.
            concurrency: Maximum number of simultaneous runs.
            progress: Whether to show a progress bar. None shows a bar in terminals and notebooks, if tqdm is installed.
            resume: File in which the client stores every result immediately. A repeated call reads the results from
                this file. None keeps the results only in memory.
            executor: `concurrent.futures` executor for the runs, for example with processes or a cluster. The workers
                receive the key. None executes the runs in this process.

        Raises:
            InvalidArgument: An argument is invalid, or the file belongs to another batch.
            Forbidden: The service permitted none of the runs. An unknown key raises `Unauthorized`, and insufficient
                credit raises `OutOfCredit`.

        Example:
            ``svc.map(action, [{"n": n} for n in range(1000)]).to_frame()``
        """
        perform = self.run if executor is None else RemoteRuns(self._session, executor).run
        return Batch(perform, action, params, concurrency=concurrency, resume=resume, progress=progress).resume()

    def with_raw_response(self, call: Callable[[Self], T]) -> RawResponse[T]:
        """Runs a function that makes calls, and returns its result together with the HTTP responses.

        Args:
            call: Function that receives a client and makes the calls.

        Returns:
            The result of the function, and all responses in order, each with status, headers, body and time.

        Example:
            ``raw = svc.with_raw_response(lambda svc: svc.groups.list()); raw.headers["x-request-id"]``
        """
        recording = SyncRecording(self._session.transport)
        derived = self._derive(SyncSession(recording, self._config, self.on_run))
        return RawResponse(call(derived), tuple(recording.answers))

    def to_async(self) -> AsyncClient:
        """Returns an asynchronous client with the same settings, key and listeners, but its own connections."""
        from svcnb.client.async_client import AsyncClient

        twin = AsyncClient.__new__(AsyncClient)
        twin._start(AsyncSession(AsyncTransport(self._config.base_url), self._config, self.on_run), owner=True)  # noqa: SLF001 - a class of this package
        return twin
