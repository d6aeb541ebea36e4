"""Middleware around the router, which adds request ids, checks origins, and converts errors to JSON bodies.

Starlette's CORS middleware is not sufficient. It supports only one set of rules for all paths, but public paths need
different rules. Starlette's middleware also does not reject requests from pages of other origins.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator
from email.utils import formatdate
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svcnb.emulator.errors import ServiceError, StructuredError
from svcnb.emulator.http.answers import failure
from svcnb.emulator.http.body import CallerDisconnected
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.origins import ANY, RPC, ServerAddress
from svcnb.emulator.platform.quiesce import Quiesce
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.settings import Settings
from svcnb.protocol.limits import MAX_QUERY_PARAMETERS

_LOG = logging.getLogger(__name__)
DOCS: Final = "/docs"
"""Base path of the pages in ``docs_url``."""
CONTROL_PREFIX: Final = "/_emulator"
_METHODS: Final = b"GET, POST, PATCH, DELETE, OPTIONS"
_USUAL_HEADERS: Final = b"Authorization, Content-Type, X-Api-Key, X-Correlation-Id, X-Wallet-Auth"
_EXPOSED_HEADERS: Final = b"X-Request-Id, X-Correlation-Id, Deprecation, Link, Retry-After, Date"
_SHOWN: Final = 100
_PART_BYTES: Final = 128 * 1024
_PREFLIGHT_AGE_S: Final = b"600"
_PUBLIC_PREFIXES: Final = ("/webhook/", "/health")
"""Paths that pages of every origin can use. Webhooks are public, and the health status is not secret.

