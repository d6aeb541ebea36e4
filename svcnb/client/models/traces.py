"""Model of the timeline that the emulator records for a run."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import ClassVar, Final

from pydantic import Field

from svcnb.client import display
from svcnb.client.models.base import Model

_SHOWN: Final = 60
_KILOBYTE: Final = 1024
_COLOURS: Final = {
    "start": "#8886", "key": "#c80", "encrypt": "#c80", "decrypt": "#c80", "fetch": "#38c", "import": "#38c",
    "console": "#888", "end": "#3a3",
}  # fmt: skip


class TraceEvent(Model):
    """Event of a run, for example a key operation, an outbound request or a console line.

    A field is None if the field does not apply to this kind of event.
    """

    at_ms: float
    """Milliseconds since the start of the run."""

    kind: str
    """Kind of the event, for example ``fetch``.

    The kinds are ``start``, ``key``, ``encrypt``, ``decrypt``, ``fetch``, ``console``, ``import``, ``trap``, ``lost``
    and ``end``. ``trap`` means that the engine cannot continue the run, for example because of an unsupported
    operation. ``lost`` means that the process that executed the run ended unexpectedly.
    """

    memory_bytes: int | None = None
    """Memory of the run in bytes, without the memory of the idle isolate. None if the machine does not report this
    value."""

    took_ms: float | None = None
    """Time that the action waited for this key operation, response or module, in milliseconds.

    For ``start``, the time that the run waited in the queue.
    """

    operation: str | None = None
    """Key operation of the event, for example ``wallet_key`` or ``action_address``."""

    refused: str | None = None
    """Error message of the operation that this event describes. None if the operation succeeded."""

    method: str | None = None
    """HTTP method of an outbound request."""

    host: str | None = None
    """Host of an outbound request. The trace omits the path and the query, because both can contain secrets."""

    status: int | None = None
    """HTTP status of the response to an outbound request. For ``lost``, the exit code of the process."""

    bytes: int | None = None
    """Size of a request body, a response body, a console line or a module, in bytes."""

    phase: str | None = None
    """``start`` if the event records the start of an outbound request. None for its response and for other events."""

    ok: bool | None = None
    """Whether the action succeeded. None for every event except ``end``."""

    error_kind: str | None = None
    """Cause of the failure: ``throw``, ``syntax``, ``timeout``, ``memory``, ``funds``, ``host`` or ``unsupported``.

    ``host`` is a failure of the service, ``funds`` is insufficient credit, and ``unsupported`` is an operation that the
    engine does not support. None for a successful run and for every event except ``end``.
    """

    quiet: ClassVar[frozenset[str]] = frozenset({"at_ms", "memory_bytes", "took_ms"})

    @property
    def label(self) -> str:
        """Short description of the event. The text contains no times or sizes, which differ between runs."""
        words: list[str] = [self.kind]
        if self.operation and self.operation != self.kind:
            words.append(self.operation.replace("_", " "))
        words += [text for text in (self.method, self.host, self.phase) if text]
        if self.status is not None:
            words.append(str(self.status))
        if self.refused is not None:
            words.append("refused")
        if self.ok is not None:
            words.append("ok" if self.ok else self.error_kind or "failed")
        return " ".join(words)


class Trace(Model):
    """Timeline of one run: key operations, outbound requests, console lines and the end of the run.

    The result of ``repr`` is the same for equal runs. The table in a notebook also shows times, which differ between
    runs.
    """

    engine: str
    """Name of the engine that executed the run, for example ``v8`` or ``fast``."""

    why: str = ""
    """Reason why the engine ``auto`` chose this engine. Empty if the emulator uses another engine setting."""

    events: tuple[TraceEvent, ...] = Field(default=())
    """Events in chronological order."""

    dropped: int = 0
    """Number of omitted events. A trace contains at most 1,000 events."""

    def __iter__(self) -> Iterator[TraceEvent]:  # type: ignore[override]  # a timeline is a sequence of events
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds from the start to the last event."""
        return self.events[-1].at_ms if self.events else 0.0

    @property
    def waited_ms(self) -> float:
        """Time that the run waited for key operations, outbound requests and modules, in milliseconds.

        If two waits overlap, the shared time counts once.
        """
        total, reached = 0.0, 0.0
        spans = sorted((event.at_ms - event.took_ms, event.at_ms) for event in self.events[1:] if event.took_ms)
        for begin, end in spans:
            total += max(0.0, end - max(begin, reached))
            reached = max(reached, end)
        return round(total, 3)

    @property
    def peak_memory_bytes(self) -> int | None:
        """Highest ``memory_bytes`` of all events, in bytes. None if the machine does not report memory."""
        return max((event.memory_bytes for event in self.events if event.memory_bytes is not None), default=None)

    def of(self, kind: str) -> tuple[TraceEvent, ...]:
        """Returns the events of one kind, for example ``fetch``."""
        return tuple(event for event in self.events if event.kind == kind)

    def __repr__(self) -> str:
        labels = [event.label for event in self.events[:_SHOWN]]
        more = len(self.events) - len(labels) + self.dropped
        return f"Trace({self.engine!r}, {', '.join(labels)}{f', and {more} more' if more else ''})"

    def _repr_html_(self) -> str:
        """Returns a table with one row per event: its time, a bar for its duration, and the run's memory."""
        whole = max(self.elapsed_ms, 0.001)
        rows = "".join(_row(event, whole) for event in self.events[:_SHOWN])
        more = len(self.events) - _SHOWN + self.dropped
        left_out = f", {more} events omitted" if more > 0 else ""
        note = (
            f"engine {self.engine}, {self.waited_ms:.1f} of {self.elapsed_ms:.1f} ms waiting for the service{left_out}"
        )
        return display.waterfall("Trace", ("ms", "event", "", "memory"), rows, note)


def _row(event: TraceEvent, whole_ms: float) -> str:
    # The time in the queue is before the start of the run, so the bar does not show it.
    took = 0.0 if event.kind == "start" else event.took_ms or 0.0
    left = max(0.0, event.at_ms - took) / whole_ms * 100
    width = max(0.7, took / whole_ms * 100)
    failed = event.refused is not None or event.ok is False
    colour = "#d33" if failed else _COLOURS.get(event.kind, "#888")
    memory = "" if event.memory_bytes is None else f"{event.memory_bytes / _KILOBYTE**2:.1f} MB"
    bar = display.bar(min(left, 99.3), min(width, 100 - min(left, 99.3)), colour)
    return display.cells((f"{event.at_ms:.1f}", escape(event.label), bar, memory), escape(event.refused or ""))
