"""Timeline of one execution: its events and their memory use. It never contains a secret."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from svcnb.protocol.limits import MAX_TRACE_HOST_CHARS, MAX_TRACE_METHOD_CHARS, MAX_TRACE_TEXT_CHARS

MAX_EVENTS = 1_000
_LONGEST = {"method": MAX_TRACE_METHOD_CHARS, "host": MAX_TRACE_HOST_CHARS}


def _cut(name: str, text: str) -> str:
    return text[: _LONGEST.get(name, MAX_TRACE_TEXT_CHARS)]


class TraceEvent(NamedTuple):
    """One event of a run.

    Attributes:
        at_ms: Milliseconds since the start of the run.
        kind: ``start``, ``key``, ``encrypt``, ``decrypt``, ``fetch``, ``console``, ``import`` or ``end``.
        memory_bytes: Resident memory of the isolate beyond that of an idle one, or None where it cannot be read.
        detail: Data of the event: the operation's name, method, host, status and bytes, and how it ended. The member
            ``took_ms`` is the time in milliseconds that the action waited for the service. At the start it is the time
            in the queue.
    """

    at_ms: float
    kind: str
    memory_bytes: int | None
    detail: dict[str, object]

    def as_dict(self) -> dict[str, object]:
        """The event as JSON."""
        memory = {} if self.memory_bytes is None else {"memory_bytes": self.memory_bytes}
        return {"at_ms": self.at_ms, "kind": self.kind, **memory, **self.detail}


class Trace:
    """Collects the events of one run.

    ``why`` gives the reason for the choice of the engine, where there was a choice.

    Args:
        engine: Name of the engine of the run.
        memory: Reads the isolate's memory in bytes, or None.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        engine: str,
        memory: Callable[[], int | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self.why: str | None = None
        self.events: list[TraceEvent] = []
        self.dropped = 0
        self._memory = memory
        self._clock = clock
        self._started = clock()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run started."""
        return self._clock() - self._started

    def timed(self, kind: str, since_s: float, **detail: object) -> None:
        """Records the end of something that began when `elapsed_s` was ``since_s``."""
        now_s = self.elapsed_s
        self._note(now_s, kind, {**detail, "took_ms": round((now_s - since_s) * 1000, 3)})

    def add(self, kind: str, **detail: object) -> float:
        """Records an event now. Beyond `MAX_EVENTS` only the end is kept, and the rest is counted.

        Returns:
            The time of the event, as `elapsed_s`.
        """
        now_s = self.elapsed_s
        self._note(now_s, kind, detail)
        return now_s

    def _note(self, at_s: float, kind: str, detail: dict[str, object]) -> None:
        if len(self.events) >= MAX_EVENTS and kind != "end":
            self.dropped += 1
            return
        short = {name: _cut(name, value) if isinstance(value, str) else value for name, value in detail.items()}
        self.events.append(TraceEvent(round(at_s * 1000, 3), kind, self._memory(), short))

    def as_dict(self) -> dict[str, object]:
        """The timeline as JSON."""
        dropped = {"dropped": self.dropped} if self.dropped else {}
        why = {} if self.why is None else {"why": self.why}
        return {"engine": self.engine, **why, "events": [event.as_dict() for event in self.events], **dropped}
