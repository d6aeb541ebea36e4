"""HTTP transports, which send a request and return the response. No other module uses the HTTP library."""

from __future__ import annotations

import ipaddress
import logging
import ssl
import time
import weakref
from collections.abc import Iterable
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from svcnb.client.calls import Answer, Request
from svcnb.client.errors import InvalidType, TimedOut, TransportError
from svcnb.logs import protect
from svcnb.protocol.in_page import IN_PAGE

# httpcore, which httpx uses, logs request headers at level DEBUG. The headers contain keys.
protect("svcnb", "httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))

_LOG = logging.getLogger("svcnb")
_LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=30.0)


class _Clock:
    """Estimate of the seconds by which the service's clock is ahead of this machine's clock, from ``Date`` headers."""

    skew: float | None = None

    def observe(self, answer: Answer) -> None:
        if (measured := answer.clock_skew) is None:
            return
        self.skew = measured if self.skew is None or abs(measured - self.skew) > 1.0 else (self.skew + measured) / 2


class SyncTransport:
    """Synchronous transport with keep-alive connections. Several threads can use one transport.

    Args:
        base_url: Address of the service. The transport can also send requests to other addresses, for example to a
            chain node. For addresses on this machine, it does not use a proxy from the environment.
        transport: Transport object of the HTTP library, for tests.
        client: The user's own client, whose limits, proxies, certificates and hooks apply. The transport does not close
            this client. With None, the transport creates its own client.

    Raises:
        InvalidType: ``client`` is not an `httpx.Client`.
    """

    def __init__(
        self, base_url: str, transport: httpx.BaseTransport | None = None, client: httpx.Client | None = None
    ) -> None:
        if client is not None and not isinstance(client, httpx.Client):
            raise _not_a_client(client, "httpx.Client")
        own = transport or _page_transport()
        self._client = httpx.Client(**_options(base_url), transport=own) if client is None else client
        # Users of notebooks rarely close their clients. The transport closes its connections when Python deletes the
        # last client that uses it.
        self._closing = weakref.finalize(self, self._client.close if client is None else _do_nothing)
        self.clock: _Clock = _Clock()

    def send(self, request: Request) -> Answer:
        """Sends one request, and returns the response.

        Raises:
            TransportError: No complete response arrived.
        """
        sent_at, begun, closed = time.time(), time.perf_counter(), self._client.is_closed
        try:
            response = self._client.request(**_arguments(request))
        except httpx.HTTPError as error:
            raise _logged(_explain(error, request), request) from _cause(error)
        except RuntimeError as error:
            if not self._client.is_closed:
                raise _without_frames(error)  # noqa: B904 - it is the same error
            raise _closed(error, unsent=closed) from _without_frames(error)
        except BaseException as error:  # noqa: BLE001 - mainly KeyboardInterrupt, whose traceback notebooks show in full
            raise _without_frames(error)  # noqa: B904 - it is the same error
        answer = _answer(request, response, sent_at, begun)
        self.clock.observe(answer)
        return answer

    def close(self) -> None:
        """Closes the connections, except the connections of the user's own client."""
        self._closing()


class AsyncTransport:
    """Asynchronous version of `SyncTransport`."""

    def __init__(
        self, base_url: str, transport: httpx.AsyncBaseTransport | None = None, client: httpx.AsyncClient | None = None
    ) -> None:
        if client is not None and not isinstance(client, httpx.AsyncClient):
            raise _not_a_client(client, "httpx.AsyncClient")
        own = transport or _page_transport()
        self._client = httpx.AsyncClient(**_options(base_url), transport=own) if client is None else client
        self._owner = client is None
        self.clock: _Clock = _Clock()

    async def send(self, request: Request) -> Answer:
        """Asynchronous version of `SyncTransport.send`."""
        sent_at, begun, closed = time.time(), time.perf_counter(), self._client.is_closed
        try:
            response = await self._client.request(**_arguments(request))
        except httpx.HTTPError as error:
            raise _logged(_explain(error, request), request) from _cause(error)
        except RuntimeError as error:
            if not self._client.is_closed:
                raise _without_frames(error)  # noqa: B904 - it is the same error
            raise _closed(error, unsent=closed) from _without_frames(error)
        except BaseException as error:  # noqa: BLE001 - mainly CancelledError
            raise _without_frames(error)  # noqa: B904 - it is the same error
        answer = _answer(request, response, sent_at, begun)
        self.clock.observe(answer)
        return answer

    async def aclose(self) -> None:
        """Asynchronous version of `SyncTransport.close`."""
        if self._owner:
            await self._client.aclose()


def _page_transport() -> Any:
    if not IN_PAGE:
        return None
    from svcnb.client.in_page import PageTransport, patch_libraries

    patch_libraries()
    return PageTransport()


E = TypeVar("E", bound=BaseException)


def _without_frames(error: E) -> E:
    """Removes the frames of the HTTP library from an error, because their variables contain the request's headers.

    Otherwise, tracebacks that show variables (``%xmode Verbose``, ``pytest -l``, crash reporters) would show the key.
    """
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        each = each.__cause__ or each.__context__
    return error


def _cause(error: httpx.HTTPError) -> httpx.HTTPError | None:
    """Returns the error of the HTTP library as the cause of a `TransportError`, without its frames.

    If a header cannot be sent, the result is None, because the message of the original error contains the header.
    """
    return None if isinstance(error, httpx.LocalProtocolError) else _without_frames(error)


