"""Transports of the HTTP library for clients in a browser page."""

from __future__ import annotations

import httpx

from svcnb.in_process import Nowhere, answer, wait

_LONGEST_S = 3600.0


class PageTransport(httpx.BaseTransport):
    """Transport that calls emulators in the same page and waits for the response."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request; see `httpx.BaseTransport`."""
        return wait(_handle(request, request.read()))


class AsyncPageTransport(httpx.AsyncBaseTransport):
    """Asynchronous version of `PageTransport`."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request; see `httpx.AsyncBaseTransport`."""
        return await _handle(request, await request.aread())


async def _handle(request: httpx.Request, content: bytes) -> httpx.Response:
    # The application determines the length of the body itself.
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
    patience = request.extensions.get("timeout", {}).get("read") or _LONGEST_S
    try:
        found = await answer(request.method, str(request.url), headers, content, patience)
    except Nowhere as error:
        raise httpx.ConnectError(str(error), request=request) from None
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error), request=request) from None
    return httpx.Response(found.status, headers=found.headers, content=found.content, request=request)


def use_everywhere() -> None:
    """Makes every client of the HTTP library call emulators of the page, where there are no sockets."""
    httpx.HTTPTransport.handle_request = PageTransport.handle_request  # type: ignore[assignment,method-assign]
    httpx.AsyncHTTPTransport.handle_async_request = (  # type: ignore[method-assign]
        AsyncPageTransport.handle_async_request  # type: ignore[assignment]
    )
