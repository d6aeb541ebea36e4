"""Timeline of one run, with events and memory use, but without secrets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from svcnb.protocol.limits import MAX_TRACE_EVENTS, MAX_TRACE_HOST_CHARS, MAX_TRACE_METHOD_CHARS, MAX_TRACE_TEXT_CHARS

_LONGEST = {"method": MAX_TRACE_METHOD_CHARS, "host": MAX_TRACE_HOST_CHARS}


class TraceEvent(NamedTuple):
    """Event of a run.

    Attributes:
        at_ms: Milliseconds since the start of the run.
        kind: ``start``, ``key``, ``encrypt``, ``decrypt``, ``fetch``, ``console``, ``import``, ``trap`` (an operation
            that `fast` does not support), ``lost`` (the process exited unexpectedly), or
            ``end``.
        memory_bytes: Growth of the isolate's resident memory since its warm-up, in bytes, or None if unknown.
        detail: Data of the event, such as the operation's name, method, host, status, length and result. The field
            ``took_ms`` is the time in milliseconds that the action waited for the service. For ``start``, the field is
            the time in the queue.
    """

    at_ms: float
    kind: str
    memory_bytes: int | None
    detail: dict[str, object]

    def as_dict(self) -> dict[str, object]:
        """Returns the event for JSON, with the members of ``detail`` beside ``at_ms`` and ``kind``."""
        memory = {} if self.memory_bytes is None else {"memory_bytes": self.memory_bytes}
        return {"at_ms": self.at_ms, "kind": self.kind, **memory, **self.detail}


@dataclass(eq=False, repr=False)
class Trace:
    """Timeline of the events of one run.

    Attributes:
        engine: Name of the engine that executes the run.
        memory: Function that returns the isolate's memory growth in bytes, or None if unknown.
        clock: Monotonic clock that returns seconds.
        why: Reason for the choice of the engine, or None without a choice.
        events: Recorded events, in order.
        dropped: Number of events that were not recorded.
    """

    engine: str
    memory: Callable[[], int | None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    why: str | None = None
    events: list[TraceEvent] = field(default_factory=list)
    dropped: int = 0

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run started."""
        return self.clock() - self._started

    def timed(self, kind: str, since_s: float, **detail: object) -> None:
        """Records the end of an operation that began when `elapsed_s` was ``since_s``."""
        now_s = self.elapsed_s
        self._note(now_s, kind, {**detail, "took_ms": round((now_s - since_s) * 1000, 3)})

    def add(self, kind: str, **detail: object) -> float:
        """Records an event at the current time.

        After `MAX_TRACE_EVENTS` events, the method records only ``end``, and counts all other events in ``dropped``.

        Returns:
            Time of the event in seconds since the start of the run.
        """
        now_s = self.elapsed_s
        self._note(now_s, kind, detail)
        return now_s

    def _note(self, at_s: float, kind: str, detail: dict[str, object]) -> None:
        if len(self.events) >= MAX_TRACE_EVENTS and kind != "end":
            self.dropped += 1
            return
        short = {
            name: value[: _LONGEST.get(name, MAX_TRACE_TEXT_CHARS)] if isinstance(value, str) else value
            for name, value in detail.items()
        }
        self.events.append(TraceEvent(round(at_s * 1000, 3), kind, self.memory(), short))

    def as_dict(self) -> dict[str, object]:
        """Returns the engine, the reason for its choice, the events, and the number of dropped events, for JSON."""
        dropped = {"dropped": self.dropped} if self.dropped else {}
        why = {} if self.why is None else {"why": self.why}
        return {"engine": self.engine, **why, "events": [event.as_dict() for event in self.events], **dropped}
