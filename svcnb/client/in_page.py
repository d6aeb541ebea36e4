"""Transports that connect HTTP libraries to emulators in the same browser page."""

from __future__ import annotations

import io
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import httpx

from svcnb.in_process import EmulatorNotFound, answer, wait

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_S: Final = 3600.0
_ADAPTERS: Final = "requests.adapters"


class PageTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport that sends requests of synchronous and asynchronous httpx clients to emulators in the same page."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request to the emulator at the request's address; see `httpx.BaseTransport`."""
        return wait(_handle(request, request.read()))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request to the emulator at the request's address; see `httpx.AsyncBaseTransport`."""
        return await _handle(request, await request.aread())


async def _handle(request: httpx.Request, content: bytes) -> httpx.Response:
    # the application determines the length of the body
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
    timeout_s = request.extensions.get("timeout", {}).get("read") or _LONGEST_S
    try:
        found = await answer(request.method, str(request.url), headers, content, timeout_s)
    except EmulatorNotFound as error:
        raise httpx.ConnectError(str(error), request=request) from None
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error), request=request) from None
    return httpx.Response(found.status, headers=found.headers, content=found.content, request=request)


def patch_libraries() -> None:
    """Redirects all clients of the libraries httpx and requests to the emulators in the page.

    A page has no sockets. web3 uses the library requests, which an import hook patches when Python imports the library.
    Calling the function again has no effect.
    """
    httpx.HTTPTransport.handle_request = PageTransport.handle_request  # type: ignore[assignment,method-assign]
    httpx.AsyncHTTPTransport.handle_async_request = (  # type: ignore[method-assign]
        PageTransport.handle_async_request  # type: ignore[assignment]
    )
    if (loaded := sys.modules.get(_ADAPTERS)) is not None:
        loaded.HTTPAdapter.send = _send
    elif not any(isinstance(each, _RequestsFinder) for each in sys.meta_path):
        sys.meta_path.insert(0, _RequestsFinder())


def _send(self: Any, request: Any, timeout: Any = None, **_options: Any) -> Any:
    """Sends a request to the emulator at the request's address. Replaces ``requests.adapters.HTTPAdapter.send``."""
    import requests
    from urllib3 import HTTPHeaderDict, HTTPResponse

    content = request.body or b""
    content = content.encode() if isinstance(content, str) else bytes(content)
    headers = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
    timeout_s = (timeout[1] if isinstance(timeout, tuple) else timeout) or _LONGEST_S
    try:
        found = wait(answer(request.method, request.url, headers, content, timeout_s))
    except EmulatorNotFound as error:
        raise requests.ConnectionError(str(error), request=request) from None
    except TimeoutError as error:
        raise requests.ReadTimeout(str(error), request=request) from None
    fields = HTTPHeaderDict([(name.decode("latin-1"), value.decode("latin-1")) for name, value in found.headers])
    body = HTTPResponse(io.BytesIO(found.content), fields, found.status, preload_content=False)
    return self.build_response(request, body)


class _RequestsFinder(MetaPathFinder):
    """Import hook that patches ``requests.adapters`` once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of ``requests.adapters``, with a loader that also patches the module.

        Returns None for all other modules.
        """
        if fullname != _ADAPTERS:
            return None
        sys.meta_path.remove(self)
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            execute = found.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                module.HTTPAdapter.send = _send

            found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found
