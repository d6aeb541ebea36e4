"""Conversion of results and failures to HTTP answers: JSON, with errors in one of two shapes (specification 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from svcnb.emulator.errors import ServiceError, StructuredError
from svcnb.emulator.platform.offload import is_large, offload

JSON_TYPE = "application/json"


def encode(value: object) -> bytes:
    """A value as compact UTF-8 JSON.

    Args:
        value: A wire model or a value of JSON types.
    """
    try:
        return to_json(value, inf_nan_mode="null", by_alias=True)
    except PydanticSerializationError:
        # JavaScript strings may contain half of a surrogate pair, which UTF-8 cannot encode: escape it, as JavaScript
        # does.
        return json.dumps(_plain(value), separators=(",", ":")).encode()


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer.

    Args:
        value: The body.
        status: HTTP status.
        headers: Further headers.
    """
    return Response(encode(value), status, dict(headers) if headers else None, JSON_TYPE)


async def answered(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer as by `answer`. A large value is encoded outside of the event loop.

    Args:
        value: The body.
        status: HTTP status.
        headers: Further headers.
    """
    content = await offload(encode, value) if is_large(value) else encode(value)
    return Response(content, status, dict(headers) if headers else None, JSON_TYPE)


def failure(error: ServiceError, docs_base: str) -> Response:
    """The answer of a failure.

    Args:
        error: The failure.
        docs_base: Address under which the pages of ``docs_url`` are found.
    """
    if isinstance(error, StructuredError):
        body: object = {
            "error": error.code,
            "message": error.message,
            "fix": error.fix,
            "docs_url": f"{docs_base}/{error.docs}#{error.code}",
        }
    else:
        body = error.message
    return answer(body, error.status, error.headers)


def _plain(value: object) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value
