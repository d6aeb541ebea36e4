"""One execution of an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from pydantic import PrivateAttr

from svcnb.client import display
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.base import Model
from svcnb.client.models.traces import Trace


class _Teller:
    """Reader of a run's timeline. Not part of the run's value: all readers are equal, and none is stored."""

    def __init__(self, trace: Callable[[Run], Trace] | None = None) -> None:
        self.trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Teller)

    def __hash__(self) -> int:
        return hash(_Teller)

    def __reduce__(self) -> tuple[type[_Teller], tuple[()]]:
        return _Teller, ()


class Run(Model):
    """Result of an execution: its response, its output and its cost."""

    response: Any = None
    """What ``main`` returned, or what it passed to ``setResponse``. A string that contains JSON arrives parsed, since
    the service parses it once."""

    logs: str = ""
    """Console output, one line per call."""

    cid: str
    """CID of the source that ran."""

    elapsed: float = 0.0
    """Seconds from request to response, measured by this client."""

    request_id: str = ""
    """The service's id of the request."""

    notes: tuple[str, ...] = ()
    """Advice about how it was run."""

    quiet = frozenset({"elapsed", "request_id", "notes"})

    _teller: _Teller = PrivateAttr(default_factory=_Teller)

    def known_by(self, trace: Callable[[Run], Trace]) -> Self:
        """Sets the reader of this run's timeline; returns the run."""
        self._teller = _Teller(trace)
        return self

    def trace(self) -> Trace:
        """Returns the timeline of this run, read from the emulator that ran it.

        Raises:
            TraceUnavailable: The service is not an emulator, or no longer has the run.
            InvalidArgument: The run came from an asynchronous client or from a file: use a client, ``svc.trace(run)``.
        """
        if self._teller.trace is None:
            raise InvalidArgument(
                "this run has no synchronous client behind it",
                hint="Ask a client: svc.trace(run), or await svc.trace(run) with an AsyncClient.",
            )
        return self._teller.trace(self)

    @property
    def cost_cents(self) -> int:
        """Estimated cost in cents: one for each full second, at least one.

        The service measures the run itself and this client measures the whole exchange, so a slow network makes the
        estimate too high. The exact cost is the change of ``svc.billing.balance()``.
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
