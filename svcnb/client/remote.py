"""Runner of actions on an executor, for example with threads, processes or a cluster.

The process that calls `svc.map` manages the progress, the pauses and the resume file. Workers receive single runs with
the settings that they need, and return the records of the runs. The process that calls `svc.map` also calls the
listeners of ``on_run``, so that the local history contains these runs and their costs.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from svcnb.client import running
from svcnb.client._http import SyncTransport
from svcnb.client.calls import Flow, Notice
from svcnb.client.config import Config
from svcnb.client.errors import ExecutorLost, SvcnbError, WorkerLost
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession, SyncSession

if TYPE_CHECKING:
    from svcnb.client.models.runs import Run
    from svcnb.client.references import ActionRef
    from svcnb.client.running import RunRecord

AnySession = TypeVar("AnySession", SyncSession, AsyncSession)


class Executor(Protocol):
    """Executor of runs: a `concurrent.futures.Executor`, or any other object with the same `submit` method."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedules one call of ``fn`` on a worker, and returns a future with its result."""
        ...


@dataclass(frozen=True)
class Service:
    """Key and settings of a client, for runs in a worker. The client can pickle this object and send it to workers.

    A `Secret` cannot be pickled, so this class contains the key as a string. A caller who passes an executor agrees
    that the client sends the key to the workers of the executor.

    Attributes:
        key: The key, or an empty string.
        settings: Address of the service, and the other settings that a run needs, without the key.
    """

    key: str = field(repr=False)
    settings: Config

    @classmethod
    def of(cls, config: Config) -> Service:
        """Returns the part of a client's settings that a worker needs."""
        return cls(
            key=config.api_key.reveal() if config.api_key else "",
            settings=Config(
                base_url=config.base_url,
                vocabulary=config.vocabulary,
                timeouts=config.timeouts,
                retries=config.retries,
                correlation_id=config.correlation_id,
                headers=config.headers,
            ),
        )

    @property
    def config(self) -> Config:
        """Client settings: `settings` with the key. Environment variables of the worker do not affect them."""
        return self.settings.replace(api_key=Secret(self.key) if self.key else None)


def perform(service: Service, action: ActionRef, params: object) -> RunRecord:
    """Executes one run in a worker.

    Returns:
        The record of the run, even if the service or the action failed.

    Raises:
        InvalidArgument: The parameters cannot be written as JSON.
    """
    records: list[RunRecord] = []
    config = service.config
    session = SyncSession(_transport(config.base_url), config, [records.append])
    try:
        session.drive(running.run(config, action, params, {}, None))
    except SvcnbError:
        if not records:
            raise
    return records[0]


class RemoteRuns(Generic[AnySession]):
    """Runner that executes a client's runs on an executor.

    Args:
        session: Session of the client, with the listeners to call.
        executor: `concurrent.futures` executor whose workers execute the runs.
    """

    def __init__(self, session: AnySession, executor: Executor) -> None:
        self._session: AnySession = session
        self._service = Service.of(session.config)
        self._executor = executor

    def run(self: RemoteRuns[SyncSession], action: ActionRef, params: object) -> Run:
        """Executes one run, waits for its result, and returns the result."""
        try:
            record: RunRecord = self._submitted(action, params).result()
        except SvcnbError:
            raise
        except (Exception, CancelledError) as error:
            raise _lost(error) from error
        self._session.drive(_told(record))
        return _run_of(record)

    async def run_async(self: RemoteRuns[AsyncSession], action: ActionRef, params: object) -> Run:
        """Asynchronous version of `run`."""
        future = asyncio.wrap_future(self._submitted(action, params))
        try:
            record: RunRecord = await future
        except asyncio.CancelledError:
            # Either this task was cancelled, or the executor cancelled the run.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise _lost(CancelledError()) from None
        except Exception as error:
            raise (error if isinstance(error, SvcnbError) else _lost(error)) from error
        await self._session.drive(_told(record))
        return _run_of(record)

    def _submitted(self, action: ActionRef, params: object) -> Future[Any]:
        try:
            return self._executor.submit(perform, self._service, action, params)
        except Exception as error:
            raise ExecutorLost(
                f"the executor does not accept more runs: {type(error).__name__}: {error}",
                hint="Create a new executor and repeat the call. With the same resume file, svc.map repeats only the "
                "runs that have no result.",
            ) from error


def _lost(error: BaseException) -> WorkerLost:
    said = f": {error}" if str(error) else ""
    return WorkerLost(f"the executor returned no result for this run: {type(error).__name__}{said}")


def _told(record: RunRecord) -> Flow[None]:
    yield Notice(record)


def _run_of(record: RunRecord) -> Run:
    if record.error is not None:
        raise record.error
    assert record.run is not None  # noqa: S101 - a record has either a result or an error
    return record.run


@lru_cache(maxsize=8)
def _transport(base_url: str) -> SyncTransport:
    """Returns the transport of a service. A worker process reuses the transport for all runs on the same service."""
    return SyncTransport(base_url)
