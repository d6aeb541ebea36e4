"""Results together with their HTTP responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from svcnb.client._http import AsyncTransport, SyncTransport
from svcnb.client.calls import Answer

if TYPE_CHECKING:
    from svcnb.client.calls import Request

T = TypeVar("T")


@dataclass(frozen=True)
class RawResponse(Generic[T]):
    """Result of calls, with their HTTP responses.

    A list with several pages has several responses. A retried call also has several responses. The properties describe
    the last response.

    Attributes:
        value: Return value of the function that made the calls.
        responses: All responses, in order. The display never contains bodies, because they can contain a new key.
    """

    value: T
    responses: tuple[Answer, ...]

    @property
    def status(self) -> int:
        """HTTP status of the last response."""
        return self.responses[-1].status

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of the last response, by lowercase name."""
        return self.responses[-1].headers

    @property
    def content(self) -> bytes:
        """Body of the last response."""
        return self.responses[-1].content

    @property
    def request_id(self) -> str:
        """Id that the service assigned to the last request. Empty if the response has no id."""
        return self.headers.get("x-request-id", "")


class SyncRecording(SyncTransport):
    """Transport that records the responses of another transport."""

    def __init__(self, transport: SyncTransport) -> None:  # there are no connections to close
        self._transport = transport
        self.clock = transport.clock
        self.answers: list[Answer] = []

    def send(self, request: Request) -> Answer:
        """Sends one request, and records and returns the response; see `SyncTransport.send`."""
        answer = self._transport.send(request)
        self.answers.append(answer)
        return answer


class AsyncRecording(AsyncTransport):
    """Asynchronous version of `SyncRecording`."""

    def __init__(self, transport: AsyncTransport) -> None:  # there are no connections to close
        self._transport = transport
        self.clock = transport.clock
        self.answers: list[Answer] = []

    async def send(self, request: Request) -> Answer:
        """Asynchronous version of `SyncRecording.send`."""
        answer = await self._transport.send(request)
        self.answers.append(answer)
        return answer
