"""The only module that uses the HTTP library: two transports that send a request and return its response."""

from __future__ import annotations

import ipaddress
import logging
import ssl
import time
import weakref
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from svcnb.client.calls import Answer, Request
from svcnb.client.errors import InvalidType, TimedOut, TransportError
from svcnb.logs import protect
from svcnb.protocol.in_page import IN_PAGE

# The library below httpx logs request headers, including keys, at level DEBUG.
protect("svcnb", "httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))

_LOG = logging.getLogger("svcnb")
_LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=30.0)


class _Clock:
    """Estimates how far the service's clock is ahead of ours, from the Date header of its responses."""

    skew: float | None = None

    def observe(self, answer: Answer) -> None:
        from email.utils import parsedate_to_datetime

        try:
            told = parsedate_to_datetime(answer.headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError):
            return
        # The header counts whole seconds. The best estimate is the middle of that second, half-way through the
        # exchange.
        measured = told + 0.5 - (answer.sent_at + answer.elapsed / 2)
        self.skew = measured if self.skew is None or abs(measured - self.skew) > 1.0 else (self.skew + measured) / 2


class SyncTransport:
    """Synchronous transport with keep-alive connections; may be used from several threads.

    Args:
        base_url: Address of most requests; determines TLS and proxies.
        transport: A transport of the HTTP library itself, for tests.
        client: The user's own client, whose limits, proxies, certificates and hooks apply. It stays open.

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
        # A notebook rarely closes its client. The connections are closed with the last client that shares this
        # transport.
        self._closing = weakref.finalize(self, self._client.close if client is None else _nothing)
        self.clock = _Clock()

    def send(self, request: Request) -> Answer:
        """Sends one request.

        Raises:
            TransportError: No complete response arrived.
        """
        sent_at, begun = time.time(), time.perf_counter()
        try:
            response = self._client.request(**_arguments(request))
        except httpx.HTTPError as error:
            raise _logged(_explain(error, request), request) from _cause(error)
        except RuntimeError as error:
            raise _closed(error) from _bare(error)
        except BaseException as error:  # noqa: BLE001 - above all KeyboardInterrupt, of which notebooks show the most
            raise _bare(error)  # noqa: B904 - it is the same error
        answer = _answer(request, response, sent_at, begun)
        self.clock.observe(answer)
        return answer

    def close(self) -> None:
        """Closes the connections."""
        self._closing()


class AsyncTransport:
    """Asynchronous version of `SyncTransport`."""

    def __init__(
        self, base_url: str, transport: httpx.AsyncBaseTransport | None = None, client: httpx.AsyncClient | None = None
    ) -> None:
        if client is not None and not isinstance(client, httpx.AsyncClient):
            raise _not_a_client(client, "httpx.AsyncClient")
        own = transport or _async_page_transport()
        self._client = httpx.AsyncClient(**_options(base_url), transport=own) if client is None else client
        self._owner = client is None
        self.clock = _Clock()

    async def send(self, request: Request) -> Answer:
        """Sends one request.

        Raises:
            TransportError: No complete response arrived.
        """
        sent_at, begun = time.time(), time.perf_counter()
        try:
            response = await self._client.request(**_arguments(request))
        except httpx.HTTPError as error:
            raise _logged(_explain(error, request), request) from _cause(error)
        except RuntimeError as error:
            if not self._client.is_closed:
                raise _bare(error)  # noqa: B904 - it is the same error
            raise _closed(error) from _bare(error)
        except BaseException as error:  # noqa: BLE001 - as above
            raise _bare(error)  # noqa: B904 - it is the same error
        answer = _answer(request, response, sent_at, begun)
        self.clock.observe(answer)
        return answer

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owner:
            await self._client.aclose()


def _page_transport() -> httpx.BaseTransport | None:
    if not IN_PAGE:
        return None
    from svcnb.client.in_page import PageTransport, use_everywhere

    use_everywhere()
    return PageTransport()


def _async_page_transport() -> httpx.AsyncBaseTransport | None:
    if not IN_PAGE:
        return None
    from svcnb.client.in_page import AsyncPageTransport

    return AsyncPageTransport()


E = TypeVar("E", bound=BaseException)


def _bare(error: E) -> E:
    """Returns the error without the frames of the HTTP library, whose variables contain the request's headers.

    Tracebacks that show variables (``%xmode Verbose``, ``pytest -l``, crash reporters) would show the key.
    """
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        each = each.__cause__ or each.__context__
    return error


def _cause(error: httpx.HTTPError) -> httpx.HTTPError | None:
    """Returns the error's details, except for a header that cannot be sent, whose message shows the header."""
    return None if isinstance(error, httpx.LocalProtocolError) else _bare(error)


def _options(base_url: str) -> dict[str, Any]:
    parts = urlsplit(base_url)
    return {
        "limits": _LIMITS,
        # Loading the certificates of all authorities takes longer than a hundred calls, and plain HTTP needs none. An
        # empty context trusts no one, so a later https address is not less secure.
        "verify": True if parts.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        # A proxy from the environment cannot reach this machine's loopback address.
        "trust_env": not is_loopback(parts.hostname or ""),
    }


def is_loopback(host: str) -> bool:
    """Returns whether a host name or address is this machine."""
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
        "follow_redirects": False,  # also with the user's own client: a redirect would receive the key
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
        f"http_client is a {type(given).__name__}: expected {wanted}",
        hint="Client takes an httpx.Client, AsyncClient an httpx.AsyncClient.",
    )


def _nothing() -> None:
    """The user's own client stays open."""


def _explain(error: httpx.HTTPError, request: Request) -> TransportError:
    where = "{0.scheme}://{0.netloc}".format(urlsplit(request.url))
    if isinstance(error, httpx.ConnectError):
        unreached = TransportError(f"nothing answers at {where}")
        unreached.unsent = True
        # On this machine nothing starts to listen during a retry, so the error is raised at once.
        unreached.refused = is_loopback(urlsplit(request.url).hostname or "")
        unreached.hint = (
            "Is the emulator running? Start one with `svcnb emulator`, or with svcnb.Emulator() as emu: ... "
            "In a lesson, run the first cell again: it starts afresh."
            if unreached.refused
            else "Check the address and the network."
        )
        return unreached
    if isinstance(error, httpx.TimeoutException):
        path = urlsplit(request.url).path
        late = TimedOut(f"{where} did not answer {request.method} {path} in {request.timeout:g} s")
        late.unsent = isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout))
        return late
    return TransportError(f"the connection to {where} broke: {type(error).__name__}")


def _closed(error: RuntimeError) -> TransportError:
    return TransportError(f"this client is closed ({error})", hint="Make a new one, or work inside its `with` block.")
