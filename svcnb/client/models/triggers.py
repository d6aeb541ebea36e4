"""Triggers, their runs, and what helps to write them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field, field_validator

from svcnb.client import display
from svcnb.client.models.base import Model
from svcnb.protocol.wire.triggers import OPEN_STATUSES


class Trigger(Model):
    """An action that runs by itself."""

    id: str
    """Its id; the last part of a webhook's address."""

    name: str = ""

    kind: str
    """``webhook``, ``schedule`` or ``chain_event``."""

    enabled: bool = True
    """Whether it fires."""

    config: Mapping[str, Any] = Field(default_factory=dict)
    """Settings of its kind, for example ``{"cron": "0 9 * * *"}``."""

    default_params: Mapping[str, Any] = Field(default_factory=dict)
    """What every run's params start from; what fired is laid over it."""

    action_cid: str = ""
    """CID of the action."""

    action_code: str = Field("", repr=False)
    """Source of the action."""

    max_runs_per_minute: int | None = None
    """Webhook posts taken in any 60 seconds; none means 60."""

    max_queued_runs: int | None = None
    """Runs that may wait or run at once; none means 100."""

    user_id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    quiet = frozenset({"id", "user_id", "created_at", "updated_at", "action_code"})


class TriggerRun(Model):
    """One run of a trigger."""

    id: str
    """Its id; the action sees it as the header ``x-correlation-id``, so it can tell a repetition from a new run."""

    trigger_id: str = ""
    status: str
    """``queued``, ``running``, ``success`` or ``failed``; some services also show ``retrying``."""

    input: Any = None
    """What fired, as the action got it."""

    response: Any = None
    """The whole answer of the execution; `result` is what the action returned."""

    error: str | None = None
    """HTTP status and text of the failure, with the stack when the action threw."""

    attempt: int = 1
    """1, and one more for every retry."""

    started_at: datetime | None = None
    """When it was taken, before it waited its turn."""

    finished_at: datetime | None = None

    quiet = frozenset({"id", "trigger_id", "started_at", "finished_at", "input", "response"})

    @field_validator("status")
    @classmethod
    def _lower(cls, status: str) -> str:
        return status.lower()

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.status == "success"

    @property
    def ended(self) -> bool:
        """Whether it has ended, well or not."""
        return self.status not in OPEN_STATUSES

    @property
    def result(self) -> Any:
        """What the action returned; None unless it ended well."""
        return self.response.get("response") if self.ok and isinstance(self.response, dict) else None

    @property
    def logs(self) -> str:
        """Console output; empty unless it ended well."""
        return str(self.response.get("logs", "")) if self.ok and isinstance(self.response, dict) else ""

    @property
    def seconds(self) -> float | None:
        """Seconds from being taken to its end, waiting and retries included; None while it has not ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    def summary(self) -> dict[str, Any]:
        """Returns what people look for: how it ended and with what."""
        return {
            "status": self.status,
            "result": None if self.result is None else display.shorten(repr(self.result), 200),
            "error": self.error,
            "attempt": self.attempt,
        }

    def shown(self) -> dict[str, Any]:
        """Returns the columns of a frame."""
        names = ("id", "status", "attempt", "started_at", "finished_at", "error")
        return {name: getattr(self, name) for name in names} | {"seconds": self.seconds, "result": self.result}


class Me(Model):
    """The user whose triggers a token reaches."""

    id: str = ""
    email: str = ""

    quiet = frozenset({"id"})


class TriggerToken(Model):
    """A token as its owner sees it; nobody can show the token itself again."""

    id: str
    label: str = ""
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    quiet = frozenset({"id", "created_at", "last_used_at"})


class CronPreview(Model):
    """When a schedule fires."""

    cron: str
    sentence: str
    """The schedule in English words."""

    times: tuple[datetime, ...]
    """The next ticks, UTC."""

    def summary(self) -> dict[str, Any]:
        """Returns the sentence and the times as texts."""
        times = tuple(f"{tick:%Y-%m-%d %H:%M:%S}" for tick in self.times)
        return {"cron": self.cron, "sentence": self.sentence, "times": times}


class EventPreview(Model):
    """What an event signature means."""

    signature: str
    """The form that is hashed: full types, no names, no spaces."""

    topic0: str
    """First topic of the event's logs."""

    arguments: tuple[str, ...] = ()
    """The arguments as ``event.decoded`` names them, with their types."""

    warnings: tuple[str, ...] = ()
    """What to know before relying on ``event.decoded``."""
