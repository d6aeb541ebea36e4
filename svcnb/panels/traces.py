"""Data of a run's timeline for the browser."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.models.traces import Trace, TraceEvent

SHOWN: Final = 200
"""Maximum number of events to draw. A run has at most 1,000 events."""


def trace_view(trace: Trace) -> dict[str, Any]:
    """Returns the timeline of a run as rows, with the start and end of their bars in milliseconds."""
    return {
        "engine": trace.engine,
        "elapsed_ms": trace.elapsed_ms,
        "waited_ms": trace.waited_ms,
        "rows": [_row(event) for event in trace.events[:SHOWN]],
        "more": max(0, len(trace.events) - SHOWN) + trace.dropped,
    }


def _row(event: TraceEvent) -> dict[str, Any]:
    # The duration of a start event is the wait in the queue, which is not part of the run's timeline.
    took = 0.0 if event.kind == "start" else event.took_ms or 0.0
    return {
        "label": _label(event),
        "kind": event.kind,
        "from_ms": max(0.0, event.at_ms - took),
        "at_ms": event.at_ms,
        "failed": event.refused is not None or event.ok is False,
        "refused": event.refused or "",
        "memory_bytes": event.memory_bytes,
    }


def _label(event: TraceEvent) -> str:
    """Returns a description of the event.

    For a key operation, the description omits the kind of the event, because the name of the operation contains it.
    """
    kind, _, rest = event.label.partition(" ")
    return rest if event.operation and rest else f"{kind}, {rest}" if kind == "end" and rest else event.label
