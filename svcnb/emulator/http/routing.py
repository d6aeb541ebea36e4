"""Endpoints of the API, the router that finds the endpoint of a request, and the dispatcher that runs the endpoint.

Each package of the emulator defines an `Endpoint` for each of its paths. The dispatcher runs the guards, the body
checks and the handler of the endpoint, and then charges the account.

The router uses a dictionary for fixed paths, and regular expressions for paths with parameters. At the start, the
router contains only the endpoints needed to create an account and run an action. The first request for any other path
loads the other endpoints. This package has its own router, because Starlette's router cannot load endpoints later.
Starlette's router also compares a path with all routes in sequence, which takes 0.1 milliseconds for this service.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, Protocol

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.http.answers import answered
from svcnb.emulator.http.body import ToleratedRequests, is_json, parse, read_bytes, require_plain, validate, wrong_type
from svcnb.emulator.platform.offload import LARGE_BYTES, current_account, offload

_PARAMETER = re.compile(r"\{(\w+)\}")
_SHOWN: Final = 200
_LOG = logging.getLogger(__name__)


class Caller(NamedTuple):
    """Key of a request, and the account to which the key belongs.

    Attributes:
        key_hash: Hash of the key, which identifies the key in the contract.
        master_hash: Hash of the account key, which identifies the account.
        is_master: Whether the key is the account key, or the caller is the admin wallet. False for a usage key.
        managed: Whether the account is in API mode.
        admin_address: Address of the account's admin wallet, in lowercase.
        billing_wallet: Address of the wallet that identifies the paying account, in lowercase.
        expiration: Unix seconds at which a usage key expires. 0 means never.
    """

    key_hash: int
    master_hash: int
    is_master: bool
    managed: bool
    admin_address: str
    billing_wallet: str
    expiration: int = 0

    @property
    def key_hash_hex(self) -> str:
        """Hash of the key as ``0x`` and 64 hex digits."""
        return f"0x{self.key_hash:064x}"


class Hold(Protocol):
    """Credit reserved for one call."""

    @property
    def cents(self) -> int:
        """The reserved amount, in cents."""
        ...

    async def grow(self, cents: int) -> None:
        """Increases the reserved amount to ``cents`` in total."""

    async def settle(self, cents: int, *, reason: str, request_id: str) -> int:
        """Charges the call and ends the hold. Returns the new credit of the account, in cents."""
        ...

    def release(self) -> None:
        """Ends the hold without a charge. Repeated calls have no effect."""


class Call:
    """One request, which its guards and its handler receive.

    Args:
        endpoint: The endpoint that matches the request.
        request: The HTTP request.

    Attributes:
        path: Values of the path parameters.
        headers: Headers to add to the response.
        hold: Credit reserved for this call, or None for a free call.
        price_cents: The price of a successful call, in cents. The initial value is the endpoint's price. A handler can
            set a different price for this call.
    """

    __slots__ = ("_caller", "endpoint", "headers", "hold", "path", "price_cents", "request")

    def __init__(self, endpoint: Endpoint, request: Request) -> None:
        self.endpoint = endpoint
        self.request = request
        self.path: dict[str, str] = request.scope.get("path_params", {})
        self.headers: dict[str, str] = dict(endpoint.headers)
        self.hold: Hold | None = None
        self.price_cents = endpoint.price_cents
        self._caller: Caller | None = None

    @property
    def caller(self) -> Caller:
        """The caller, whose key a guard has resolved. Without such a guard, the property raises a `RuntimeError`."""
        if self._caller is None:
            raise RuntimeError(f"{self.endpoint.path} needs the caller, but none of its guards resolves the caller")
        return self._caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self._caller = caller
        current_account.set(caller.billing_wallet)

    @property
    def known_caller(self) -> Caller | None:
        """The caller, or None if no guard has resolved a key."""
        return self._caller

    @property
    def request_id(self) -> str:
        """The request id, as in the response header X-Request-Id."""
        return str(self.request.scope["request_id"])


class Guard(NamedTuple):
    """Check that runs before the server reads the body.

    Attributes:
        check: Function that raises a `ServiceError` to reject the request.
        statuses: HTTP statuses of the guard's errors.
        schemes: Names of the security schemes that the guard accepts. One of them is sufficient.
    """

    check: Callable[[Call], Awaitable[None]]
    statuses: frozenset[int] = frozenset()
    schemes: tuple[str, ...] = ()


API: Final = "/core/v1"
"""Prefix of the API's paths (docs/service/index.md#versioning)."""

Handler = Callable[[Call, Any], Awaitable[object]]


