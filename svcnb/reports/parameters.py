"""Parameters of the reports, typed and checked before anything runs.

papermill itself would only warn about an unknown parameter, and accept any type. The parameter cells of the templates
contain the same names and defaults. So each template can also be opened and run by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from svcnb.client.errors import ConfigError
from svcnb.protocol.durations import seconds

_SECRET_WORDS = ("key", "token", "secret", "password")


class ParameterRefused(ConfigError):
    """A parameter of a report is unknown or has an invalid value."""


def _span(text: str) -> str:
    if seconds(text) == 0:
        raise ValueError("a span of time is longer than nothing, for example 7d")
    return text


def _zone(name: str) -> str:
    if name != str(UTC):
        try:
            ZoneInfo(name)
        except (LookupError, ValueError, OSError):
            raise ValueError(f"{name!r} is no time zone; write UTC, or for example Europe/Vienna") from None
    return name


Span = Annotated[str, AfterValidator(_span), Field(examples=["7d"])]
Zone = Annotated[str, AfterValidator(_zone), Field(examples=["UTC"])]
Percent = Annotated[float, Field(ge=0, le=100)]


class Parameters(BaseModel):
    """Parameters of a report. None of them is secret: keys come from the environment, which no report shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    since: Span = Field("7d", description="How far back it looks, for example 12h, 7d, 4w.")
    zone: Zone = Field("UTC", description="Time zone of its charts.")

    @classmethod
    def checked(cls, given: Mapping[str, Any], report: str) -> Self:
        """Returns checked parameters.

        Args:
            given: Names and values; values may be texts, as from a command line.
            report: Name of the report, for the error.

        Raises:
            ParameterRefused: A name is unknown, or a value is of another type or out of its range.
        """
        unknown = sorted(set(given) - set(cls.model_fields))
        if unknown:
            raise ParameterRefused(_unknown(unknown[0], report), hint=f"It takes: {', '.join(cls.model_fields)}.")
        texts = {name: value for name, value in given.items() if isinstance(value, str)}
        try:
            read = cls.model_validate_strings(texts).model_dump(include=set(texts)) if texts else {}
            return cls.model_validate({**given, **read}, strict=True)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in problem["loc"])
            said = str(problem["msg"]).removeprefix("Value error, ")
            raise ParameterRefused(
                f"the report {report} cannot use {name} = {problem['input']!r}: {said}",
                hint=f"{name}: {cls.model_fields[name].description} `svcnb report --list` shows all of them.",
            ) from None


class RunHistory(Parameters):
    """Parameters of the report on past runs."""

    action: str | None = Field(None, description="Only this action, by its name or CID.")
    source: Literal["client", "trigger", "service"] | None = Field(
        None, description="Only runs of clients, only of triggers, or only those that the service alone recorded."
    )
    max_failed_percent: Percent = Field(
        20.0, description="A larger share of failed runs of an action is an alarm, in percent."
    )
    max_p95_seconds: float | None = Field(
        None, gt=0, description="A longer 95th percentile of an action's successful runs is an alarm, in seconds."
    )
    max_action_cents: int | None = Field(None, ge=0, description="More spent on one action is an alarm, in cents.")
    silent_after: Span | None = Field(
        None,
        description="An action that used to run, or the one of `action`, and has not run for this long is an alarm, "
        "for example 6h. At most twice `since`.",
    )
    min_runs: int = Field(1, ge=1, description="Runs that an action needs for an alarm on failures or latency.")
    shown: int = Field(20, ge=1, le=1_000, description="How many actions and failures are listed.")

    @field_validator("silent_after")
    @classmethod
    def _within_the_data(cls, after: str | None, info: ValidationInfo) -> str | None:
        since = info.data.get("since")  # missing if it was refused
        if after is not None and since is not None and seconds(after) > 2 * seconds(since):
            raise ValueError(f"longer than the data, which are this period and the one before: twice since = {since}")
        return after


class Spend(Parameters):
    """Parameters of the report on money."""

    since: Span = Field("30d", description="How far back it looks, for example 12h, 7d, 4w.")
    budget_cents: int | None = Field(None, ge=1, description="More spent than this in that time is an alarm, in cents.")
    min_days_left: float | None = Field(
        None, ge=0, description="Credit for fewer days than this, at the recorded pace, is an alarm."
    )
    max_unexplained_cents: int | None = Field(
        None,
        ge=0,
        description="A larger difference between the record and the service's balance is an alarm, in cents.",
    )
    shown: int = Field(20, ge=1, le=1_000, description="How many actions and keys are listed.")


class PermissionAudit(Parameters):
    """Parameters of the report on permissions."""

    expires_within: Span = Field("30d", description="Keys whose term ends within this time are mentioned.")
    attention: Literal["danger", "warning", "never"] = Field(
        "danger", description="The lightest finding that wants attention: danger, warning, or never."
    )
    shown: int = Field(20, ge=1, le=1_000, description="How many changes are listed.")


class TriggerHealth(Parameters):
    """Parameters of the report on triggers."""

    min_success_percent: Percent = Field(95.0, description="Fewer runs that went well want attention, in percent.")
    most_runs: int = Field(1_000, ge=1, le=100_000, description="Most runs read of one trigger, newest first.")
    shown: int = Field(20, ge=1, le=1_000, description="How many of the latest failures are listed.")


def _unknown(name: str, report: str) -> str:
    if any(word in name.lower() for word in _SECRET_WORDS):
        return (
            f"the report {report} takes no {name}: a report keeps its parameters, so secrets come from the environment "
            "(SVC_API_KEY, SVC_TRIGGERS_TOKEN_FILE)"
        )
    return f"the report {report} has no parameter {name!r}"
