"""Definition of an API endpoint: method, path, guards, request and response types, and handler."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from pydantic import TypeAdapter
from starlette.requests import Request

from svcnb.emulator.platform.offload import current_account


class Caller(NamedTuple):
    """Key of a request, and the account to which the key belongs.

    Attributes:
        key_hash: Hash of the key, which identifies the key in the contract.
        master_hash: Hash of the account key, which identifies the account.
        is_master: Whether the key is the account key (or the alias of an admin wallet), and not a usage key.
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
        """Increases the hold to ``cents`` in total."""

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
            set another price for this call.
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
        """The caller, whose key a guard has resolved."""
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
        handler: Function that receives the call and the validated body (or query, or None). It returns the response
            body or a Response.
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
        """All checks of the guards and of the handler itself."""
        return self.guards + self.answers_for