@dataclass(frozen=True)
class Endpoint:
    """Endpoint of the API.

    Attributes:
        method: HTTP method.
        path: Full path, in which ``{name}`` matches one segment.
        handler: Function that receives the call and the validated body (or query, or None). The function
            returns the response body or a Response.
        request: Type of the JSON body, or None for an endpoint without a body.
        query: Model of the query string, or None for an endpoint without query parameters.
        response: Type of the response body, for the OpenAPI description.
        guards: Checks that run before the server reads the body, in order.
        answers_for: Guards whose checks the handler itself performs, for the OpenAPI description.
        price_cents: The price of a successful call in cents, charged after the handler returns.
        errors: HTTP statuses of the handler's own errors.
        error_body: Model of the handler's own errors, or None if they are JSON strings.
        any_body: Whether the endpoint also accepts a text body or no body, for the OpenAPI description.
        reads_itself: Whether the handler reads body and query itself. The types of body and query are then only for
            the OpenAPI description.
        schemes: Security schemes that the handler checks, for the OpenAPI description.
        status: HTTP status of success, for the OpenAPI description.
        headers: Headers of all successful responses.
        deprecated: Whether the OpenAPI description marks the endpoint as deprecated.
        described: Whether the OpenAPI description contains the endpoint.
        tag: Heading of the endpoint in the OpenAPI description.
    """

    method: str
    path: str
    handler: Handler
    request: Any = None
    query: Any = None
    response: Any = None
    guards: tuple[Guard, ...] = ()
    answers_for: tuple[Guard, ...] = ()
    price_cents: int = 0
    errors: frozenset[int] = frozenset()
    error_body: Any = None
    any_body: bool = False
    reads_itself: bool = False
    schemes: tuple[str, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    deprecated: bool = False
    described: bool = True
    tag: str = ""

    @cached_property
    def body_adapter(self) -> TypeAdapter[Any]:
        """Validator of the JSON body, for the type in ``request``."""
        return TypeAdapter(self.request)

    @cached_property
    def query_adapter(self) -> TypeAdapter[Any]:
        """Validator of the query string, for the model in ``query``."""
        return TypeAdapter(self.query)

    @property
    def all_guards(self) -> tuple[Guard, ...]:
        """The guards that run before the handler, then the guards whose checks the handler itself performs."""
        return self.guards + self.answers_for


@dataclass(frozen=True, eq=False)
class Dispatcher:
    """Dispatcher of requests to the handlers of their endpoints.

    Attributes:
        tolerated: Counts of accepted requests that the live service rejects.
        exact_types: Whether to reject requests whose JSON types or fields the live service rejects.
        max_body_bytes: Maximum size of a body, in bytes.
    """

    tolerated: ToleratedRequests
    exact_types: bool
    max_body_bytes: int

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """Runs the guards, the body checks and the handler, then charges the account. Returns the response.

        Source: docs/service/http.md#order-of-checks.

        Raises:
            ServiceError: A guard, a check or the handler rejects the request.
        """
        call = Call(endpoint, request)
        if endpoint.request is not None and endpoint.described and not endpoint.reads_itself and not is_json(request):
            if self.exact_types:
                raise wrong_type(request)
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
        strict, tolerated = self.exact_types and endpoint.described, set[str]()
        if endpoint.query is not None:
            members = dict(call.request.query_params)
            given = validate(endpoint.query_adapter, members, strict=strict, where="query string", tolerated=tolerated)
        elif endpoint.request is not None:
            require_plain(call.request)
            data = await read_bytes(call.request, self.max_body_bytes)
            value = await parse(data)
            check = partial(validate, endpoint.body_adapter, value, strict=strict, tolerated=tolerated)
            given = await offload(check) if len(data) > LARGE_BYTES else check()
        else:
            return None
        self._count_tolerated(endpoint, tolerated)
        return given

    def _count_tolerated(self, endpoint: Endpoint, forms: set[str]) -> None:
        if endpoint.described:
            self.tolerated.note(endpoint.method, endpoint.path, forms)


async def _charge(call: Call, hold: Hold) -> None:
    try:
        await hold.settle(call.price_cents, reason=call.endpoint.path.rpartition("/")[2], request_id=call.request_id)
    except Unavailable:
        # Ignore the failure, because the effect of the call is permanent. The status 503 means that a call had no
        # effect.
        _LOG.warning("request %s succeeded but could not be charged", call.request_id, exc_info=True)


class Router:
    """Router for all endpoints of an emulator.

    Args:
        dispatcher: Dispatcher that handles a request for an endpoint.
        endpoints: The endpoints that are available from the start.
        others: Function that loads all other endpoints. The router calls it in a thread, until one call succeeds.
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
        """Sends the response of the request's endpoint. Raises error 404 or 405 if no endpoint matches the request."""
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
        f"there is no endpoint {scope['method'][:_SHOWN]} {scope['path'][:_SHOWN]}",
        fix="Check the path, or the base_url of the client: the API is under /core/v1. /core/v1/openapi.json lists the "
        "endpoints of the API.",
    )


def _wrong_method(scope: Scope, methods: dict[str, Endpoint]) -> StructuredError:
    allowed = ", ".join(sorted(methods))
    return StructuredError(
        405,
        f"{scope['path'][:_SHOWN]} does not support {scope['method'][:_SHOWN]}",
        fix=f"Use the method {allowed.replace(', ', ' or ')}.",
        headers={"Allow": allowed},
    )