Source: docs/service/http.md#authentication.
"""
CROSS_ORIGIN_PREFIXES: Final = ("/core/v1", "/api", RPC, "/processor/v1", *_PUBLIC_PREFIXES)
"""Paths that pages of allowed origins can use. Browsers never send the credentials of these paths automatically."""
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


class Origins:
    """Checks of the origin and the host name of requests.

    A browser sends the origin of a page (`Origin`) and the host name of the server (`Host`). `Origin` reveals pages of
    other sites. `Host` reveals pages whose own host name resolves to this machine (DNS rebinding). In requests from
    pages with DNS rebinding, `Origin` matches `Host`, so a check of `Origin` alone is not sufficient.

    Args:
        allowed: Allowed origins. ``*`` allows all origins.
        private: Whether only this machine can reach the emulator, so that an unknown host name means DNS rebinding.
    """

    def __init__(self, allowed: tuple[str, ...], *, private: bool) -> None:
        self._allowed = frozenset(allowed)
        self._names = frozenset(_name(each) for each in allowed)
        # Behind JupyterHub, pages have the hub's host name, and a remote browser cannot reach this machine's loopback.
        self._checks_names = private and "JUPYTERHUB_SERVICE_PREFIX" not in os.environ and ANY not in self._allowed

    def trusts(self, headers: Headers, path: str) -> bool:
        """Returns whether the server trusts the sender of a request.

        Programs, pages of this server and pages of allowed origins are trusted. For the path `RPC`, a browser's wallet
        extensions are also trusted.
        """
        origin = headers.get("origin")
        if origin is None or ANY in self._allowed or origin in self._allowed or _is_same_origin(origin, headers):
            return True
        return path == RPC and origin.partition("://")[0].endswith("-extension")

    def has_valid_name(self, headers: Headers) -> bool:
        """Returns whether the Host header contains a valid name of the emulator.

        IP addresses are valid, because DNS rebinding needs a name. All names are valid in three cases: other
        machines can reach the emulator, the emulator runs in JupyterHub, or all origins are allowed.
        """
        name = _name(f"//{headers.get('host', '')}")
        return not self._checks_names or name == "localhost" or _is_address(name) or name in self._names


class Middleware:
    """Outermost ASGI application, which the HTTP server runs.

    Every response has a new ``X-Request-Id``, even if the caller sent one. The middleware copies a caller's
    ``X-Correlation-Id`` to the response (docs/service/http.md#response-headers).

    Args:
        app: The router. The middleware converts its `ServiceError` exceptions to responses.
        settings: Settings with the names of the service, the allowed origins and the maximum number of connections.
        clock: Clock for the Date header.
        randomness: Source of request ids.
        quiesce: Lock that delays requests during a replacement of the state.
        address: The base URL of this server, for links to its pages.

    Attributes:
        stopping: Whether the server is stopping. Errors that result from the stop become 503.
        max_connections: Maximum number of concurrent connections.
    """

    stopping = False

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        clock: Clock,
        randomness: Randomness,
        quiesce: Quiesce,
        address: ServerAddress,
    ) -> None:
        vocabulary = settings.vocabulary
        self._app = app
        self._clock = clock
        self._randomness = randomness
        self._quiesce = quiesce
        self._address = address
        self._privacy_header = vocabulary.privacy_header
        self._privacy_suffix = vocabulary.privacy_suffix
        self._origins = Origins(settings.allow_origin, private=settings.is_private)
        self._dated: tuple[int, bytes] = (-1, b"")
        self._allowed_headers = _USUAL_HEADERS + b", " + vocabulary.privacy_header.encode()
        self.max_connections = settings.max_connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds to one HTTP request, or closes a WebSocket connection, because the service has no WebSockets.

        Raises:
            Exception: The request failed after the start of the response.
        """
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
            return
        started = False

        async def tracked(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            for number, piece in enumerate(_split_body(message)):
                if number:
                    await asyncio.sleep(0)  # other requests must run between two pieces, even if the client is fast
                await send(piece)

        try:
            await self._serve(scope, receive, tracked)
        except asyncio.CancelledError:
            if started or not self.stopping:
                raise
            # The server has stopped and interrupted the request. Without this response, uvicorn sends a 500 in plain
            # text.
            await self.minimal_response(STOPPING)(scope, receive, tracked)
        except Exception:
            if started:
                raise
            _LOG.exception("request %s %s failed outside the endpoints", scope["method"], scope["path"])
            await self.minimal_response(STOPPING if self.stopping else _failed(scope))(scope, receive, tracked)
        finally:
            self._quiesce.note()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        request_id = self._randomness.uuid4("request id")
        if headers.get(self._privacy_header):
            request_id += self._privacy_suffix
        correlation_id = headers.get("x-correlation-id", "").strip(" \t")
        scope["request_id"] = request_id
        scope["correlation_id"] = correlation_id
        extra = [(b"date", self._date()), (b"x-request-id", request_id.encode())]
        if correlation_id:
            extra.append((b"x-correlation-id", correlation_id.encode("latin-1")))
        origin, path = headers.get("origin"), scope["path"]
        trusted = path.startswith(_PUBLIC_PREFIXES) or self._origins.trusts(headers, path)
        if origin is not None and trusted and path.startswith(CROSS_ORIGIN_PREFIXES):
            extra += _cross_origin(origin)
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await self._preflight(headers, extra, send)
                return
        refusal = _check_query(scope)
        if refusal is None and not path.startswith(_PUBLIC_PREFIXES):
            refusal = self._reject_origin(scope, headers, trusted=trusted)
        if refusal is not None:
            response = failure(refusal, self._docs_base)
            response.raw_headers.extend(extra)
            await response(scope, receive, send)
            return
        await self._run(scope, receive, send, extra)

    def _reject_origin(self, scope: Scope, headers: Headers, *, trusted: bool) -> StructuredError | None:
        """Returns the error for a page that must not send this request, or None.

        Pages of every origin can send read requests without a credential.
        """
        if scope["method"] in _SAFE_METHODS and not ("x-api-key" in headers or "authorization" in headers):
            return None
        if not trusted:
            origin = headers["origin"][:_SHOWN]
            return StructuredError(
                403,
                f"this emulator does not accept requests from pages of the origin {origin}",
                fix=f"If the page is yours, start the emulator with --allow-origin {origin} (SVC_ALLOW_ORIGIN).",
            )
        if not self._origins.has_valid_name(headers):
            return StructuredError(
                403,
                f"this emulator does not accept the host name {headers.get('host', '')[:_SHOWN]!r}",
                fix="Use 127.0.0.1 or localhost, or start the emulator with --allow-origin ORIGIN_OF_YOUR_PROXY.",
            )
        return None

    def minimal_response(self, refusal: StructuredError) -> Response:
        """Returns an error response. Does not use other components, because they may have failed."""
        answer = failure(refusal, self._docs_base)
        answer.headers["Date"] = formatdate(usegmt=True)
        answer.headers["X-Request-Id"] = str(uuid4())
        return answer

    async def _run(self, scope: Scope, receive: Receive, send: Send, extra: list[tuple[bytes, bytes]]) -> None:
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        quiesce = None if scope["path"].startswith(CONTROL_PREFIX) else self._quiesce
        if quiesce is not None:
            await quiesce.enter()
        try:
            await self._app(scope, receive, send_with_headers)
        except CallerDisconnected:
            return
        except Exception as error:
            if started:
                raise
            refusal = self._refusal(error, scope)
            await failure(refusal, self._docs_base)(scope, receive, send_with_headers)
        finally:
            if quiesce is not None:
                quiesce.leave()

    def _date(self) -> bytes:
        now = self._clock.now_s()
        if self._dated[0] != now:
            self._dated = (now, formatdate(now, usegmt=True).encode())
        return self._dated[1]

    @property
    def _docs_base(self) -> str:
        return f"{self._address.url}{DOCS}"

    def _refusal(self, error: Exception, scope: Scope) -> ServiceError:
        if isinstance(error, ServiceError):
            return error
        if self.stopping:
            return STOPPING
        _LOG.error("request %s %s failed", scope["method"], scope["path"], exc_info=error)
        return _failed(scope)

    async def _preflight(self, asked: Headers, extra: Iterable[tuple[bytes, bytes]], send: Send) -> None:
        allowed = asked.get("access-control-request-headers", "").encode("latin-1") or self._allowed_headers
        headers = [
            *extra,
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", allowed),
            (b"access-control-max-age", _PREFLIGHT_AGE_S),
            (b"content-length", b"0"),
        ]
        if asked.get("access-control-request-private-network") == "true":
            headers.append((b"access-control-allow-private-network", b"true"))
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


STOPPING: Final = StructuredError(
    503,
    "the service is stopping, and this request was not finished",
    fix="Send the request again when the service is available. If the request changes data, first check whether "
    "the data changed.",
    headers={"Retry-After": "1"},
)
"""Error for a request that is interrupted because the service is shutting down."""


def _split_body(message: Message) -> Iterator[Message]:
    """Splits a large body into pieces. The transport would copy a large body in one step, and delay other requests."""
    body = message.get("body", b"")
    for at in range(0, len(body) - _PART_BYTES, _PART_BYTES):
        yield {**message, "body": body[at : at + _PART_BYTES], "more_body": True}
    rest = len(body) % _PART_BYTES or _PART_BYTES
    yield message if len(body) <= _PART_BYTES else {**message, "body": body[-rest:]}


def _check_query(scope: Scope) -> StructuredError | None:
    """Returns the error for a query string with too many parameters, or None.

    Parsing tens of thousands of parameters takes too long.
    """
    found = scope["query_string"].count(b"&") + 1
    if found <= MAX_QUERY_PARAMETERS:
        return None
    return StructuredError(
        400,
        f"the query string has {found} parameters, but at most {MAX_QUERY_PARAMETERS} are allowed",
        fix="Send only the parameters of the endpoint, and send each parameter only once.",
    )


def _failed(scope: Scope) -> StructuredError:
    return StructuredError(
        500,
        f"the service failed while it handled request {scope.get('request_id', '')}; nothing was charged",
        fix="Try again. If the problem persists, report it with the request id and the log of the emulator.",
    )


def _cross_origin(origin: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-allow-credentials", b"true"),
        (b"access-control-expose-headers", _EXPOSED_HEADERS),
        (b"vary", b"Origin"),
    ]


def is_own_origin(request: Request) -> bool:
    """Returns whether a request comes from a program or from a page of this server."""
    origin = request.headers.get("origin")
    return origin is None or _is_same_origin(origin, request.headers)


def _is_same_origin(origin: str, headers: Headers) -> bool:
    return _split(origin).netloc == headers.get("host", "")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name(url: str) -> str:
    return _split(url).hostname or ""


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