class _TlsContext(ssl.SSLContext):
    """TLS context that loads the CA certificates before the first TLS connection.

    Loading them takes longer than a hundred calls, and connections without TLS need no certificates.
    """

    @cached_property
    def _loaded(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        self._loaded.set_alpn_protocols(alpn_protocols)

    def wrap_socket(self, *args: Any, **named: Any) -> ssl.SSLSocket:
        return self._loaded.wrap_socket(*args, **named)

    def wrap_bio(self, *args: Any, **named: Any) -> ssl.SSLObject:
        return self._loaded.wrap_bio(*args, **named)


def _options(base_url: str) -> dict[str, Any]:
    # A proxy from the environment cannot reach the loopback addresses of this machine.
    host = urlsplit(base_url).hostname or ""
    direct = {"localhost", "*.localhost", "127.0.0.1", "::1"} | ({host} if is_loopback(host) else set())
    return {
        "limits": _LIMITS,
        "verify": _TlsContext(ssl.PROTOCOL_TLS_CLIENT),
        "mounts": {f"all://[{each}]" if ":" in each else f"all://{each}": None for each in direct},
    }


def is_loopback(host: str) -> bool:
    """Returns whether a host name or an address refers to this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _arguments(request: Request) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "content": request.content,
        "follow_redirects": False,  # the redirect's target would receive the key
        "timeout": httpx.Timeout(request.timeout, connect=min(request.connect_timeout, request.timeout)),
    }


def _answer(request: Request, response: httpx.Response, sent_at: float, begun: float) -> Answer:
    answer = Answer(
        status=response.status_code,
        headers={name.lower(): value for name, value in response.headers.items()},
        content=response.content,
        sent_at=sent_at,
        elapsed=time.perf_counter() - begun,
    )
    if _LOG.isEnabledFor(logging.DEBUG):
        _LOG.debug(
            "%s %s: %d, %d bytes in %.0f ms, request id %s",
            request.method,
            request.shown_url,
            answer.status,
            len(answer.content),
            answer.elapsed * 1000,
            answer.headers.get("x-request-id", "none"),
        )
    return answer


def _logged(error: TransportError, request: Request) -> TransportError:
    _LOG.debug("%s %s: %s", request.method, request.shown_url, error.message)
    return error


def _not_a_client(given: object, wanted: str) -> InvalidType:
    return InvalidType(
        f"invalid http_client of type {type(given).__name__}: expected {wanted}",
        hint="Pass an httpx.Client to Client, and an httpx.AsyncClient to AsyncClient.",
    )


def _do_nothing() -> None:
    """Replaces the function that closes the user's own client, which must stay open."""


def _explain(error: httpx.HTTPError, request: Request) -> TransportError:
    where = "{0.scheme}://{0.netloc}".format(urlsplit(request.url))
    if isinstance(error, httpx.ConnectError):
        return _unreached(error, where)
    if isinstance(error, httpx.TimeoutException):
        return _late(error, where, request)
    if isinstance(error, httpx.LocalProtocolError):
        return TransportError(
            f"the request to {where} violates the HTTP protocol, so the client did not send the request",
            hint="Remove line breaks and other control characters from the headers and the key.",
        )
    if isinstance(error, httpx.ProxyError):
        return TransportError(
            f"the proxy rejected the connection to {where}",
            hint="Check the proxy in the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY.",
        )
    if isinstance(error, httpx.DecodingError):
        return TransportError(f"the response from {where} cannot be decompressed")
    return TransportError(f"the connection to {where} was lost: {type(error).__name__}")


def _unreached(error: httpx.ConnectError, where: str) -> TransportError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        failed = TransportError(
            f"the certificate of {where} cannot be verified: {cause.verify_message}",
            hint="Check the address. For a certificate of a private authority, set the environment variable "
            "SSL_CERT_FILE to the file with the authority's certificate.",
        )
    elif cause is not None:
        failed = TransportError(
            f"cannot start TLS with {where}: {cause.reason or cause}",
            hint="Check the address. If the server does not use TLS, use http:// instead of https://.",
        )
    else:
        # If the address is on this machine, no server runs there, and a retry is useless.
        is_here = is_loopback(urlsplit(where).hostname or "")
        failed = TransportError(
            f"cannot connect to {where}",
            hint="Check that the emulator is running. To start an emulator, run `svcnb emulator`, or use `with "
            "svcnb.Emulator() as emu: ...`. In a lesson, run the first cell again, which starts a new emulator."
            if is_here
            else "Check the address and the network.",
        )
        failed.refused = is_here
    failed.unsent = True
    return failed


def _late(error: httpx.TimeoutException, where: str, request: Request) -> TimedOut:
    if isinstance(error, httpx.ConnectTimeout):
        late = TimedOut(f"cannot connect to {where} within {min(request.connect_timeout, request.timeout):g} s")
    elif isinstance(error, httpx.PoolTimeout):
        late = TimedOut(
            f"all connections of this client were busy for {request.timeout:g} s, so the client sent no request",
            hint="Start fewer calls at the same time, or allow more time: svc.with_options(timeout=seconds).",
        )
    else:
        path = urlsplit(request.url).path
        late = TimedOut(f"{where} did not respond to {request.method} {path} within {request.timeout:g} s")
    late.unsent = isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout))
    return late


def _closed(error: RuntimeError, *, unsent: bool) -> TransportError:
    closed = TransportError(
        f"this client is closed ({error})",
        hint="Create a new client, or make the call inside the `with` block of the client.",
    )
    closed.closed, closed.unsent = True, unsent
    return closed
