"""HTTP server, which runs uvicorn on the emulator's socket, and limits the memory for request bodies.

The server does not use uvicorn's signal handling.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.connection import Connection, connection_limit, limited, watch
from svcnb.emulator.http.middleware import Middleware
from svcnb.protocol.limits import MAX_BODIES_BYTES, MAX_BODIES_BYTES_PER_CALLER

PIECE_BYTES: Final = 128 * 1024
"""Size in bytes of the parts of a large response."""
_GRACE_S: Final = 5
_KEEP_ALIVE_S: Final = 75


class Server:
    """HTTP server for an application on a listening socket.

    Args:
        app: The application.
    """

    def __init__(self, app: Middleware) -> None:
        self._app = app
        config = uvicorn.Config(
            _CutOff(app, BodyBudget(app)),
            http=limited(connection_limit(app.max_connections), app),
            lifespan="off",
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=False,  # the application sets the Date header from the emulator's clock
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = _Quiet(config)

    async def run(self, listener: socket.socket, on_listening: Callable[[], None]) -> None:
        """Runs the server until `stop`.

        Args:
            listener: A bound socket.
            on_listening: Function to call when the server accepts requests.
        """
        self._server.on_listening = on_listening
        connections = cast("set[Connection]", self._server.server_state.connections)
        watcher = asyncio.create_task(watch(connections))
        try:
            await self._server.serve(sockets=[listener])
        finally:
            watcher.cancel()
        # Interrupted requests receive a response before the components that they use stop.
        if tasks := list(self._server.server_state.tasks):
            if self._server.force_exit:
                for task in tasks:
                    task.cancel()
            await asyncio.wait(tasks, timeout=_GRACE_S)

    def stop(self) -> None:
        """Waits a few seconds for requests in progress, responds to the others with 503, and ends `run`."""
        self._app.stopping = True
        if self._server.should_exit:
            self._server.force_exit = True
        self._server.should_exit = True


class _CutOff:
    """Middleware that responds with 503 to requests that the stop cancels. uvicorn would send 500 in plain text.

    Args:
        app: The application.
        budgeted: The application with the memory limit for bodies.
    """

    def __init__(self, app: Middleware, budgeted: ASGIApp) -> None:
        self.app = app
        self._budgeted = budgeted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def tracked(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            for number, piece in enumerate(_pieces(message)):
                if number:
                    await asyncio.sleep(0)  # a fast client reads megabytes without a pause
                await send(piece)

        try:
            await self._budgeted(scope, receive, tracked)
        except asyncio.CancelledError:
            if started or not self.app.stopping:
                raise
            await self.app.cut_off()(scope, receive, send)


def _pieces(message: Message) -> Iterator[Message]:
    """Splits a large body, because the transport copies unsent data in a single step of the event loop."""
    body = message.get("body", b"")
    for at in range(0, len(body) - PIECE_BYTES, PIECE_BYTES):
        yield {**message, "body": body[at : at + PIECE_BYTES], "more_body": True}
    rest = len(body) % PIECE_BYTES or PIECE_BYTES
    yield message if len(body) <= PIECE_BYTES else {**message, "body": body[-rest:]}


class _Quiet(uvicorn.Server):
    on_listening: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Calls `on_listening` when the server accepts requests."""
        await super().startup(sockets)
        if self.started:
            self.on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Disables uvicorn's signal handling, which would raise signals again before the stop of child processes."""
        yield


_CREDENTIALS: Final = frozenset({b"x-api-key", b"authorization", b"x-wallet-auth"})
_RETRY_AFTER_S: Final = 1


class BodyBudget:
    """Middleware that limits the memory for the received bodies of requests in progress.

    A single caller cannot use the whole budget. A credential identifies the caller. Requests without a credential share
    one part.

    Args:
        app: The application, which converts an error during the read of a body to a response.
        total: Maximum number of body bytes in memory.
        per_caller: Maximum number of body bytes in memory for one caller.
    """

    def __init__(
        self, app: ASGIApp, *, total: int = MAX_BODIES_BYTES, per_caller: int = MAX_BODIES_BYTES_PER_CALLER
    ) -> None:
        self._app = app
        self._total = total
        self._per_caller = per_caller
        self._held: Counter[int] = Counter()
        self._all = 0

    @property
    def held(self) -> int:
        """Number of body bytes of all requests in progress."""
        return self._all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = hash(tuple(value for name, value in scope["headers"] if name in _CREDENTIALS))
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            if size := len(message.get("body", b"")):
                self._take(caller, size)
                taken += size
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            self._give_back(caller, taken)

    def _take(self, caller: int, size: int) -> None:
        if self._all + size > self._total:
            raise _used_up(
                f"All requests in progress can have {self._total} bytes of bodies; this body exceeds the limit."
            )
        if self._held[caller] + size > self._per_caller:
            raise _used_up(
                f"One caller's requests in progress can have {self._per_caller} bytes of bodies; this body exceeds the "
                "limit."
            )
        self._held[caller] += size
        self._all += size

    def _give_back(self, caller: int, size: int) -> None:
        self._all -= size
        self._held[caller] -= size
        if self._held[caller] <= 0:
            del self._held[caller]


def _used_up(what: str) -> StructuredError:
    return StructuredError(
        503,
        what,
        fix=(
            "Wait until other requests have ended, or send smaller bodies. An action can fetch large data with an HTTP "
            "request."
        ),
        headers={"Retry-After": str(_RETRY_AFTER_S)},
    )
