"""Entry points that start the emulator as an ASGI application or as a server on a port.

This module has few imports. `serve` first starts the processes of the chain and the engine, and loads the other modules
while these processes start.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING

from svcnb import control_tokens
from svcnb.emulator.platform.memory import MemoryKeeper, configure_allocator
from svcnb.emulator.settings import Settings

if TYPE_CHECKING:
    from svcnb.emulator.bootstrap import Bootstrap
    from svcnb.emulator.http.middleware import Middleware
    from svcnb.emulator.http.server import Server
    from svcnb.emulator.service import Service

_BACKLOG = 512


def build_app(service: Service) -> Middleware:
    """Returns the application of a service, and sets it as the application that executes the runs of triggers.

    Call this function on the event loop.

    Args:
        service: Components of the application. The components can start later, but must run before the first request.

    Returns:
        ASGI application that sends each request to its endpoint.
    """
    from svcnb.emulator.areas import make_app

    app = make_app(service)
    service.attach(app)
    return app


def serve(
    settings: Settings, on_ready: Callable[[dict[str, object]], None], listener: socket.socket | None = None
) -> None:
    """Runs an emulator until SIGTERM, SIGINT or the idle limit. The function then stops everything that it started.

    Args:
        settings: The emulator's settings.
        on_ready: Function to call with the URLs and the control token when the emulator accepts requests.
        listener: Listening socket to use instead of host and port. None means a new socket for host and port.

    Raises:
        OSError: The port is in use (``errno.EADDRINUSE``) or cannot be opened.
        StateUnusable: The stored state cannot be used.
        StartRefused: The chain does not start or does not respond.
        RootSecretUnusable: The root secret is damaged or does not belong to the state.
        ToolMissing: Deno, anvil or a JavaScript bundle is not installed.
    """
    configure_allocator()
    listener = listener or listen(settings.host, settings.port)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, listener, on_ready))
    except asyncio.CancelledError:
        pass  # the process received SIGTERM during the start
    finally:
        listener.close()


async def _serve(settings: Settings, listener: socket.socket, on_ready: Callable[[dict[str, object]], None]) -> None:
    from svcnb.emulator.platform.signals import Signals
    from svcnb.emulator.sandbox.engine import make_engine

    signals = Signals()
    if (start := asyncio.current_task()) is not None:
        signals.end_start(start)
    # Start the processes of the engine and the chain while the other modules load. The first process of the engine
    # needs the most time.
    async with AsyncExitStack() as on_failure:
        engine = make_engine(settings)
        on_failure.push_async_callback(engine.stop)
        await engine.prepare()
        bootstrap = await asyncio.to_thread(_begin, settings)
        on_failure.push_async_callback(bootstrap.stop)
        bootstrap.boot_node()
        make_service = await asyncio.to_thread(_load_service)
        service = make_service(settings, engine, bootstrap)
        on_failure.pop_all()
    service.listens_at(_url(listener))

    def is_busy() -> bool:
        return engine.state().running > 0

    cleanup = ExitStack()
    try:
        (app, server), _ = await asyncio.gather(asyncio.to_thread(_make_server, service), service.start())
        service.attach(app)
        signals.end_serving(server.stop)
        cleanup.callback(asyncio.create_task(MemoryKeeper(is_busy).run()).cancel)
        if settings.idle_stop_s is not None:
            from svcnb.emulator.platform.idle import stop_when_idle

            idle = stop_when_idle(service.quiesce, settings.idle_stop_s, server.stop, is_busy)
            cleanup.callback(asyncio.create_task(idle).cancel)
        await server.run(listener, lambda: on_ready(_announce(service, cleanup)))
    finally:
        cleanup.close()
        signals.wait_for_stop()
        await service.stop()


def _announce(service: Service, cleanup: ExitStack) -> dict[str, object]:
    """Returns the data for ``on_ready``: URLs, names and the control token.

    Saves a generated control token in a file for other programs of the same user.
    """
    if service.settings.control_token is None:
        file = control_tokens.save(service.address.url, service.control_token)
        cleanup.callback(control_tokens.delete, file)
    return service.addresses() | {"control_token": service.control_token}


def _begin(settings: Settings) -> Bootstrap:
    from svcnb.emulator.bootstrap import Bootstrap

    return Bootstrap(settings)


def _load_service() -> type[Service]:
    from svcnb.emulator.service import Service

    return Service


def _make_server(service: Service) -> tuple[Middleware, Server]:
    from svcnb.emulator.areas import make_app
    from svcnb.emulator.http.server import Server

    app = make_app(service)
    return app, Server(app)


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Call this function before anything else starts.

    If the port is in use, the start fails immediately, before it creates any files or processes.

    Raises:
        OSError: The port is in use (``errno.EADDRINUSE``), or the host or the port cannot be used.
        UnicodeError: A label of the host name is empty or too long.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns uvloop's event loop factory if uvloop is installed. None means Python's event loop."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
