"""Router: a dictionary for fixed paths, patterns for the few with parameters.

Endpoints that a first call does not need are loaded with the first request for a path that is not among the others.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.dispatch import Dispatcher
from svcnb.emulator.http.endpoint import Endpoint

_PARAMETER = re.compile(r"\{(\w+)\}")


class Mount(NamedTuple):
    """An ASGI application that serves everything below a path.

    Attributes:
        prefix: Path without a slash at its end.
        app: Receives the scope unchanged.
    """

    prefix: str
    app: ASGIApp


class Router:
    """All endpoints of an emulator.

    Args:
        dispatcher: Answers a request by its endpoint.
        endpoints: The endpoints.
        mounts: Applications for everything else, first match wins.
        others: Creates the endpoints that may come later. It is called once, in a thread.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        endpoints: Iterable[Endpoint],
        mounts: Iterable[Mount] = (),
        others: Callable[[], Iterable[Endpoint]] | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._mounts = tuple(mounts)
        self._others = others
        self._coming: asyncio.Task[None] | None = None
        self._fixed: dict[str, dict[str, Endpoint]] = {}
        self._patterns: dict[re.Pattern[str], dict[str, Endpoint]] = {}
        self._add(endpoints)

    def _add(self, endpoints: Iterable[Endpoint]) -> None:
        for endpoint in endpoints:
            methods = self._methods_of(endpoint.path)
            if endpoint.method in methods:
                raise ValueError(f"{endpoint.method} {endpoint.path} is defined twice")
            methods[endpoint.method] = endpoint

    def _methods_of(self, path: str) -> dict[str, Endpoint]:
        if "{" not in path:
            return self._fixed.setdefault(path, {})
        return self._patterns.setdefault(re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", path) + r"\Z"), {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        methods = self._match(scope)
        endpoint = _choose(methods, scope)
        if endpoint is None and self._others is not None:
            await self._complete(self._others)
            methods = self._match(scope)
            endpoint = _choose(methods, scope)
        if endpoint is not None:
            response: Response = await self._dispatcher.answer(endpoint, Request(scope, receive))
            await response(scope, receive, send)
            return
        if methods:
            raise _wrong_method(scope, methods)
        path = scope["path"]
        for mount in self._mounts:
            if path == mount.prefix or path.startswith(mount.prefix + "/"):
                await mount.app(scope, receive, send)
                return
        raise _no_such_endpoint(scope)

    async def _complete(self, others: Callable[[], Iterable[Endpoint]]) -> None:
        if self._coming is None:
            self._coming = asyncio.create_task(self._load(others), name="svcnb-endpoints")
        # Shielded: cancelling one caller must not cancel the endpoints for which others wait.
        await asyncio.shield(self._coming)

    async def _load(self, others: Callable[[], Iterable[Endpoint]]) -> None:
        try:
            self._add(await asyncio.to_thread(others))
            self._others = None
        finally:
            self._coming = None

    def _match(self, scope: Scope) -> dict[str, Endpoint] | None:
        path = scope["path"]
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed
        for pattern, methods in self._patterns.items():
            if found := pattern.match(path):
                scope["path_params"] = found.groupdict()
                return methods
        return None


def _choose(methods: dict[str, Endpoint] | None, scope: Scope) -> Endpoint | None:
    return None if methods is None else methods.get(scope["method"]) or _for_head(methods, scope)


def _for_head(methods: dict[str, Endpoint], scope: Scope) -> Endpoint | None:
    # HEAD must change nothing, so it does not reach the deprecated GET that creates a wallet.
    endpoint = methods.get("GET") if scope["method"] == "HEAD" else None
    return None if endpoint is None or endpoint.price_cents else endpoint


def _no_such_endpoint(scope: Scope) -> StructuredError:
    return StructuredError(
        404,
        f"No endpoint {scope['method']} {scope['path']}.",
        fix="Check the path: the API is under /core/v1, and /core/v1/openapi.json lists every endpoint.",
    )


def _wrong_method(scope: Scope, methods: dict[str, Endpoint]) -> StructuredError:
    allowed = ", ".join(sorted(methods))
    return StructuredError(
        405,
        f"{scope['path']} does not take {scope['method']}.",
        fix=f"Use {allowed}.",
        headers={"Allow": allowed},
    )
