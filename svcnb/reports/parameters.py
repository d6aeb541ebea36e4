"""Parameters of the reports, with checks of their types and values before a report runs.

papermill itself only warns about an unknown parameter, and accepts any type. The parameter cells of the templates
contain the same names and defaults as the classes below. Users can therefore open a template and run it manually.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from svcnb.client.errors import ConfigError
from svcnb.protocol.durations import seconds

_SECRET_WORDS = ("key", "token", "secret", "password")


class ParameterRefused(ConfigError):
    """Error for a parameter of a report that is unknown or has an invalid value."""


def _span(text: str) -> str:
    if seconds(text) == 0:
        raise ValueError("expected a duration greater than zero, for example 7d")
    return text


def _zone(name: str) -> str:
    if name != str(UTC):
        try:
            ZoneInfo(name)
        except (LookupError, ValueError, OSError):
            raise ValueError(f"unknown time zone {name!r}: use UTC, or a name such as Europe/Vienna") from None
    return name


Span = Annotated[str, AfterValidator(_span), Field(examples=["7d"])]
Zone = Annotated[str, AfterValidator(_zone), Field(examples=["UTC"])]
Percent = Annotated[float, Field(ge=0, le=100)]


class Parameters(BaseModel):
    """Base class of report parameters.

    The parameters contain no secrets. Keys come from the environment, which reports do not show.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    since: Span = Field("7d", description="Length of the period up to now, for example 12h, 7d or 4w.")
    zone: Zone = Field("UTC", description="Time zone of all times and charts.")

    @classmethod
    def checked(cls, given: Mapping[str, Any], report: str) -> Self:
        """Checks parameters and returns them.

        Args:
            given: Names and values. Values can be text, as on a command line.
            report: Name of the report, for the error message.

        Raises:
            ParameterRefused: A name is unknown, or a value has the wrong type or is out of range.
        """
        unknown = sorted(set(given) - set(cls.model_fields))
        if unknown:
            raise ParameterRefused(
                _unknown(unknown[0], report), hint=f"Use the parameters {', '.join(cls.model_fields)}."
            )
        texts = {name: value for name, value in given.items() if isinstance(value, str)}
        try:
            read = cls.model_validate_strings(texts).model_dump(include=set(texts)) if texts else {}
            return cls.model_validate({**given, **read}, strict=True)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in problem["loc"])
            said = str(problem["msg"]).removeprefix("Value error, ")
            raise ParameterRefused(
                f"invalid parameter {name} = {problem['input']!r} for the report {report}: {said}",
                hint=f"{name}: {cls.model_fields[name].description} To list all parameters, run `svcnb report --list`.",
            ) from None


class RunHistory(Parameters):
    """Parameters of the report on past runs."""

    action: str | None = Field(None, description="Include only this action, by name or CID.")
    source: Literal["client", "trigger", "service"] | None = Field(
        None,
        description="Include only runs from this source: client (runs of clients), trigger (runs of triggers), or "
        "service (runs that only the service recorded).",
    )
    max_failed_percent: Percent = Field(
        20.0, description="Maximum failure rate of an action, in percent. A higher rate is a problem."
    )
    max_p95_seconds: float | None = Field(
        None,
        gt=0,
        description=(
            "Maximum 95th percentile of the durations of an action's successful runs, in seconds. A higher value is a "
            "problem."
        ),
    )
    max_action_cents: int | None = Field(
        None, ge=0, description=("Maximum cost of one action, in cents. A higher cost is a problem.")
    )
    silent_after: Span | None = Field(
        None,
        description=(
            "Maximum time without a run, for example 6h. A longer time is a problem. The limit applies to `action`, or "
            "otherwise to each action with at least three recorded runs. The maximum is twice `since`."
        ),
    )
    min_runs: int = Field(
        1,
        ge=1,
        description="Minimum number of finished runs of an action. With fewer, failures or latency are not a problem.",
    )
    shown: int = Field(20, ge=1, le=1_000, description="Maximum number of listed actions and failures.")

    @field_validator("silent_after")
    @classmethod
    def _within_the_data(cls, after: str | None, info: ValidationInfo) -> str | None:
        since = info.data.get("since")  # missing if pydantic rejected the value
        if after is not None and since is not None and seconds(after) > 2 * seconds(since):
            raise ValueError(
                f"must be at most twice as long as since ({since}), because the data cover this period and the "
                "previous one"
            )
        return after


class Spend(Parameters):
    """Parameters of the report on spending."""

    since: Span = Field("30d", description="Length of the period up to now, for example 12h, 7d or 4w.")
    budget_cents: int | None = Field(
        None, ge=1, description=("Maximum cost in the period, in cents. A higher cost is a problem.")
    )
    min_days_left: float | None = Field(
        None,
        ge=0,
        description=(
            "Minimum number of days that the credit must last at the recorded rate. A lower number is a problem."
        ),
    )
    max_unexplained_cents: int | None = Field(
        None,
        ge=0,
        description="Maximum difference, in cents, between the balance computed from the records and the balance of "
        "the service. A larger difference is a problem.",
    )
    shown: int = Field(20, ge=1, le=1_000, description="Maximum number of listed actions and keys.")


class PermissionAudit(Parameters):
    """Parameters of the report on permissions."""

    expires_within: Span = Field("30d", description="The report lists the keys that expire within this time.")
    attention: Literal["danger", "warning", "never"] = Field(
        "danger",
        description="Lowest severity that counts as a problem: danger or warning. With never, no finding counts as a "
        "problem.",
    )
    shown: int = Field(20, ge=1, le=1_000, description="Maximum number of listed changes.")


class TriggerHealth(Parameters):
    """Parameters of the report on triggers."""

    min_success_percent: Percent = Field(
        95.0, description="Minimum success rate, in percent. A lower rate is a problem."
    )
    most_runs: int = Field(
        1_000, ge=1, le=100_000, description=("Maximum number of runs to read per trigger, newest first.")
    )
    shown: int = Field(20, ge=1, le=1_000, description="Maximum number of listed failures, newest first.")


def _unknown(name: str, report: str) -> str:
    if any(word in name.lower() for word in _SECRET_WORDS):
        return (
            f"the report {report} does not accept {name}, because a report stores its parameters: "
            "set secrets in the environment (SVC_API_KEY, SVC_TRIGGERS_TOKEN_FILE)"
        )
    return f"the report {report} has no parameter {name!r}"
