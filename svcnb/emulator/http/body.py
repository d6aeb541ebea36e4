"""Reads a caller's body: checks of size, JSON and schema, in this order and after the guards."""

from __future__ import annotations

import re
import sys
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.emulator.http.mismatch import sentence
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.protocol.limits import MAX_JSON_VALUES
from svcnb.protocol.nesting import more_values_than
from svcnb.protocol.wire.values import FORGIVEN, STRICT_TYPES, UNUSABLE

_READ_ANYWAY = 8
_EXPONENT: Final = re.compile(rb"[0-9][eE]\+?[0-9]{2}")
_DIGITS: Final = 150
_SPECIFICATION = "The description of every body is at /core/v1/openapi.json."


class CallerGone(Exception):
    """The caller closed the connection before its request was complete, so no one waits for an answer."""


async def read_bytes(request: Request, limit: int) -> bytes:
    """The whole body.

    Args:
        request: The request.
        limit: Maximum of bytes to accept.

    Raises:
        StructuredError: 413, the body is larger.
        CallerGone: The caller closed the connection.
    """
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise _too_large(limit, hang_up=int(declared) > _READ_ANYWAY * limit)
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise CallerGone from error
    return b"".join(chunks)


def require_plain(request: Request) -> None:
    """Refuses a compressed body, for which the error would otherwise be that it is not JSON.

    Raises:
        StructuredError: 400, the body has a content coding.
    """
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise StructuredError(
            400,
            f"The body has the content coding {coding[:40]}, and bodies are read here as they are.",
            fix="Send the JSON itself, without the header Content-Encoding.",
        )


async def parse(data: bytes) -> Any:
    """JSON from bytes. Large ones are parsed outside of the event loop.

    Raises:
        StructuredError: 400, the bytes are not UTF-8 JSON, or hold too many values.
    """
    if not data.strip():
        raise StructuredError(
            400, "The request has no body, and a JSON body is wanted here.", fix=f"Send one. {_SPECIFICATION}"
        )
    try:
        return await read_json(data)
    except ValueError as error:
        raise StructuredError(
            400,
            f"The body is not valid JSON: {error}.",
            fix="Send UTF-8 JSON with the header Content-Type: application/json.",
        ) from None


async def read_json(data: bytes) -> Any:
    """Parses JSON as `parse` does, for callers with errors of their own.

    Raises:
        ValueError: The bytes are not UTF-8 JSON, are nested too deeply, or have more than `MAX_JSON_VALUES` values.
            Also for a number that does not fit a double (IEEE 754).
    """
    return read_json_now(data) if len(data) <= LARGE_BYTES else await offload(read_json_now, data)


def read_json_now(data: bytes) -> Any:
    """Parses JSON as `read_json` does, in the calling thread."""
    if more_values_than(data, MAX_JSON_VALUES):
        raise ValueError(f"it holds more than {MAX_JSON_VALUES} values, which is the most that are accepted")
    value = from_json(data, allow_inf_nan=False)
    # Python reads 1e999 as infinity, and infinity cannot be written as JSON again.
    if _may_overflow(data) and not _is_finite(value):
        raise ValueError("a number is larger than 1.8e308, the largest that JavaScript can represent")
    return value


def _may_overflow(data: bytes) -> bool:
    """Whether a number may be too large: it has an exponent of two digits, or some three hundred digits."""
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
    adapter: TypeAdapter[Any], value: object, *, strict: bool, where: str = "body", forgiven: set[str] | None = None
) -> Any:
    """A value that matches a schema.

    Args:
        adapter: The schema.
        value: Parsed JSON, or the members of a query string.
        strict: Whether only the reference's exact JSON types are accepted.
        where: What is checked, for the error's text.
        forgiven: Collects the forms that strict types would refuse.

    Raises:
        StructuredError: 422, the value has another shape.
        EndpointFailure: 400, the shape is right but a value in it cannot be used.
    """
    try:
        return adapter.validate_python(value, context={STRICT_TYPES: strict, FORGIVEN: forgiven})
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        mismatches = [problem for problem in problems if problem["type"] != UNUSABLE]
        if not mismatches:
            raise EndpointFailure(400, problems[0]["msg"]) from None
        raise StructuredError(
            422,
            f"The {where} does not match the schema: {sentence(mismatches, where)}.",
            fix=f"Correct it. {_SPECIFICATION}",
        ) from None


def _too_large(limit: int, *, hang_up: bool = False) -> StructuredError:
    # The server reads and drops the rest of a body, so that a caller who still sends it gets this answer and not a
    # broken connection. Only absurd sizes are cut off.
    return StructuredError(
        413,
        f"The body is larger than {limit} bytes.",
        fix="Send less: fetch large data from inside the action instead of sending it along.",
        headers={"Connection": "close"} if hang_up else None,
    )
