"""Plain HTTP to this machine, over the standard library.

httpx takes 0.5 ms of processor time for a call, and before each it looks at every connection that it keeps, so that a
batch of sixteen runs at once pays as much again. An emulator on this machine answers faster than that.
"""

from __future__ import annotations

import logging
import select
import socket
import time
from collections import deque
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx

from svcnb.client.calls import Answer, Request

_LOG = logging.getLogger("svcnb.client")
_KEPT: Final = 32
_KEPT_S: Final = 30.0


class Loopback:
    """Connections to one port of this machine, kept alive; may be used from several threads.

    It knows no proxies, redirections, cookies, compression or TLS. Failures are those of httpx.

    Args:
        host: Host name or address.
        port: TCP port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._idle: deque[tuple[HTTPConnection, float]] = deque()
        self._closed = False

    def send(self, request: Request) -> Answer:
        """Sends one request.

        Raises:
            httpx.HTTPError: No complete answer came.
            RuntimeError: It is closed.
        """
        if self._closed:
            raise RuntimeError("its connections were closed")
        sent_at, begun = time.time(), time.perf_counter()
        connection = self._kept() or self._connected(min(request.connect_timeout, request.timeout))
        try:
            connection.sock.settimeout(request.timeout)
            connection.request(request.method, _target(request.url), request.content, dict(request.headers))
            response = connection.getresponse()
            content = response.read()
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout(str(error)) from error
            if isinstance(error, (OSError, HTTPException)):
                raise httpx.RemoteProtocolError(str(error)) from error
            if isinstance(error, ValueError):
                # Not its text: that shows the header, which may be the key.
                raise httpx.LocalProtocolError("a header cannot be sent") from None
            raise
        elapsed = time.perf_counter() - begun
        self._keep(connection)
        _LOG.debug("%s %s %d", request.method, urlsplit(request.url).path, response.status)
        return Answer(response.status, _by_name(response.getheaders()), content, sent_at, elapsed)

    def close(self) -> None:
        """Closes the connections that nobody uses; the others end with their calls."""
        self._closed = True
        while self._idle:
            self._idle.pop()[0].close()

    def _kept(self) -> HTTPConnection | None:
        while self._idle:
            try:
                connection, since = self._idle.pop()  # the one used last
            except IndexError:
                return None  # another thread took it
            # What can be read before anything was asked is the end of the connection.
            if time.monotonic() - since < _KEPT_S and not _readable(connection.sock):
                return connection
            connection.close()
        return None

    def _connected(self, timeout_s: float) -> HTTPConnection:
        connection = HTTPConnection(self._host, self._port, timeout=timeout_s)
        try:
            connection.connect()
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection

    def _keep(self, connection: HTTPConnection) -> None:
        if connection.sock is None:  # the answer said that it closes
            return
        if self._closed or len(self._idle) >= _KEPT:
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))


def simple(url: str) -> SplitResult | None:
    """The parts of an address that `Loopback` can ask as it stands, None for any other."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        return None
    try:
        parts = urlsplit(url)
        plain = parts.scheme == "http" and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # no such port, no such address
        return None
    return parts if plain else None


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for spelled, value in pairs:
        name = spelled.lower()
        values[name] = f"{values[name]}, {value}" if name in values else value
    return values


def _target(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _readable(sock: socket.socket) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
