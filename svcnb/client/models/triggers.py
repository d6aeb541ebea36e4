"""Models of triggers, their runs, and previews of schedules and event signatures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field, field_validator

from svcnb.client import display
from svcnb.client.models.base import Model
from svcnb.protocol.wire.triggers import OPEN_STATUSES


class Trigger(Model):
    """Trigger that runs an action automatically."""

    id: str
    """Id of the trigger, which is also the last part of a webhook's address."""

    name: str = ""

    kind: str
    """``webhook``, ``schedule`` or ``chain_event``."""

    enabled: bool = True
    """Whether the trigger is enabled."""

    config: Mapping[str, Any] = Field(default_factory=dict)
    """Settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``."""

    default_params: Mapping[str, Any] = Field(default_factory=dict)
    """Default parameters of every run. The service merges the event's data into them."""

    action_cid: str = ""
    """CID of the action."""

    action_code: str = Field("", repr=False)
    """Source of the action."""

    max_runs_per_minute: int | None = None
    """Maximum number of webhook requests in any 60 seconds. None means 60."""

    max_queued_runs: int | None = None
    """Maximum number of queued and running runs. None means 100."""

    user_id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "user_id", "created_at", "updated_at", "action_code"})


class TriggerRun(Model):
    """Run that a trigger started."""

    id: str
    """Id of the run, which the action receives in the header ``x-correlation-id``.

    All attempts of one run have the same id.
    """

    trigger_id: str = ""
    status: str
    """``queued``, ``running``, ``success`` or ``failed``. Some services also return ``retrying``."""

    input: Any = None
    """The event, as the action received it."""

    response: Any = None
    """Complete response of the execution. `result` is the value that the action returned."""

    error: str | None = None
    """HTTP status and text of the error, with the stack trace if the action threw an error."""

    attempt: int = 1
    """Number of attempts, including the first."""

    started_at: datetime | None = None
    """Time at which the service accepted the run, before its wait in the queue."""

    finished_at: datetime | None = None

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "trigger_id", "started_at", "finished_at", "input", "response"})

    @field_validator("status")
    @classmethod
    def _lower(cls, status: str) -> str:
        return status.lower()

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
        return self.status == "success"

    @property
    def ended(self) -> bool:
        """Whether the run has ended, successfully or not."""
        return self.status not in OPEN_STATUSES

    @property
    def result(self) -> Any:
        """Result of the action, or None unless the run succeeded."""
        return self.response.get("response") if self.ok and isinstance(self.response, dict) else None

    @property
    def logs(self) -> str:
        """Console output, which is empty unless the run succeeded."""
        return str(self.response.get("logs", "")) if self.ok and isinstance(self.response, dict) else ""

    @property
    def seconds(self) -> float | None:
        """Seconds from acceptance to the end of the run, including waits and retries. None until the run has ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    def summary(self) -> dict[str, Any]:
        """Returns the most important values: the status and the result."""
        return {
            "status": self.status,
            "result": None if self.result is None else display.shorten(repr(self.result), 200),
            "error": self.error,
            "attempt": self.attempt,
        }

    def shown(self) -> dict[str, Any]:
        """Returns the columns of a DataFrame."""
        names = ("id", "status", "attempt", "started_at", "finished_at", "error")
        return {name: getattr(self, name) for name in names} | {"seconds": self.seconds, "result": self.result}


class Me(Model):
    """User who approved a token."""

    id: str = ""
    email: str = ""

    quiet: ClassVar[frozenset[str]] = frozenset({"id"})


class TriggerToken(Model):
    """Token in a listing, without its secret."""

    id: str
    label: str = ""
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "created_at", "last_used_at"})


class CronPreview(Model):
    """Preview of a schedule."""

    cron: str
    sentence: str
    """Description of the schedule in English."""

    times: tuple[datetime, ...]
    """Next times at which the schedule fires, in UTC."""

    def summary(self) -> dict[str, Any]:
        """Returns the description of the schedule, and its times as strings."""
        times = tuple(f"{tick:%Y-%m-%d %H:%M:%S}" for tick in self.times)
        return {"cron": self.cron, "sentence": self.sentence, "times": times}


class EventPreview(Model):
    """Preview of an event signature."""

    signature: str
    """Canonical form of the signature, the input of the hash: full types, no names, no spaces."""

    topic0: str
    """First topic of this event's logs."""

    arguments: tuple[str, ...] = ()
    """Arguments by their names in ``event.decoded``, with their types."""

    warnings: tuple[str, ...] = ()
    """Limits of ``event.decoded`` for this signature."""
