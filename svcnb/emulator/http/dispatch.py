"""Dispatcher, which runs guards, body checks, handler and settlement of an endpoint, in this order."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from svcnb.emulator.errors import StructuredError, Unavailable
from svcnb.emulator.http.answers import JSON_TYPE, answered
from svcnb.emulator.http.body import parse, read_bytes, require_plain, validate
from svcnb.emulator.http.endpoint import Call, Endpoint, Hold
from svcnb.emulator.platform.forgiven import Forgiven
from svcnb.emulator.platform.offload import LARGE_BYTES, offload

_LOG = logging.getLogger(__name__)


class Dispatcher:
    """Dispatcher of requests to the handlers of their endpoints.

    Args:
        forgiven: Record of accepted requests that the live service rejects.
        exact_types: Whether to reject such requests.
        max_body_bytes: Maximum size of a body, in bytes.
    """

    def __init__(self, forgiven: Forgiven, *, exact_types: bool, max_body_bytes: int) -> None:
        self._forgiven = forgiven
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
        if endpoint.request is not None and endpoint.described and not endpoint.reads_itself and not _is_json(request):
            if self._exact_types:
                raise _no_such_type(request)
            self._forgive(endpoint, {"a body without the header Content-Type: application/json"})
        try:
            for guard in endpoint.guards:
                await guard.check(call)
            result = await endpoint.handler(call, await self._given(call))
            if call.hold is not None and call.price_cents:
                await _settle(call, call.hold)
        finally:
            if call.hold is not None:
                call.hold.release()
        if isinstance(result, Response):
            result.headers.update(call.headers)
            return result
        return await answered(result, headers=call.headers)

    async def _given(self, call: Call) -> Any:
        endpoint = call.endpoint
        if endpoint.reads_itself:
            return None
        strict, forgiven = self._exact_types and endpoint.described, set[str]()
        if endpoint.query is not None:
            members = dict(call.request.query_params)
            given = validate(endpoint.query_adapter, members, strict=strict, where="query string", forgiven=forgiven)
        elif endpoint.request is not None:
            require_plain(call.request)
            data = await read_bytes(call.request, self._max_body_bytes)
            value = await parse(data)
            check = partial(validate, endpoint.body_adapter, value, strict=strict, forgiven=forgiven)
            given = await offload(check) if len(data) > LARGE_BYTES else check()
        else:
            return None
        self._forgive(endpoint, forgiven)
        return given

    def _forgive(self, endpoint: Endpoint, forms: set[str]) -> None:
        if endpoint.described:
            self._forgiven.note(endpoint.method, endpoint.path, forms)


async def _settle(call: Call, hold: Hold) -> None:
    try:
        await hold.settle(call.price_cents, reason=call.endpoint.path.rpartition("/")[2], request_id=call.request_id)
    except Unavailable:
        # The call is free, because its effect is permanent, and a 503 would incorrectly mean that it had no effect.
        _LOG.warning("request %s succeeded but could not be charged", call.request_id, exc_info=True)


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


def _no_such_type(request: Request) -> StructuredError:
    content_type = request.headers.get("content-type", "")
    return StructuredError(
        404,
        f"{request.method} {request.url.path} does not accept the content type {content_type or 'none'}.",
        fix=f"Send the header Content-Type: {JSON_TYPE}.",
    )
