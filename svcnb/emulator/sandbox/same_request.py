"""Comparison of outbound requests in two attempts of a run.

The module finds requests with the same content, apart from JSON-RPC ids, and requests without side effects.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any, Final, NamedTuple

from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse
from svcnb.protocol.json_rpc import READING_METHODS
from svcnb.protocol.nesting import parse

RpcId = str | int | float | None

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1


class Content(NamedTuple):
    """Comparable content of a request.

    Attributes:
        key: Key that is equal for equivalent requests. The key ignores the ids of JSON-RPC messages, because the order
            of the ids can differ between parallel requests.
        ids: Ids of the JSON-RPC messages in the request, in order.
        is_safe: Whether the request only reads, so that a repetition has no side effects.
    """

    key: Hashable
    ids: tuple[RpcId, ...] = ()
    is_safe: bool = False


def content(request: FetchRequest) -> Content:
    """Returns the comparable content of a request.

    Args:
        request: The request. The function parses a body of at most `LARGE_BYTES` bytes as JSON-RPC if possible.
    """
    found = _rpc(request.body)
    if found is None:
        return Content(request, is_safe=request.method in _SAFE_METHODS)
    messages = found if isinstance(found, list) else [found]
    ids = tuple(message.pop("id") for message in messages)
    # Ignore the length of the body, because it depends on the ids.
    headers = tuple(pair for pair in request.headers if pair[0].lower() != "content-length")
    return Content(
        (request._replace(headers=headers, body=None), json.dumps(found, sort_keys=True)),
        ids,
        is_safe=all(message["method"] in READING_METHODS for message in messages),
    )


async def with_ids(answer: FetchResponse, ids: Mapping[RpcId, RpcId]) -> FetchResponse:
    """Returns a copy of a response with replaced JSON-RPC ids, for use as the response to an equivalent request.

    Args:
        answer: Response to the request of the first attempt.
        ids: Id in the equivalent request, by the id in the request of the first attempt.
    """
    if not ids:
        return answer
    if len(answer.body) > LARGE_BYTES:
        return await offload(_with_ids, answer, ids)
    return _with_ids(answer, ids)


def _with_ids(answer: FetchResponse, ids: Mapping[RpcId, RpcId]) -> FetchResponse:
    found = _json(bytes(answer.body))
    for message in found if isinstance(found, list) else [found]:
        if not isinstance(message, dict) or not _is_id(number := message.get("id")) or number not in ids:
            return answer
        message["id"] = ids[number]
    try:
        body = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        return answer
    return answer._replace(body=body)


def _rpc(body: bytes | None) -> dict[str, Any] | list[dict[str, Any]] | None:
    """Returns the JSON-RPC message or batch in a body, or None if the body is too long or not JSON-RPC."""
    if body is None or len(body) > LARGE_BYTES or b'"jsonrpc"' not in body:
        return None
    found = _json(body)
    messages = found if isinstance(found, list) else [found]
    if not messages or not all(map(_is_message, messages)):
        return None
    is_distinct = len({message["id"] for message in messages}) == len(messages)
    return found if is_distinct else None


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.get("jsonrpc") == "2.0"
        and isinstance(value.get("method"), str)
        and "id" in value
        and _is_id(value["id"])
    )


def _is_id(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _json(body: bytes) -> Any:
    try:
        return parse(body)
    except ValueError:
        return None
