"""Base classes of all resources. Each resource has the client's session, which runs the flows of the resource."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

from svcnb.checked import Checked
from svcnb.client.calls import Call, Flow, ask
from svcnb.client.models.base import Model
from svcnb.client.resources.reading import Pages, identity
from svcnb.client.session import AsyncSession, SyncSession

T = TypeVar("T")
M = TypeVar("M", bound=Model)
C = TypeVar("C", bound=type)


class Resource(Checked):
    """Base class of the resources of the synchronous client."""

    def __init__(self, session: SyncSession) -> None:
        self._session = session

    def _do(self, flow: Flow[T]) -> T:
        return self._session.drive(flow)

    def _iterate(self, page: Callable[[int], Call[list[M]]]) -> Iterator[M]:
        pages = Pages[M](identity)
        while pages.more:
            yield from pages.take(self._session.drive(ask(page(pages.number))))


class AsyncResource(Checked):
    """Base class of the resources of the asynchronous client."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    async def _iterate(self, page: Callable[[int], Call[list[M]]]) -> AsyncIterator[M]:
        pages = Pages[M](identity)
        while pages.more:
            for item in pages.take(await self._session.drive(ask(page(pages.number)))):
                yield item
