"""Registry of the emulators in a browser page.

A page has no sockets, so clients call the emulator in the same process. Each emulator has an address that exists only
in the page. Synchronous calls wait with JavaScript Promise Integration (JSPI).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import unquote, urlsplit

from svcnb.protocol.in_page import IN_PAGE

T = TypeVar("T")
App = Callable[..., Awaitable[None]]

NO_JSPI: Final = (
    "this browser does not support JavaScript Promise Integration, so a cell cannot wait for a response. "
    "Use a current version of Chrome or Edge, or use svcnb.AsyncClient with await."
)

_apps: dict[str, App] = {}
_numbers = count(8001)


class ApplicationResponse(NamedTuple):
    """Response of an ASGI application in this process.

    Attributes:
        status: HTTP status.
        headers: Names and values of the header fields.
        content: Body of the response.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes


class EmulatorNotFound(ConnectionError):
    """Error for an address that does not belong to an emulator in this page."""


def new_address() -> str:
    """Returns a new address for an emulator in this page."""
    return f"http://localhost:{next(_numbers)}"


def register(base_url: str, app: App) -> None:
    """Registers the ASGI application that handles requests to an address from `new_address`."""
    _apps[base_url] = app


def unregister(base_url: str) -> None:
    """Removes an address that `register` added. Repeated calls have no effect."""
    _apps.pop(base_url, None)


def wait(awaitable: Awaitable[T]) -> T:
    """Waits for an awaitable, and returns its result. For synchronous code in a browser page.

    Raises:
        RuntimeError: The browser does not support JSPI.
    """
    from pyodide.ffi import can_run_sync, run_sync

    if not can_run_sync():
        close = getattr(awaitable, "close", None)
        if close is not None:
            close()
        raise RuntimeError(NO_JSPI)
    found, error = run_sync(_outcome(awaitable))
    if error is not None:
        raise error
    return cast("T", found)


async def _outcome(awaitable: Awaitable[T]) -> tuple[T | None, Exception | None]:
    """Returns the result of an awaitable and None, or None and the exception.

    The coroutine does not raise the exception. Otherwise, the kernel would show the exception in the notebook, even if
    the cell catches it.
    """
    try:
        return await awaitable, None
    except Exception as error:  # noqa: BLE001 - the caller raises it
        return None, error


def pause(seconds: float) -> None:
    """Waits for a number of seconds. In a page, the emulator and the panels continue during the wait."""
    if IN_PAGE:
        wait(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


async def answer(
    method: str, url: str, headers: Mapping[str, str] | list[tuple[bytes, bytes]], content: bytes, timeout_s: float
) -> ApplicationResponse:
    """Sends a request to an emulator in this page, and returns the response.

    Args:
        method: HTTP method.
        url: Address of the emulator, with path and query.
        headers: Header fields.
        content: Body of the request.
        timeout_s: Seconds to wait for the whole response.

    Raises:
        EmulatorNotFound: No emulator in this page has the address.
        TimeoutError: The response was not complete after ``timeout_s`` seconds.
    """
    parts = urlsplit(url)
    app = _apps.get(f"{parts.scheme}://{parts.netloc}")
    if app is None:
        raise EmulatorNotFound(f"no emulator in this page has the address {parts.scheme}://{parts.netloc}")
    fields = headers if isinstance(headers, list) else [(k.lower().encode(), v.encode()) for k, v in headers.items()]
    async with asyncio.timeout(timeout_s):
        return await ask(app, method, url, fields, content)


async def ask(
    app: App, method: str, url: str, fields: list[tuple[bytes, bytes]], content: bytes
) -> ApplicationResponse:
    """Sends a request to an application in this process, and returns the response.

    Args:
        app: An ASGI application.
        method: HTTP method.
        url: Address of the application, with path and query.
        fields: Names and values of the header fields.
        content: Body of the request.

    Raises:
        ConnectionError: The application ended without a response.
    """
    parts = urlsplit(url)
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
    await app(scope, exchange.receive, exchange.send)
    if exchange.status is None:
        raise ConnectionError("the application ended without a response")
    return ApplicationResponse(exchange.status, exchange.headers, b"".join(exchange.parts))


class _Exchange:
    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content
        self.status: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []

    async def receive(self) -> MutableMapping[str, Any]:
        content, self._content = self._content, None
        if content is None:
            await asyncio.Event().wait()  # the caller waits for the response and never disconnects
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            self.parts.append(bytes(message.get("body", b"")))
