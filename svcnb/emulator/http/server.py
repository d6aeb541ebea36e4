"""HTTP server, which runs uvicorn on the emulator's socket, without uvicorn's signal handling."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Final, cast

import uvicorn

from svcnb.emulator.http.body import BodyBudget
from svcnb.emulator.http.connection import Connection, connection_limit, limited, watch
from svcnb.emulator.http.middleware import Middleware

_GRACE_S: Final = 5
_KEEP_ALIVE_S: Final = 75


class Server:
    """HTTP server for an application on a listening socket.

    Args:
        app: ASGI application that handles the requests.
    """

    def __init__(self, app: Middleware) -> None:
        self._app = app
        config = uvicorn.Config(
            BodyBudget(app),
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
            listener: Listening socket.
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
        """Ends `run`. Requests in progress have 5 seconds to finish, and then receive 503.

        A second call ends the requests immediately.
        """
        self._app.stopping = True
        if self._server.should_exit:
            self._server.force_exit = True
        self._server.should_exit = True


class _Quiet(uvicorn.Server):
    on_listening: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Calls `on_listening` when the server accepts requests."""
        await super().startup(sockets)
        if self.started:
            self.on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Disables uvicorn's signal handling.

        Otherwise, uvicorn would raise the signal again after the server has stopped. The process would then end before
        it stops its child processes.
        """
        yield
