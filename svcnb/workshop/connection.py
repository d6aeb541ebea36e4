"""Limits for connections to the workshop server: their number, the header size, and the time for a complete request.

Learners connect over a network. Without these limits, uvicorn never closes a connection that sends no request.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from svcnb.protocol.limits import MAX_WORKSHOP_CONNECTIONS, MAX_WORKSHOP_HEAD_BYTES, WORKSHOP_REQUEST_TIMEOUT_S

_LINGER_S: Final = 5.0
_FULL: Final = (
    b'{"error":"refused","message":"too many connections are open: the server accepts at most %d connections",'
    b'"fix":"Try again in a few seconds."}' % MAX_WORKSHOP_CONNECTIONS
)
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(_FULL), _FULL)
)


class LimitedConnection(HttpToolsProtocol):
    """Connection that closes if a request does not arrive in time.

    If too many connections are open, the connection responds with status 503.
    """

    limit = MAX_WORKSHOP_CONNECTIONS
    arrival_s = WORKSHOP_REQUEST_TIMEOUT_S
    _deadline: asyncio.TimerHandle | None = None
    _is_refused = False
    _head_bytes: float = 0
    """Number of received header bytes of the current request. Minus infinity while its body arrives."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the time limit for the first request, or rejects the connection if too many connections are open."""
        super().connection_made(transport)
        if len(self.connections) <= self.limit:
            self._arrives_within(self.arrival_s)
            return
        self._is_refused = True
        transport.write(_REFUSAL)
        transport.write_eof()  # the client must close first, because a close with unread bytes discards the response
        self._arrives_within(_LINGER_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels the time limit of the current request."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses received bytes. Closes the connection if the headers have more than `MAX_WORKSHOP_HEAD_BYTES`."""
        if self._is_refused:
            return
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_WORKSHOP_HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Starts the time limit of each request after the first request on the connection."""
        super().on_message_begin()
        if self._deadline is None:
            self._arrives_within(self.arrival_s)

    def on_headers_complete(self) -> None:
        """Stops the count of header bytes, because the body follows."""
        super().on_headers_complete()
        self._head_bytes = -inf

    def on_message_complete(self) -> None:
        """Cancels the time limit, and resets the count of header bytes for the next request."""
        super().on_message_complete()
        self._head_bytes = 0
        self._arrived()

    def _arrives_within(self, seconds: float) -> None:
        self._arrived()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
