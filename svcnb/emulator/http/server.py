"""HTTP server: uvicorn on a socket of the emulator, without its own signal handling."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svcnb.emulator.http.budget import BodyBudget
from svcnb.emulator.http.connection import Connection, connection_limit, limited, watch
from svcnb.emulator.http.middleware import Middleware

_GRACE_S: Final = 5
_KEEP_ALIVE_S: Final = 75


class Server:
    """Serves an application on a listening socket.

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
            date_header=False,  # the application sets it, by the emulator's clock
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = _Quiet(config)

    async def run(self, listener: socket.socket, on_listening: Callable[[], None]) -> None:
        """Serves until `stop`.

        Args:
            listener: A bound socket.
            on_listening: Called once requests are answered.
        """
        self._server.on_listening = on_listening
        connections = cast("set[Connection]", self._server.server_state.connections)
        watcher = asyncio.create_task(watch(connections))
        try:
            await self._server.serve(sockets=[listener])
        finally:
            watcher.cancel()
        # The interrupted requests are still answered. The parts that they use end after that.
        if tasks := list(self._server.server_state.tasks):
            if self._server.force_exit:
                for task in tasks:
                    task.cancel()
            await asyncio.wait(tasks, timeout=_GRACE_S)

    def stop(self) -> None:
        """Finishes requests under way for some seconds, answers 503 to the others, and ends `run`."""
        self._app.stopping = True
        if self._server.should_exit:
            self._server.force_exit = True
        self._server.should_exit = True


class _CutOff:
    """Answers requests that the server cancels when it stops; uvicorn would answer 500 in plain text.

    Args:
        app: The application.
        budgeted: The application behind the budget for bodies.
    """

    def __init__(self, app: Middleware, budgeted: ASGIApp) -> None:
        self.app = app
        self._budgeted = budgeted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def tracked(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._budgeted(scope, receive, tracked)
        except asyncio.CancelledError:
            if started or not self.app.stopping:
                raise
            await self.app.cut_off()(scope, receive, send)


class _Quiet(uvicorn.Server):
    on_listening: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Calls `on_listening` once requests are answered."""
        await super().startup(sockets)
        if self.started:
            self.on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Does not handle signals: uvicorn would raise them again at its end, before children are stopped."""
        yield
