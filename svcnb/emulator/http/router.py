"""Finding the endpoint of a path: a dictionary for fixed paths, patterns for the few with parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.endpoint import Endpoint

if TYPE_CHECKING:
    from svcnb.emulator.service import Service

_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Mount:
    """Everything below a path, served by an ASGI application of its own.

    Attributes:
        prefix: Path without a slash at its end.
        app: Gets the scope unchanged.
    """

    prefix: str
    app: ASGIApp


class Router:
    """All endpoints of an emulator.

    Args:
        service: The emulator, handed to every call.
        endpoints: The rows.
        mounts: Applications for everything else, first match wins.
    """

    def __init__(self, service: Service, endpoints: Iterable[Endpoint], mounts: Iterable[Mount] = ()) -> None:
        self._service = service
        self._mounts = tuple(mounts)
        self._fixed: dict[str, dict[str, Endpoint]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Endpoint]]] = []
        by_pattern: dict[str, dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            table = by_pattern if "{" in endpoint.path else self._fixed
            methods = table.setdefault(endpoint.path, {})
            if endpoint.method in methods:
                raise ValueError(f"{endpoint.method} {endpoint.path} is defined twice")
            methods[endpoint.method] = endpoint
        for path, methods in by_pattern.items():
            self._patterns.append((re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", path) + r"\Z"), methods))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        path = scope["path"]
        methods = self._fixed.get(path)
        if methods is None:
            methods = self._match(path, scope)
        if methods is None:
            for mount in self._mounts:
                if path == mount.prefix or path.startswith(mount.prefix + "/"):
                    await mount.app(scope, receive, send)
                    return
            raise _no_such_endpoint(scope)
        endpoint = methods.get(scope["method"]) or _for_head(methods, scope)
        if endpoint is None:
            raise _wrong_method(scope, methods)
        response: Response = await endpoint.handle(self._service, Request(scope, receive))
        await response(scope, receive, send)

    def _match(self, path: str, scope: Scope) -> dict[str, Endpoint] | None:
        for pattern, methods in self._patterns:
            if found := pattern.match(path):
                scope["path_params"] = found.groupdict()
                return methods
        return None


def _for_head(methods: dict[str, Endpoint], scope: Scope) -> Endpoint | None:
    # HEAD must change nothing, so the deprecated GET that creates a wallet is not reached by it.
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
