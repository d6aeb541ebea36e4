"""Converter from results and errors to JSON responses. Errors have one of two formats.

Source: docs/service/http.md#errors.
"""

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
    """Encodes a value as compact UTF-8 JSON. NaN and infinite numbers become null.

    Args:
        value: A wire model or a JSON value.
    """
    try:
        return to_json(value, inf_nan_mode="null", by_alias=True)
    except PydanticSerializationError:
        # JavaScript strings can contain half of a surrogate pair, which UTF-8 cannot encode. Escape it, as JavaScript
        # does.
        return json.dumps(_plain(value), separators=(",", ":")).encode()


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a JSON response.

    Args:
        value: The response body.
        status: HTTP status.
        headers: Additional response headers.
    """
    return Response(encode(value), status, dict(headers) if headers else None, JSON_TYPE)


async def answered(value: object, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a successful JSON response like `answer`, but encodes a large value outside of the event loop.

    For arguments, see `answer`.
    """
    content = await offload(encode, value) if is_large(value) else encode(value)
    return Response(content, headers=dict(headers) if headers else None, media_type=JSON_TYPE)


def failure(error: ServiceError, docs_base: str) -> Response:
    """Returns the response for an error.

    Args:
        error: Error to convert to a response.
        docs_base: Base URL of the pages in ``docs_url``.
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
