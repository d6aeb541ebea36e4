"""Endpoint of the API: method, path, guards, types of its bodies, and its handler."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from pydantic import TypeAdapter
from starlette.requests import Request

from svcnb.emulator.http.caller import Caller
from svcnb.emulator.platform.offload import current_account


class Hold(Protocol):
    """Credit set aside for one call."""

    @property
    def cents(self) -> int:
        """The reserved amount."""

    async def grow(self, cents: int) -> None:
        """Reserves more."""

    async def settle(self, cents: int, *, reason: str, request_id: str) -> int:
        """Charges and ends the hold."""

    def release(self) -> None:
        """Ends the hold without a charge. May be called twice."""


class Call:
    """One request, as its guards and its handler see it.

    Args:
        endpoint: The endpoint that matched.
        request: The HTTP request.

    Attributes:
        path: Values of the path's parameters.
        headers: Headers to add to the answer.
        hold: Credit set aside for this call, None when it is free.
        price_cents: The price of a success; a handler may set another price than its endpoint's.
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
        """The caller, after a guard resolved the key."""
        if self._caller is None:
            raise RuntimeError(f"{self.endpoint.path} asks who calls and has no guard that finds out")
        return self._caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self._caller = caller
        current_account.set(caller.billing_wallet)

    @property
    def known_caller(self) -> Caller | None:
        """The caller, or None when no guard resolved a key."""
        return self._caller

    @property
    def request_id(self) -> str:
        """The id in the answer's X-Request-Id."""
        return str(self.request.scope["request_id"])


class Guard(NamedTuple):
    """A check before the body is read.

    Attributes:
        check: Raises a `ServiceError` to refuse.
        statuses: Statuses of its refusals.
        schemes: Names of the security schemes that it accepts, any one of them.
    """

    check: Callable[[Call], Awaitable[None]]
    statuses: frozenset[int] = frozenset()
    schemes: tuple[str, ...] = ()


API: Final = "/core/v1"
"""Where the specification's paths begin (specification 9.1)."""

Handler = Callable[[Call, Any], Awaitable[object]]


@dataclass(frozen=True)
class Endpoint:
    """One endpoint of the API.

    Attributes:
        method: HTTP method.
        path: Full path; ``{name}`` matches one segment.
        handler: Receives the call and the checked body (or query, or None). Returns the answer's body, or a Response.
        request: Type of the JSON body, None when no body is read.
        query: Model of the query string, None when it is not read.
        response: Type of the answer's body, for the description.
        guards: Checks before the body is read, in order.
        answers_for: Guards whose check the handler makes itself, later; for the description.
        price_cents: The price of a success; settled after the handler returned.
        errors: Statuses that the handler itself may answer with, as JSON strings or as `error_body`.
        error_body: Model of the handler's own failures; None when they are JSON strings.
        any_body: Whether a text body, or no body, is accepted too; for the description.
        reads_itself: Whether the handler reads body and query itself; their types are then for the description alone.
        schemes: Security schemes that the handler checks; for the description.
        status: Status of success; for the description.
        headers: Headers of every successful answer.
        deprecated: Whether the description marks it as deprecated.
        described: Whether the description contains it.
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
    def body_adapter(self) -> TypeAdapter[Any]:
        """Validator of the body."""
        return TypeAdapter(self.request)

    @cached_property
    def query_adapter(self) -> TypeAdapter[Any]:
        """Validator of the query string."""
        return TypeAdapter(self.query)

    @property
    def all_guards(self) -> tuple[Guard, ...]:
        """Every check, of guards and handler."""
        return self.guards + self.answers_for
