"""HTTP connections, with limits on their number, on the duration of each step, and on the size of request headers.

The library uvicorn parses requests and writes responses. The library has no timeout for headers or a body, and rejects
excess connections in plain text. The library also buffers the data for a slow client without a time limit. This module
adds one deadline per connection, and one task that checks all deadlines.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from svcnb.emulator.errors import StructuredError
from svcnb.protocol.limits import (
    BODY_TIMEOUT_S,
    HEAD_TIMEOUT_S,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_PIPELINED_REQUESTS,
    WRITE_TIMEOUT_S,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.responses import Response
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

LINGER_S: Final = 5.0
"""Maximum time in seconds to send the rest of a response on a connection that the server is closing."""
RESERVED_DESCRIPTORS: Final = 512
"""Number of file descriptors reserved for isolates, outbound requests, the database and the chain."""
RETRY_AFTER_S: Final = 1

_LOOK_S: Final = 0.5
_FRAMING_BYTES: Final = 128 * 1024
_COUNTED_BODY: Final = 1024 * 1024
_FRAMING_FACTOR: Final = 5
_FOR_REFUSALS: Final = 128


class Answers(Protocol):
    """Factory of error responses to requests that do not reach the application."""

    def minimal_response(self, refusal: StructuredError) -> Response:
        """Returns an error response. Does not use other components, because they may have failed."""
        ...


def connection_limit(wanted: int) -> int:
    """Returns the maximum number of open connections, within the process's limit for file descriptors.

    Args:
        wanted: The setting ``max_connections``.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if descriptors == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, descriptors - min(RESERVED_DESCRIPTORS, descriptors // 2)))


class Connection(HttpToolsProtocol):
    """Connection of the HTTP server. The function `limited` returns a subclass with the attributes of one server.

    Attributes:
        limit: Maximum number of concurrent connections.
        answers: Factory of error responses.
    """

    limit: int
    answers: Answers

    _deadline = 0.0
    _in_head = False
    _current: RequestResponseCycle | None = None
    _head_bytes = 0
    _message_bytes = 0
    _body_bytes = 0
    is_refused = False

    head_s = HEAD_TIMEOUT_S
    body_s = BODY_TIMEOUT_S
    write_s = WRITE_TIMEOUT_S

    @property
    def is_idle(self) -> bool:
        """Whether the connection is waiting for another request after a response."""
        return self.timeout_keep_alive_task is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the deadline of a new connection. Above the limit, closes an idle connection or responds with 503."""
        super().connection_made(transport)
        self._wait(self.head_s)
        others = cast("Collection[Connection]", self.connections)
        if len(others) <= self.limit:
            return
        if (idle := next((other for other in others if other.is_idle), None)) is not None:
            idle.close()
            return
        if len(others) > self.limit + _FOR_REFUSALS:
            refused = next((other for other in others if other.is_refused), self)
            refused.transport.abort()
        self._refuse(
            StructuredError(
                503,
                f"the emulator has {self.limit} open connections, which is the maximum",
                fix="Close unused connections, or try again in a second.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        )

    def close(self) -> None:
        """Closes the connection after the rest of a response is sent, or after `LINGER_S` seconds."""
        self._wait(LINGER_S)
        self.transport.close()

    def look(self, now: float) -> None:
        """Ends the connection if its deadline has passed.

        Args:
            now: Time of the event loop, in seconds.
        """
        if self.transport.is_closing():
            # Set the deadline of a connection that uvicorn has closed.
            if self._deadline in {0.0, float("inf")}:
                self._wait(LINGER_S)
            elif now > self._deadline:
                self.transport.abort()
        elif now > self._deadline:
            self._time_out()

    def data_received(self, data: bytes) -> None:
        """Parses received bytes. Responds with an error if the headers or the chunk headers of a body are too long."""
        if self.is_refused or self.transport.is_closing():
            return
        size = len(data)
        self._head_bytes += size
        self._message_bytes += size
        super().data_received(data)
        if self.transport.is_closing() or self.is_refused:
            return
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(
                StructuredError(
                    431,
                    f"the head of the request (request line and headers) is longer than {MAX_HEAD_BYTES} bytes",
                    fix="Send fewer or shorter headers.",
                )
            )
        elif not self._in_head and self._message_bytes - self._body_bytes > _FRAMING_BYTES + _FRAMING_FACTOR * min(
            self._body_bytes, _COUNTED_BODY
        ):
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Starts the deadline for the request line and the headers."""
        super().on_message_begin()
        self._in_head = True
        self._head_bytes = 0
        if self._served is None:
            self._wait(self.head_s)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Adds a header or trailer of the request.

        Raises:
            ValueError: The request has more than `MAX_HEADERS` headers. The server then responds with 400.
        """
        if len(self.headers) >= MAX_HEADERS:
            raise ValueError(f"the request has more than {MAX_HEADERS} headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Starts the deadline for the body.

        Raises:
            ValueError: The connection has too many requests without a response. The server then responds with 400.
        """
        self._in_head = False
        self._message_bytes = self._body_bytes = 0
        if len(self.pipeline) >= MAX_PIPELINED_REQUESTS:
            raise ValueError(f"the connection has more than {MAX_PIPELINED_REQUESTS} requests without a response")
        super().on_headers_complete()
        self._wait(self.body_s)

    def on_body(self, body: bytes) -> None:
        """Counts the bytes of the body, for the limit on the framing of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Sets the next deadline after a complete request."""
        super().on_message_complete()
        self._restart_timeout()

    def on_response_complete(self) -> None:
        """Sets the next deadline after a complete response."""
        super().on_response_complete()
        self._restart_timeout()

    def pause_writing(self) -> None:
        """Starts the deadline for a client that reads its response slowly."""
        super().pause_writing()
        self._wait(self.write_s)

    def resume_writing(self) -> None:
        """Sets the next deadline after the client has read most of the response."""
        super().resume_writing()
        self._restart_timeout()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the parser's message is not useful
        """Responds to malformed data with a JSON error. The default of uvicorn is plain text."""
        self._refuse(
            StructuredError(
                400,
                "the server cannot accept the request: the request line, a header or the body framing is not valid "
                "HTTP/1.1, or exceeds a limit",
                fix="Check the method, the URL (at most 64 KiB), Content-Length and the headers (at most "
                f"{MAX_HEADERS}). Send at most {MAX_PIPELINED_REQUESTS} requests without a response on one connection.",
            )
        )

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._current = cycle
        super()._start_asgi_task(cycle, app)

    @property
    def _served(self) -> RequestResponseCycle | None:
        """The request whose response is incomplete, or None."""
        cycle = self._current
        return None if cycle is None or cycle.response_complete else cycle

    def _wait(self, seconds: float) -> None:
        self._deadline = self.loop.time() + seconds

    def _restart_timeout(self) -> None:
        if self.transport.is_closing():
            self._wait(LINGER_S)
        elif (cycle := self._served) is not None:
            self._wait(self.body_s if cycle.more_body else float("inf"))
        else:
            self._wait(self.timeout_keep_alive)

    def _time_out(self) -> None:
        cycle = self._served
        if self.flow.write_paused or (cycle is not None and (cycle.response_started or not cycle.more_body)):
            self.transport.abort()  # the client does not read the response
        elif cycle is None and not self._in_head:
            self.close()  # the client sends no request
        else:
            what, seconds = ("body", self.body_s) if cycle is not None else ("headers", self.head_s)
            self._refuse(
                StructuredError(
                    408,
                    f"the {what} of the request did not arrive within {seconds:g} seconds",
                    fix=f"Send the {what} faster, within {seconds:g} seconds.",
                    headers={"Connection": "close"},
                )
            )

    def _refuse(self, refusal: StructuredError) -> None:
        """Sends an error response instead of the application's response, and closes the connection.

        If the response to an earlier request is in progress, sends only the rest of that response before the close.
        """
        self.is_refused = True
        self._unset_keepalive_if_required()
        cycle = self._served
        self.pipeline.clear()
        if cycle is not None:
            if cycle.response_started or not cycle.more_body:
                # An earlier request on this connection is still in progress. Close the connection after its response.
                cycle.keep_alive = False
                self._wait(float("inf"))
                self.flow.pause_reading()
                return
            cycle.disconnected = True  # the application then detects that the caller has disconnected
            cycle.message_event.set()
        answer = self.answers.minimal_response(refusal)
        head = b"".join(b"%b: %b\r\n" % header for header in answer.raw_headers if header[0] != b"connection")
        self.transport.write(
            b"HTTP/1.1 %d %b\r\n%bconnection: close\r\n\r\n%b"
            % (refusal.status, _REASONS[refusal.status], head, bytes(answer.body))
        )
        self._wait(LINGER_S)
        # The client must close first, because a close with unread bytes resets the connection, and the response is
        # lost.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def eof_received(self) -> None:
        """Handles the end of the client's data. The return value None closes the transport."""


_REASONS: Final = {
    400: b"Bad Request",
    408: b"Request Timeout",
    431: b"Request Header Fields Too Large",
    503: b"Service Unavailable",
}


def limited(limit: int, answers: Answers) -> type[Connection]:
    """Returns the connection class for a server.

    Args:
        limit: Maximum number of concurrent connections.
        answers: Factory of error responses.
    """
    return type("LimitedConnection", (Connection,), {"limit": limit, "answers": answers})


async def watch(connections: Collection[Connection]) -> None:
    """Checks the deadlines of connections every half second, until the task is cancelled.

    The function responds with 408 to an incomplete request, and closes each connection whose deadline has passed.

    Args:
        connections: The open connections of the server. The server adds and removes connections.
    """
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_LOOK_S)
        now = loop.time()
        for connection in list(connections):
            connection.look(now)
