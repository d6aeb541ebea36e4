"""Model of an action's execution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from pydantic import PrivateAttr

from svcnb.client import display
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.base import Model
from svcnb.client.models.traces import Trace


class _TraceReader:
    """Reader of a run's timeline. All readers are equal, so that the reader does not affect the equality of runs.

    Pickle saves an empty reader.
    """

    def __init__(self, trace: Callable[[Run], Trace] | None = None) -> None:
        self.trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TraceReader)

    def __hash__(self) -> int:
        return hash(_TraceReader)

    def __reduce__(self) -> tuple[type[_TraceReader], tuple[()]]:
        return _TraceReader, ()


class Run(Model):
    """Result of a run: response, console output and cost."""

    response: Any = None
    """The value that ``main`` returned or passed to ``setResponse``.

    If the value is a string that contains JSON, the service parses this JSON once.
    """

    logs: str = ""
    """Console output, with one line for each call of ``console.log`` and similar functions."""

    cid: str
    """CID of the executed source."""

    elapsed: float = 0.0
    """Seconds from the request to the response, measured by this client."""

    request_id: str = ""
    """Id that the service assigned to the request."""

    notes: tuple[str, ...] = ()
    """Advice about the run, for example to use a usage key instead of the account key."""

    quiet: ClassVar[frozenset[str]] = frozenset({"elapsed", "request_id", "notes"})

    _trace_reader: _TraceReader = PrivateAttr(default_factory=_TraceReader)

    def known_by(self, trace: Callable[[Run], Trace]) -> Self:
        """Sets the reader of this run's timeline, and returns the run."""
        self._trace_reader = _TraceReader(trace)
        return self

    def trace(self) -> Trace:
        """Returns the timeline of this run, read from the emulator that executed the run.

        Raises:
            TraceUnavailable: The service is not an emulator, or has deleted the timeline.
            InvalidArgument: The run comes from an asynchronous client or from a file. Call ``svc.trace(run)`` instead.
        """
        if self._trace_reader.trace is None:
            raise InvalidArgument(
                "run.trace() needs a run of a synchronous client, but this run comes from an AsyncClient or a file",
                hint="Use a client: svc.trace(run), or await svc.trace(run) with an AsyncClient.",
            )
        return self._trace_reader.trace(self)

    @property
    def cost_cents(self) -> int:
        """Estimated cost in US cents: one cent for each whole second, and at least one cent.

        The service measures only the run, but this client measures the whole request. On a slow network, the estimate
        is therefore too high. The exact cost is the change of ``svc.billing.balance()``.
        """
        return max(1, int(self.elapsed))

    def __repr__(self) -> str:
        printed = f", logs={display.shorten(repr(self.logs), 1_000)}" if self.logs else ""
        return f"Run(response={display.shorten(repr(self.response), 1_000)}{printed}, cid={self.cid!r})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("response", display.shorten(repr(self.response), 1_000))]
        if self.logs:
            rows.append(("logs", self.logs))
        rows.append(("cid", self.cid))
        return display.record("Run", rows, note=" ".join(self.notes))
