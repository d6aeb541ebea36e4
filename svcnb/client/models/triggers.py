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
    """Rule that runs an action after each event: a webhook request, a scheduled time or a chain event."""

    id: str
    """Id of the trigger. For a webhook, the id is also the last part of the address."""

    name: str = ""
    """Name for the list of triggers. Calls refer to the trigger by its id, not by its name."""

    kind: str
    """Source of the runs: ``webhook``, ``schedule`` or ``chain_event``."""

    enabled: bool = True
    """Whether the trigger starts runs."""

    config: Mapping[str, Any] = Field(default_factory=dict)
    """Settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``."""

    default_params: Mapping[str, Any] = Field(default_factory=dict)
    """Default parameters of every run. The service merges the data of each event into these parameters."""

    action_cid: str = ""
    """CID of the action that the trigger runs."""

    action_code: str = Field("", repr=False)
    """Source of the action that the trigger runs."""

    max_runs_per_minute: int | None = None
    """Maximum number of webhook requests in any 60 seconds. None means 60."""

    max_queued_runs: int | None = None
    """Maximum number of queued and running runs. None means 100."""

    user_id: str = ""
    """Id of the user who owns the trigger; see `Me.id`."""

    created_at: datetime | None = None
    """Time at which the service created the trigger. None if the service does not report this value."""

    updated_at: datetime | None = None
    """Time of the last change of the trigger's settings. None if the service does not report this value."""

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "user_id", "created_at", "updated_at", "action_code"})


class TriggerRun(Model):
    """Run that a trigger started."""

    id: str
    """Id of the run, which the action receives in the header ``x-correlation-id``.

    All attempts of one run have the same id.
    """

    trigger_id: str = ""
    """Id of the trigger that started the run."""

    status: str
    """Status: ``queued``, ``running``, ``success`` or ``failed``. Some services also return ``retrying``."""

    input: Any = None
    """Data of the event: the webhook request, the scheduled time or the chain event.

    The action receives this data, merged into the trigger's ``default_params``.
    """

    response: Any = None
    """Complete response of the run, with the members ``response``, ``logs`` and ``has_error``.

    The property `result` contains only the value that the action returned.
    """

    error: str | None = None
    """HTTP status and text of the error, with the stack trace if the action threw the error. None if no attempt failed.
    """

    attempt: int = 1
    """Number of attempts so far, including the first."""

    started_at: datetime | None = None
    """Time at which the service accepted the run, before its wait in the queue."""

    finished_at: datetime | None = None
    """Time at which the last attempt ended. None until the run has ended."""

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
        """The value that the action returned. None if the run has not succeeded."""
        return self.response.get("response") if self.ok and isinstance(self.response, dict) else None

    @property
    def logs(self) -> str:
        """Console output. Empty if the run has not succeeded."""
        return str(self.response.get("logs", "")) if self.ok and isinstance(self.response, dict) else ""

    @property
    def seconds(self) -> float | None:
        """Seconds from acceptance to the end of the run, including waits and retries. None until the run has ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    def summary(self) -> dict[str, Any]:
        """Returns the status, the result, the error and the number of attempts, by label."""
        return {
            "status": self.status,
            "result": None if self.result is None else display.shorten(repr(self.result), 200),
            "error": self.error,
            "attempt": self.attempt,
        }

    def shown(self) -> dict[str, Any]:
        """Returns the main fields, the duration as ``seconds``, and the ``result``, by name."""
        names = ("id", "status", "attempt", "started_at", "finished_at", "error")
        return {name: getattr(self, name) for name in names} | {"seconds": self.seconds, "result": self.result}


class Me(Model):
    """User who approved a token."""

    id: str = ""
    """Id of the user, which `Trigger.user_id` contains for each trigger of this user."""

    email: str = ""
    """E-mail address of the user who approved the token. Empty if the service does not report this value."""

    quiet: ClassVar[frozenset[str]] = frozenset({"id"})


class TriggerToken(Model):
    """Information about a token of the user. The object does not contain the token itself."""

    id: str
    """Id of the token, which `TriggersClient.revoke` accepts."""

    label: str = ""
    """Name that the user gave the token."""

    created_at: datetime | None = None
    """Time at which the user approved the token."""

    last_used_at: datetime | None = None
    """Approximate time of the last request with the token. None if no request has used the token."""

    revoked_at: datetime | None = None
    """Time at which the user revoked the token. None if the token is valid."""

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "created_at", "last_used_at"})


class CronPreview(Model):
    """Description and next times of a schedule. Result of `TriggersClient.cron`."""

    cron: str
    """Schedule in cron syntax, for example ``0 9 * * 1``."""

    sentence: str
    """Description of the schedule in English."""

    times: tuple[datetime, ...]
    """Next times at which the schedule fires, in UTC."""

    def summary(self) -> dict[str, Any]:
        """Returns the description of the schedule, and its times as strings."""
        times = tuple(f"{tick:%Y-%m-%d %H:%M:%S}" for tick in self.times)
        return {"cron": self.cron, "sentence": self.sentence, "times": times}


class EventPreview(Model):
    """First topic, arguments and warnings of an event signature. Result of `TriggersClient.event`."""

    signature: str
    """Canonical form of the signature: full type names, without argument names and spaces. The hash of this text is
    ``topic0``."""

    topic0: str
    """First topic of this event's logs, ``0x`` followed by 64 hex digits."""

    arguments: tuple[str, ...] = ()
    """Description of each argument: the name in ``event.decoded`` (``arg0``, ``arg1``, ...), the type, the word
    ``indexed`` for an indexed argument, and the name from the signature."""

    warnings: tuple[str, ...] = ()
    """Warnings about ``event.decoded``, for example that a log contains only the hash of an argument."""
