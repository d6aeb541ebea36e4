"""Outcome of one run of a batch."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from svcnb.client import display
from svcnb.client.errors import (
    ActionError,
    ExecutorLost,
    Forbidden,
    OutOfCredit,
    RateLimited,
    Unauthorized,
    Unavailable,
    WorkerLost,
)
from svcnb.client.models.base import Model
from svcnb.client.models.runs import Run

_TRANSIENT = frozenset(
    kind.__name__ for kind in (RateLimited, Unavailable, Unauthorized, Forbidden, OutOfCredit, WorkerLost, ExecutorLost)
)


class Outcome(Model):
    """Outcome of one run of a batch: index, parameters, and response or error."""

    index: int
    """Index of the run's parameters in the batch, starting at 0."""

    params: Any = None
    """The parameters that ``main`` received."""

    ok: bool
    """Whether the run succeeded."""

    response: Any = None
    """The value that ``main`` returned or passed to ``setResponse``. None if the run failed."""

    logs: str = ""
    """Console output of a successful run, with one line for each call of ``console.log``. Empty if the run failed."""

    error: str = ""
    """Error message on one line. Empty if the run succeeded."""

    error_type: str = ""
    """Name of the error's class, for example ``ActionError``. Empty if the run succeeded."""

    elapsed: float = 0.0
    """Seconds from the request to the response. 0 if the run failed."""

    cost_cents: int = 0
    """Estimated cost of the run in US cents. 0 if the run failed."""

    request_id: str = ""
    """Id that the service assigned to the request. Empty if no response with an id arrived."""

    exception: Any = Field(default=None, exclude=True, repr=False)
    """Exception of the run. None if the run succeeded, or if the client read the outcome from a file."""

    quiet: ClassVar[frozenset[str]] = frozenset({"elapsed", "request_id", "exception"})

    @classmethod
    def of_run(cls, index: int, params: object, run: Run) -> Outcome:
        """Returns the outcome of a successful run with the given index and parameters."""
        return cls(
            index=index,
            params=params,
            ok=True,
            response=run.response,
            logs=run.logs,
            elapsed=run.elapsed,
            cost_cents=run.cost_cents,
            request_id=run.request_id,
        )

    @classmethod
    def of_error(cls, index: int, params: object, error: Exception) -> Outcome:
        """Returns the outcome of a failed run with the given index and parameters."""
        named = f"{error.name}: " if isinstance(error, ActionError) and error.name else ""
        return cls(
            index=index,
            params=params,
            ok=False,
            error=named + " ".join(str(getattr(error, "message", error)).split()),
            error_type=type(error).__name__,
            request_id=getattr(error, "request_id", ""),
            exception=error,
        )

    @property
    def answered(self) -> bool:
        """Whether the service executed the action: the run succeeded, or failed with an `ActionError`."""
        return self.ok or self.error_type == ActionError.__name__

    @property
    def transient(self) -> bool:
        """Whether a repetition of the run can succeed.

        True if the cause of the error is overload, the key, a permission, the credit or a lost worker.
        """
        return self.error_type in _TRANSIENT

    @property
    def shown_result(self) -> str:
        """The response or the error as text."""
        return repr(self.response) if self.ok else f"{self.error_type}: {self.error}"

    def summary(self) -> dict[str, Any]:
        """Returns the index, the parameters, and the response or the error, by label."""
        return {"index": self.index, "params": self.params, "result": display.shorten(self.shown_result, 200)}
