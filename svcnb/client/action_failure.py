"""Parser for the message of a failed run. It extracts the error's name, message and position in the source."""

from __future__ import annotations

import re
from typing import Final

from svcnb.client.errors import ActionError, ServiceError

SCRIPT: Final = "<user_provided_script>"
"""File name of the caller's source in stack traces of the runtime."""

_PREFIX: Final = re.compile(r"\A\s*Internal server error\s*:?\s*", re.IGNORECASE)
_THROWN: Final = re.compile(
    r"(?:Uncaught\s+)?(?:\(in promise\)\s+)?(?:(?P<name>[\w$]*(?:Error|Exception))\s*:\s*)?(?P<message>.*)",
)
_UNCAUGHT: Final = re.compile(r"Uncaught\b")
_PLACE: Final = re.compile(re.escape(SCRIPT) + r":(\d+)(?::(\d+))?")
_LIMIT: Final = re.compile(r"exceeded the maximum (?:runtime|memory)|(ran out of funds)", re.IGNORECASE)

_HINTS: Final = {
    "compile": (
        "Correct the source at the line in error.line. The CID then changes, so permit the new action in a group."
    ),
    "limit": "Reduce the work of one run. svc.node.limits() returns the limits of one run.",
    "funds": (
        "Add credit, at least $5.00: svc.billing.top_up(500). A run costs one cent per second. Nothing was charged."
    ),
}


def action_error(error: ServiceError, cid: str) -> ActionError:
    """Converts a response with status 500 to the error of the action (docs/service/runtime.md#errors-of-a-run).

    Args:
        error: Error that contains the service's response to the run.
        cid: CID of the action.
    """
    text = _PREFIX.sub("", error.message, count=1)
    found = _UNCAUGHT.search(text)
    text = text[found.start() :] if found else text
    head, _, stack = text.partition("\n")
    thrown = _THROWN.match(head.strip())
    name = (thrown["name"] if thrown else "") or ""
    message = (thrown["message"] if thrown else head) or head
    place = _PLACE.search(text)
    limit = _LIMIT.search(head)
    if limit:
        stage = "limit"
    elif name == "SyntaxError":
        stage = "compile"
    else:
        stage = "run"
    return ActionError(
        message.strip() or "the action failed without a message",
        stage=stage,
        name=name,
        line=int(place[1]) if place else None,
        column=int(place[2]) if place and place[2] else None,
        stack=stack.strip("\n"),
        cid=cid,
        status=error.status,
        request_id=error.request_id,
        hint=_HINTS.get("funds" if limit and limit[1] else stage),
    )
