"""Reader of request bodies, which checks the size, the JSON and the schema, in this order.

The module also limits the memory for all bodies, and counts the deviations from the schema that the emulator tolerates.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.emulator.http.answers import JSON_TYPE
from svcnb.emulator.http.mismatch import sentence
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.protocol.limits import MAX_BODIES_BYTES, MAX_BODIES_BYTES_PER_CALLER, MAX_JSON_DEPTH, MAX_JSON_VALUES
from svcnb.protocol.nesting import deeper_than, more_values_than
from svcnb.protocol.wire.rejections import STRICT_TYPES, TOLERATED, UNUSABLE

_READ_ANYWAY = 8
_LARGE_COPY_BYTES: Final = 1024 * 1024
_EXPONENT: Final = re.compile(rb"[0-9][eE]\+?[0-9]{2}")
_DIGITS: Final = 150
_SPECIFICATION = "The schema of every body is in /core/v1/openapi.json."


class CallerDisconnected(Exception):
    """Error for a caller that closed the connection before its request was complete. No response is necessary."""


class JsonLimitExceeded(ValueError):
    """Error for valid JSON that exceeds a limit of the service.

    Attributes:
        fix: Complete sentence that states how the caller can fix the problem.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


async def read_bytes(request: Request, limit: int) -> bytes:
    """Returns the request body.

    Args:
        request: Request whose body to read.
        limit: Maximum number of bytes to accept.

    Raises:
        StructuredError: 413 if the body is larger than the limit, or 503 if the memory for all bodies is full.
        CallerDisconnected: The caller closed the connection.
    """
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise _too_large(limit, close=int(declared) > _READ_ANYWAY * limit)
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise CallerDisconnected from error
    # Use a thread, because copying megabytes into new memory takes milliseconds.
    return await offload(b"".join, chunks) if size > _LARGE_COPY_BYTES else b"".join(chunks)


