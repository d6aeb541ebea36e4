"""Error messages and response values of action runs."""

from __future__ import annotations

import json
import math
import re

from svcnb.protocol.in_page import IN_PAGE
from svcnb.protocol.limits import MAX_RESPONSE_DEPTH, ActionLimits
from svcnb.protocol.nesting import deeper_than

# Messages of V8, Rust's allocator and Deno for exhausted memory.
OUT_OF_MEMORY = re.compile(r"out of memory|heap limit|memory allocation of|Cannot allocate memory", re.IGNORECASE)


def timeout_text(limits: ActionLimits) -> str:
    """Returns the error message of a run that took too long (docs/service/runtime.md#errors-of-a-run)."""
    return f"Your function exceeded the maximum runtime of {limits.timeout_ms} ms and was terminated."


def memory_text(limits: ActionLimits) -> str:
    """Returns the error message of a run that used too much memory (docs/service/runtime.md#errors-of-a-run)."""
    return f"Your function exceeded the maximum memory of {limits.memory_limit_mb} MB and was terminated."


def unsupported_text(what: str) -> str:
    """Returns the error message of a run with an operation that the engine `fast` does not support."""
    if IN_PAGE:
        return (
            f"The engine 'fast' encountered {what}, which it cannot execute like the service. A browser page has no "
            "other engine: run this action with an installed svcnb."
        )
    return (
        f"The action engine 'fast' encountered {what}, which it cannot execute like the service. Use the engine "
        "'v8', or 'auto', which repeats such runs: svcnb emulator --action-engine auto (SVC_ACTION_ENGINE)"
    )


def diverged_text(what: str) -> str:
    """Returns the error message of a run on `auto` whose repetition on `v8` made different requests.

    Args:
        what: Operation that `fast` does not support.
    """
    return (
        f"The action engine 'fast' encountered {what}, which it cannot execute like the service. The repetition on "
        "'v8' was stopped, because the action then made different requests. Use the engine 'v8': svcnb emulator "
        "--action-engine v8 (SVC_ACTION_ENGINE)"
    )


FUNDS_TEXT = "Your function ran out of funds and was terminated."
HOST_LOST_TEXT = (
    "The process that ran this action was lost and has been replaced. Nothing was charged. Run the action again."
)


def response_value(stored: bytes) -> object:
    """Returns the value of a stored response: its JSON value, or the text itself if it is not valid JSON.

    JSON text that is nested too deeply, or contains a number that is not finite, also stays text.

    Source: docs/service/runtime.md#response.
    """
    text = stored.decode(errors="replace")
    if not text or deeper_than(stored, MAX_RESPONSE_DEPTH):
        return text
    try:
        value = _PARSE(text)
        # An escaped unpaired surrogate is valid JSON, but UTF-8 cannot encode it.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return text
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]} is not a finite number")
    return value


# Create the decoder once, because its creation takes longer than the decoding of most responses.
_PARSE = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite).decode
