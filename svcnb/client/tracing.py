"""Flow that reads the timeline of a run from the emulator that executed the action."""

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
"""Reference to a run: the result, the error, or the request id."""


def trace(of: Traced) -> Flow[Trace]:
    """Reads and returns the timeline of a run from the control plane of the emulator.

    Raises:
        TraceUnavailable: The emulator has no timeline of the run, or the service is not an emulator.
        InvalidArgument: ``of`` does not identify a run.
    """
    request_id = of if isinstance(of, str) else of.request_id
    if not request_id:
        raise InvalidArgument(
            f"invalid run {of!r}: the value has no request id",
            hint="Pass the result or the error of svc.run, or the X-Request-Id of the response.",
        )
    call = Call(
        "GET", f"//_emulator/runs/{quote(request_id, safe='')}", _parse, key=False, control=True, timeout_class="read"
    )
    try:
        return (yield from ask(call))
    except (NotFound, NotTheApi) as error:
        raise TraceUnavailable(f"there is no trace of request {request_id}") from error
    except Unauthorized as error:
        raise TraceUnavailable(
            f"the trace of request {request_id} cannot be read without the control token of the emulator",
            hint="Use a client of the emulator that you started: emulator.client().",
        ) from error


def _parse(body: Any, _answer: Answer) -> Trace:
    if body["trace"] is None:
        raise TraceUnavailable(
            f"request {body['request_id']} did not run an action, because the service rejected the request with the "
            f"status {body['http_status']}",
            hint="Correct the cause of the rejection, and run the action again.",
        )
    return Trace.model_validate(body["trace"])