def is_json(request: Request) -> bool:
    """Returns whether the Content-Type of a request is JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


def content_type_problem(request: Request) -> str:
    """Returns the first clause of the error for a request whose Content-Type is missing or is not JSON."""
    given = request.headers.get("content-type", "")
    return f"the content type of the request is {given[:60]!r}" if given else "the request has no content type"


def wrong_type(request: Request) -> StructuredError:
    """Returns the 404 error for a request whose Content-Type is missing or is not JSON."""
    return StructuredError(
        404,
        f"{content_type_problem(request)}, but {request.method} {request.url.path} accepts only {JSON_TYPE}",
        fix=f"Send the header Content-Type: {JSON_TYPE}.",
    )


def require_plain(request: Request) -> None:
    """Rejects a compressed body with a clear error. Without this check, the error would report invalid JSON.

    Raises:
        StructuredError: 400 if the request has a Content-Encoding.
    """
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise StructuredError(
            400,
            f"the body is compressed (Content-Encoding: {coding[:40]}), but the service does not decompress bodies",
            fix="Send plain JSON, without the header Content-Encoding.",
        )


async def parse(data: bytes) -> Any:
    """Returns the parsed JSON value of a body. Parses large input outside of the event loop.

    Raises:
        StructuredError: 400 if the body is empty, is not UTF-8 JSON, or exceeds a limit for JSON.
    """
    if not data.strip():
        raise StructuredError(
            400,
            "the request has no body, but the endpoint requires a JSON body",
            fix=f"Send a JSON body. {_SPECIFICATION}",
        )
    try:
        return await read_json(data)
    except JsonLimitExceeded as error:
        raise StructuredError(400, f"the JSON body exceeds a limit: {error}", fix=error.fix) from None
    except ValueError as error:
        raise StructuredError(
            400,
            f"the body is not valid JSON: {error}",
            fix="Send UTF-8 JSON with the header Content-Type: application/json.",
        ) from None


async def read_json(data: bytes) -> Any:
    """Returns the parsed JSON value, for callers that convert the exceptions to their own errors.

    Args:
        data: JSON text in UTF-8.

    Raises:
        JsonLimitExceeded: The JSON has too many values, too many levels, or a number that does not fit in a double
            (IEEE 754).
        ValueError: The bytes are not UTF-8 JSON.
    """
    return read_json_now(data) if len(data) <= LARGE_BYTES else await offload(read_json_now, data)


def read_json_now(data: bytes) -> Any:
    """Parses JSON in the calling thread. The result and the exceptions are the same as those of `read_json`."""
    if more_values_than(data, MAX_JSON_VALUES):
        raise JsonLimitExceeded(
            f"the body contains more than {MAX_JSON_VALUES:,} values, the maximum",
            "Send fewer values, for example in several requests. An action can fetch large data with an HTTP request.",
        )
    if deeper_than(data, MAX_JSON_DEPTH):
        raise JsonLimitExceeded(
            f"the body has more than {MAX_JSON_DEPTH} levels of nesting, the maximum",
            "Send a flatter structure, or send the inner part as a string that contains JSON.",
        )
    value = from_json(data, allow_inf_nan=False)
    # Python parses 1e999 as infinity, which JSON cannot represent.
    if _may_overflow(data) and not _is_finite(value):
        raise JsonLimitExceeded(
            "a number is outside of the range from -1.797e308 to 1.797e308, the range of JavaScript numbers",
            "Send a number within the range, or send the number as a string.",
        )
    return value


def _may_overflow(data: bytes) -> bool:
    """Returns whether JSON text may contain a number that is too large for a double.

    Only a number with an exponent of two or more digits, or with about 300 digits, can be too large.
    """
    if _EXPONENT.search(data):
        return True
    return any(data[at : at + _DIGITS].isdigit() for at in range(0, len(data) - _DIGITS + 1, _DIGITS))


def _is_finite(value: Any) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, int | float) and abs(each) > sys.float_info.max:
            return False
    return True


def validate(
    adapter: TypeAdapter[Any], value: object, *, strict: bool, where: str = "body", tolerated: set[str] | None = None
) -> Any:
    """Validates a value against a schema and returns the result.

    Args:
        adapter: The schema.
        value: Parsed JSON, or the parameters of a query string.
        strict: Whether to accept only the exact JSON types of the live service.
        where: Name of the checked part of the request, for the error message.
        tolerated: Set that receives the deviations that only strict validation rejects. None means that the caller does
            not need them.

    Raises:
        StructuredError: 422 if the value does not match the schema.
        EndpointFailure: 400 if the types match the schema, but a text is not usable, such as the group id ``seven``.
    """
    try:
        return adapter.validate_python(value, context={STRICT_TYPES: strict, TOLERATED: tolerated})
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        mismatches = [problem for problem in problems if problem["type"] != UNUSABLE]
        if not mismatches:
            raise EndpointFailure(400, problems[0]["msg"]) from None
        raise StructuredError(
            422,
            f"the {where} does not match the schema: {sentence(mismatches, where)}",
            fix=f"Correct the request. {_SPECIFICATION}",
        ) from None


class ToleratedRequests:
    """Counts of requests that the emulator accepts and the live service rejects, for each endpoint and deviation.

    `svcnb doctor` shows these counts, so that users can correct a client before it uses the live service. With strict
    types, the emulator rejects such requests and counts none.
    """

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str, str]] = Counter()

    def note(self, method: str, path: str, forms: AbstractSet[str]) -> None:
        """Counts a request, once for each of its deviations.

        Args:
            method: HTTP method of the request's endpoint.
            path: Path of the request's endpoint.
            forms: Short descriptions of the deviations that the live service rejects.
        """
        self._times.update((method, path, form) for form in forms)

    def entries(self) -> list[dict[str, Any]]:
        """Returns all counts, with method, path, deviation and number of requests."""
        return [
            {"method": method, "path": path, "form": form, "times": times}
            for (method, path, form), times in sorted(self._times.items())
        ]

    def clear(self) -> None:
        """Deletes all counts."""
        self._times.clear()


def _too_large(limit: int, *, close: bool = False) -> StructuredError:
    # The server reads and discards the rest of the body. A caller that is still sending it then receives this response
    # instead of a connection error. The server interrupts only extremely large bodies.
    return StructuredError(
        413,
        f"the body is larger than {limit} bytes",
        fix="Send a smaller body. An action can fetch large data with an HTTP request.",
        headers={"Connection": "close"} if close else None,
    )


_CREDENTIALS: Final = frozenset({b"x-api-key", b"authorization", b"x-wallet-auth"})
_RETRY_AFTER_S: Final = 1


@dataclass(eq=False, repr=False)
class BodyBudget:
    """Middleware that limits the memory for the received bodies of requests in progress.

    A single caller cannot use the whole budget. A credential identifies the caller. All requests without a credential
    count as one caller.

    Attributes:
        app: The application, which converts an error during the read of a body to a response.
        total: Maximum number of body bytes in memory.
        per_caller: Maximum number of body bytes in memory for one caller.
    """

    app: ASGIApp
    total: int = MAX_BODIES_BYTES
    per_caller: int = MAX_BODIES_BYTES_PER_CALLER

    def __post_init__(self) -> None:
        self._held: Counter[int] = Counter()
        self._all = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application for one request, and counts the bytes of the body until the request ends.

        Raises:
            StructuredError: 503 if the memory for bodies is full. The application receives this error when it reads the
                body.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        caller = hash(tuple(value for name, value in scope["headers"] if name in _CREDENTIALS))
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            if size := len(message.get("body", b"")):
                self._take(caller, size)
                taken += size
            return message

        try:
            await self.app(scope, counted, send)
        finally:
            self._release(caller, taken)

    def _take(self, caller: int, size: int) -> None:
        if self._all + size > self.total:
            raise _used_up(
                "the memory for request bodies is full: the bodies of all concurrent requests can total at most "
                f"{self.total} bytes"
            )
        if self._held[caller] + size > self.per_caller:
            raise _used_up(
                "your share of the memory for request bodies is full: the bodies of your concurrent requests can total "
                f"at most {self.per_caller} bytes"
            )
        self._held[caller] += size
        self._all += size

    def _release(self, caller: int, size: int) -> None:
        self._all -= size
        self._held[caller] -= size
        if self._held[caller] <= 0:
            del self._held[caller]


def _used_up(what: str) -> StructuredError:
    return StructuredError(
        503,
        what,
        fix="Wait until other requests have ended, or send smaller bodies.",
        headers={"Retry-After": str(_RETRY_AFTER_S)},
    )
