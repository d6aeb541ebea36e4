"""What a report may be told, typed and checked before anything runs.

papermill itself would only warn of an unknown parameter and take any type; the templates' own parameter cells hold the
same names and defaults, so each can also be opened and run by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, Literal, Self, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from svcnb.client.errors import ConfigError
from svcnb.client.recorder import KEPT_RUNS
from svcnb.protocol.durations import seconds

P = TypeVar("P", bound="Parameters")

_SECRET_WORDS = ("key", "token", "secret", "password")


class ParameterRefused(ConfigError):
    """A report was told something that it does not know or cannot use."""


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

    action: str | None = Field(None, description="Only this action, by its CID.")
    source: Literal["client", "trigger"] | None = Field(None, description="Only runs of clients, or only of triggers.")
    max_failed_percent: Percent = Field(100.0, description="More failed runs than this want attention, in percent.")
    shown: int = Field(20, ge=1, le=1_000, description="How many of the latest failures are listed.")
    most_runs: int = Field(20_000, ge=1, le=KEPT_RUNS, description="Most runs looked at, newest first.")


class Spend(Parameters):
    """Parameters of the report on money."""

    since: Span = Field("30d", description="How far back it looks, for example 12h, 7d, 4w.")
    budget_cents: int | None = Field(None, ge=1, description="More spent than this in that time wants attention.")
    min_days_left: float | None = Field(
        None, ge=0, description="Credit for fewer days than this, at the pace of that time, wants attention."
    )
    shown: int = Field(20, ge=1, le=1_000, description="How many actions and keys are listed.")


class PermissionAudit(Parameters):
    """Parameters of the report on permissions."""

    expires_within: Span = Field("30d", description="Keys whose term ends within this time are mentioned.")
    attention: Literal["danger", "warning", "never"] = Field(
        "danger", description="The lightest finding that wants attention: danger, warning, or never."
    )


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
