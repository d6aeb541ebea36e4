"""One row of the interface: a method, a path, its guards, its shapes and what it does."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.http.answers import JSON_TYPE, answer
from svcnb.emulator.http.body import parse, read_bytes, require_plain, validate
from svcnb.emulator.platform.offload import current_account

if TYPE_CHECKING:
    from svcnb.emulator.access.caller import Caller
    from svcnb.emulator.billing.ledger import Hold
    from svcnb.emulator.service import Service


class Call:
    """One request on its way through guards and handler.

    Args:
        service: The emulator.
        endpoint: The row that matched.
        request: The HTTP request.

    Attributes:
        path: Values of the path's parameters.
        headers: Headers to add to the answer.
        hold: Credit set aside for this call, None when it is free.
        price_cents: What success costs; a handler may set another price than its row's.
    """

    __slots__ = ("_caller", "endpoint", "headers", "hold", "path", "price_cents", "request", "service")

    def __init__(self, service: Service, endpoint: Endpoint, request: Request) -> None:
        self.service = service
        self.endpoint = endpoint
        self.request = request
        self.path: dict[str, str] = request.scope.get("path_params", {})
        self.headers: dict[str, str] = dict(endpoint.headers)
        self.hold: Hold | None = None
        self.price_cents = endpoint.price_cents
        self._caller: Caller | None = None

    @property
    def caller(self) -> Caller:
        """Who calls, after a guard resolved the key."""
        if self._caller is None:
            raise RuntimeError(f"{self.endpoint.path} asks who calls and has no guard that finds out")
        return self._caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self._caller = caller
        current_account.set(caller.billing_wallet)

    @property
    def known_caller(self) -> Caller | None:
        """Who calls, or None when no guard resolved a key."""
        return self._caller

    @property
    def request_id(self) -> str:
        """The id that the answer carries as X-Request-Id."""
        return str(self.request.scope["request_id"])


class Guard(NamedTuple):
    """A check before the body is read.

    Attributes:
        check: Raises a `ServiceError` to refuse.
        statuses: Statuses it may refuse with.
        schemes: Names of the security schemes that it accepts, any one of them.
    """

    check: Callable[[Call], Awaitable[None]]
    statuses: frozenset[int] = frozenset()
    schemes: tuple[str, ...] = ()


_LOG = logging.getLogger(__name__)

API: Final = "/core/v1"
"""Where the specification's paths begin (specification 9.1)."""

Handler = Callable[[Call, Any], Awaitable[object]]


@dataclass(frozen=True)
class Endpoint:
    """One row of the interface.

    Attributes:
        method: HTTP method.
        path: Full path; ``{name}`` stands for one segment.
        handler: Gets the call and the checked body (or query, or None) and returns the answer's body, or a Response.
        request: Type of the JSON body, None when no body is read.
        query: Model of the query string, None when it is not looked at.
        response: Type of the answer's body, for the description.
        guards: Checks before the body is read, in order.
        answers_for: Guards whose check the handler makes itself, later; for the description.
        price_cents: What success costs; settled after the handler returned.
        errors: Statuses that the handler itself may answer with, as JSON strings or as `error_body`.
        error_body: Model of the handler's own failures; None when they are JSON strings.
        any_body: Whether text does as a body too, and none at all; for the description.
        reads_itself: Whether the handler reads body and query itself; their types are then for the description alone.
        schemes: Security schemes that the handler looks at itself; for the description.
        status: Status of success; for the description.
        headers: Headers of every successful answer.
        deprecated: Whether the description marks it so.
        described: Whether it stands in the description.
        tag: Its heading in the description.
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

    @property
    def summary(self) -> str:
        """First line of the handler's docstring."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[0]

    @cached_property
    def _body_adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.request)

    @cached_property
    def _query_adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.query)

    @property
    def all_guards(self) -> tuple[Guard, ...]:
        """Every check, whoever makes it."""
        return self.guards + self.answers_for

    async def handle(self, service: Service, request: Request) -> Response:
        """Runs guards, body checks, handler and settlement, in the order of reference facts 2.1.

        Raises:
            ServiceError: Whatever refuses the call.
        """
        call = Call(service, self, request)
        if self.request is not None and self.described and not self.reads_itself and not _is_json(request):
            if service.settings.exact_types:
                raise _no_such_type(request)
            service.forgiven.note(self, {"a body without the header Content-Type: application/json"})
        try:
            for guard in self.guards:
                await guard.check(call)
            result = await self.handler(call, await self._given(call))
            if call.hold is not None and call.price_cents:
                await _settle(call, call.hold)
        finally:
            if call.hold is not None:
                call.hold.release()
        if isinstance(result, Response):
            result.headers.update(call.headers)
            return result
        return answer(result, headers=call.headers)

    async def _given(self, call: Call) -> Any:
        if self.reads_itself:
            return None
        settings = call.service.settings
        strict, forgiven = settings.exact_types and self.described, set[str]()
        if self.query is not None:
            members = dict(call.request.query_params)
            given = validate(self._query_adapter, members, strict=strict, where="query string", forgiven=forgiven)
            call.service.forgiven.note(self, forgiven)
            return given
        if self.request is not None:
            require_plain(call.request)
            data = await read_bytes(call.request, settings.max_body_bytes)
            given = validate(self._body_adapter, await parse(data), strict=strict, forgiven=forgiven)
            call.service.forgiven.note(self, forgiven)
            return given
        return None


async def _settle(call: Call, hold: Hold) -> None:
    try:
        await hold.settle(call.price_cents, reason=call.endpoint.path.rpartition("/")[2], request_id=call.request_id)
    except Unavailable:
        # The effect cannot be taken back, and a 503 would tell the caller that nothing happened: it stays unpaid.
        _LOG.warning("request %s succeeded and could not be charged", call.request_id, exc_info=True)


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


def _no_such_type(request: Request) -> StructuredError:
    content_type = request.headers.get("content-type", "")
    return StructuredError(
        404,
        f"No endpoint {request.method} {request.url.path} takes the content type {content_type or 'none'}.",
        fix=f"Send the header Content-Type: {JSON_TYPE}.",
    )
