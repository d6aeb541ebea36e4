"""Timelines of executions, read from the emulator that ran them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import (
    ActionError,
    InvalidArgument,
    NotFound,
    NotTheApi,
    ServiceError,
    TraceUnavailable,
    Unauthorized,
)
from svcnb.client.models.runs import Run
from svcnb.client.models.traces import Trace

Traced = Run | ActionError | ServiceError | str
"""Reference to an execution: its result, its error, or the id of its request."""


def trace(of: Traced) -> Flow[Trace]:
    """Asks the emulator's control plane for a run.

    Raises:
        TraceUnavailable: No timeline was kept.
        InvalidArgument: ``of`` does not identify a run.
    """
    request_id = of if isinstance(of, str) else of.request_id
    if not request_id:
        raise InvalidArgument(
            "this names no execution: it has no request id",
            hint="Give what svc.run returned or raised, or the X-Request-Id of the answer.",
        )
    call = Call(
        "GET", f"//_emulator/runs/{quote(request_id, safe='')}", _parse, key=False, control=True, patience="read"
    )
    try:
        return (yield from ask(call))
    except (NotFound, NotTheApi) as error:
        raise TraceUnavailable(f"there is no trace of request {request_id}") from error
    except Unauthorized as error:
        raise TraceUnavailable(
            f"the trace of request {request_id} needs the emulator's control token",
            hint="Use a client of the emulator that you started: emulator.client().",
        ) from error


def _parse(body: Any, _answer: Answer) -> Trace:
    if body["trace"] is None:
        raise TraceUnavailable(f"request {body['request_id']} ran nothing: it was refused with {body['http_status']}")
    return Trace.model_validate(body["trace"])
