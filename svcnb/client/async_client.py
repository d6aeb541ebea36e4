"""`AsyncClient`: asynchronous client of the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Self, TypeVar

from svcnb.client import running
from svcnb.client.aio.client import AsyncServiceClient
from svcnb.client.batch import AsyncBatch
from svcnb.client.models.runs import Run
from svcnb.client.raw_response import AsyncRecording, RawResponse
from svcnb.client.references import ActionRef
from svcnb.client.remote import Executor, RemoteRuns
from svcnb.client.session import AsyncSession
from svcnb.protocol.limits import DEFAULT_BATCH_CONCURRENCY

T = TypeVar("T")


class AsyncClient(AsyncServiceClient):
    """Asynchronous client of the service, with the same resources and methods as `Client`.

    Notebooks support ``await``. Close the client after use, with ``async with`` or ``await svc.close()``.

    The arguments are the same as those of `Client`. Listeners of ``on_run`` can also be coroutine functions.

    Raises:
        ConfigError: The address of the service is not set, or a setting is invalid.
    """

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

    async def with_raw_response(self, call: Callable[[Self], Awaitable[T]]) -> RawResponse[T]:
        """Asynchronous version of `Client.with_raw_response`; ``call`` returns an awaitable."""
        recording = AsyncRecording(self._session.transport)
        derived = self._derive(AsyncSession(recording, self._config, self.on_run))
        return RawResponse(await call(derived), tuple(recording.answers))
