"""Emulators in a browser page, which clients call in the same process, since there are no sockets.

Each has an address that does not exist in a network. Synchronous calls wait with JavaScript Promise Integration (JSPI).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

T = TypeVar("T")
App = Callable[..., Awaitable[None]]

NO_JSPI: Final = (
    "this browser lacks JavaScript Promise Integration, so a cell cannot wait for an answer. "
    "Use a current Chrome or Edge, or svcnb.AsyncClient with await"
)

_apps: dict[str, App] = {}
_numbers = count(8001)


class Answered(NamedTuple):
    """Response of an application.

    Attributes:
        status: HTTP status.
        headers: Names and values.
        content: The body.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes


class Nowhere(ConnectionError):
    """No emulator of this page has the address."""


def new_address() -> str:
    """Returns an address for an emulator of this page."""
    return f"http://localhost:{next(_numbers)}"


def register(base_url: str, app: App) -> None:
    """Registers the application that handles requests to an address.

    Args:
        base_url: The result of `new_address`.
        app: An ASGI application.
    """
    _apps[base_url] = app


def unregister(base_url: str) -> None:
    """Reverses `register`. May be called twice."""
    _apps.pop(base_url, None)


def wait(awaitable: Awaitable[T]) -> T:
    """Waits for an awaitable in synchronous code of a page.

    Raises:
        RuntimeError: The browser does not support this.
    """
    from pyodide.ffi import can_run_sync, run_sync

    if not can_run_sync():
        close = getattr(awaitable, "close", None)
        if close is not None:
            close()
        raise RuntimeError(NO_JSPI)
    found: T = run_sync(awaitable)
    return found


async def answer(
    method: str, url: str, headers: Mapping[str, str] | list[tuple[bytes, bytes]], content: bytes, timeout_s: float
) -> Answered:
    """Sends a request to an emulator of this page.

    Args:
        method: HTTP method.
        url: Its address, with path and query.
        headers: Header fields.
        content: The body.
        timeout_s: Seconds to wait for the whole response.

    Raises:
        Nowhere: No emulator of this page has the address.
        TimeoutError: It took too long.
    """
    parts = urlsplit(url)
    app = _apps.get(f"{parts.scheme}://{parts.netloc}")
    if app is None:
        raise Nowhere(f"nothing answers at {parts.scheme}://{parts.netloc}")
    fields = headers if isinstance(headers, list) else [(k.lower().encode(), v.encode()) for k, v in headers.items()]
    if not any(name.lower() == b"host" for name, _ in fields):
        fields = [*fields, (b"host", parts.netloc.encode())]
    fields = [*fields, (b"content-length", str(len(content)).encode())] if content else fields
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": parts.scheme,
        "path": unquote(parts.path) or "/",
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in fields],
        "client": ("127.0.0.1", 0),
        "server": (parts.hostname, parts.port or 80),
        "state": {},
    }
    exchange = _Exchange(content)
    async with asyncio.timeout(timeout_s):
        await app(scope, exchange.receive, exchange.send)
    return Answered(exchange.status, exchange.headers, b"".join(exchange.parts))


class _Exchange:
    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []

    async def receive(self) -> MutableMapping[str, Any]:
        content, self._content = self._content, None
        if content is None:
            await asyncio.Event().wait()  # the caller waits for its response and does not disconnect
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            self.parts.append(bytes(message.get("body", b"")))
