"""One execution of an action."""

from __future__ import annotations

from typing import Any

from svcnb.client import display
from svcnb.client.models.base import Model


class Run(Model):
    """What an execution answered, what it printed, and what it cost."""

    response: Any = None
    """What ``main`` returned, or what it gave to ``setResponse``. A text that is itself JSON arrives parsed: the
    service already read it once."""

    logs: str = ""
    """Console output, one line a call."""

    cid: str
    """CID of the source that ran."""

    elapsed: float = 0.0
    """Seconds from sending to answer, as this client saw them."""

    request_id: str = ""
    """The service's id of the request."""

    notes: tuple[str, ...] = ()
    """Quiet advice about how it was run."""

    quiet = frozenset({"elapsed", "request_id", "notes"})

    @property
    def cost_cents(self) -> int:
        """Estimated cost in cents: one a second begun and finished, at least one.

        The service measures the run itself and this client measures the whole exchange, so a slow network makes the
        estimate too high. The truth is the change of ``svc.billing.balance()``.
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
