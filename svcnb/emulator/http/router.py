"""Router, which finds the endpoint of a request, and dispatcher, which runs its guards, body checks and handler.

The router has a dictionary for fixed paths and patterns for paths with parameters. The first request for an unknown
path loads the endpoints that the first calls do not need. Starlette's router cannot load endpoints later. It also
compares a path with all routes in sequence, which takes 0.1 milliseconds for this service.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Set as AbstractSet
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.http.answers import JSON_TYPE, answered
from svcnb.emulator.http.body import is_json, parse, read_bytes, require_plain, validate
from svcnb.emulator.http.endpoint import Call, Endpoint, Hold
from svcnb.emulator.platform.offload import LARGE_BYTES, offload

_PARAMETER = re.compile(r"\{(\w+)\}")
_LOG = logging.getLogger(__name__)


class ToleratedRequests:
    """Counts of requests that the emulator accepts and the live service rejects, for each endpoint and deviation.

    `svcnb doctor` shows the record, so that users can correct a client before it uses the live service. With strict
    types, the emulator rejects such requests, and the record stays empty.
    """

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str, str]] = Counter()

    def note(self, method: str, path: str, forms: AbstractSet[str]) -> None:
        """Counts a request.

        Args:
            method: HTTP method of the request's endpoint.
            path: Path of the request's endpoint.
            forms: Short descriptions of the deviations that the live service rejects.
        """
        self._times.update((method, path, form) for form in forms)

    def entries(self) -> list[dict[str, Any]]:
        """Returns all counts, with method, path, deviation and number of requests."""
        return [
            {"method": method, "path": path, "form": form, "times": times}
            for (method, path, form), times in sorted(self._times.items())
        ]

    def clear(self) -> None:
        """Deletes all counts."""
        self._times.clear()


class Dispatcher:
    """Dispatcher of requests to the handlers of their endpoints.

    Args:
        tolerated: Record of accepted requests that the live service rejects.
        exact_types: Whether to reject the requests that the live service rejects.
        max_body_bytes: Maximum size of a body, in bytes.
    """

    def __init__(self, tolerated: ToleratedRequests, *, exact_types: bool, max_body_bytes: int) -> None:
        self._tolerated = tolerated
        self._exact_types = exact_types
        self._max_body_bytes = max_body_bytes

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """Runs guards, body checks, handler and settlement, in the order of docs/service/http.md#order-of-checks.

        Args:
            endpoint: The endpoint that matches the request.
            request: The HTTP request.

        Raises:
            ServiceError: A guard, a check or the handler rejects the request.
        """
        call = Call(endpoint, request)
        if endpoint.request is not None and endpoint.described and not endpoint.reads_itself and not is_json(request):
            if self._exact_types:
                raise _wrong_type(request)
            self._count_tolerated(endpoint, {"a body without the header Content-Type: application/json"})
        try:
            for guard in endpoint.guards:
                await guard.check(call)
            result = await endpoint.handler(call, await self._input(call))
            if call.hold is not None and call.price_cents:
                await _charge(call, call.hold)
        finally:
            if call.hold is not None:
                call.hold.release()
        if isinstance(result, Response):
            result.headers.update(call.headers)
            return result
        return await answered(result, headers=call.headers)

    async def _input(self, call: Call) -> Any:
        endpoint = call.endpoint
        if endpoint.reads_itself:
            return None
        strict, tolerated = self._exact_types and endpoint.described, set[str]()
        if endpoint.query is not None:
            members = dict(call.request.query_params)
            given = validate(endpoint.query_adapter, members, strict=strict, where="query string", tolerated=tolerated)
        elif endpoint.request is not None:
            require_plain(call.request)
            data = await read_bytes(call.request, self._max_body_bytes)
            value = await parse(data)
            check = partial(validate, endpoint.body_adapter, value, strict=strict, tolerated=tolerated)
            given = await offload(check) if len(data) > LARGE_BYTES else check()
        else:
            return None
        self._count_tolerated(endpoint, tolerated)
        return given

    def _count_tolerated(self, endpoint: Endpoint, forms: set[str]) -> None:
        if endpoint.described:
            self._tolerated.note(endpoint.method, endpoint.path, forms)


async def _charge(call: Call, hold: Hold) -> None:
    try:
        await hold.settle(call.price_cents, reason=call.endpoint.path.rpartition("/")[2], request_id=call.request_id)
    except Unavailable:
        # Ignore the failure, because the effect of the call is permanent. The status 503 means that a call had no
        # effect.
        _LOG.warning("request %s succeeded but could not be charged", call.request_id, exc_info=True)


def _wrong_type(request: Request) -> StructuredError:
    content_type = request.headers.get("content-type", "")
    return StructuredError(
        404,
        f"The content type of the request is {content_type[:60]!r}, but {request.method} {request.url.path} accepts "
        f"only {JSON_TYPE}.",
        fix=f"Send the header Content-Type: {JSON_TYPE}.",
    )


class Router:
    """Router for all endpoints of an emulator.

    Args:
        dispatcher: Dispatcher that handles a request for an endpoint.
        endpoints: The endpoints that are available from the start.
        others: Function that loads all other endpoints. The router calls it once, in a thread.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        endpoints: Iterable[Endpoint],
        others: Callable[[], Iterable[Endpoint]] | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._others = others
        self._loading: asyncio.Task[None] | None = None
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
        """Handles one request."""
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
        raise _no_such_endpoint(scope)

    async def _complete(self, others: Callable[[], Iterable[Endpoint]]) -> None:
        if self._loading is None:
            self._loading = asyncio.create_task(self._load(others), name="svcnb-endpoints")
        # Shield the task, because a cancellation of this caller must not affect other callers that wait for the
        # same endpoints.
        await asyncio.shield(self._loading)

    async def _load(self, others: Callable[[], Iterable[Endpoint]]) -> None:
        try:
            self._add(await asyncio.to_thread(others))
            self._others = None
        finally:
            self._loading = None

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
    # HEAD must not change anything, so do not route it to the deprecated GET endpoint that creates a wallet.
    endpoint = methods.get("GET") if scope["method"] == "HEAD" else None
    return None if endpoint is None or endpoint.price_cents else endpoint


def _no_such_endpoint(scope: Scope) -> StructuredError:
    return StructuredError(
        404,
        f"There is no endpoint {scope['method']} {scope['path']}.",
        fix="Check the path: the API is under /core/v1. /core/v1/openapi.json lists all endpoints.",
    )


def _wrong_method(scope: Scope, methods: dict[str, Endpoint]) -> StructuredError:
    allowed = ", ".join(sorted(methods))
    return StructuredError(
        405,
        f"{scope['path']} does not support {scope['method']}.",
        fix=f"Use the method {allowed.replace(', ', ' or ')}.",
        headers={"Allow": allowed},
    )
