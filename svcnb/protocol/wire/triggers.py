"""Requests and responses of the triggers service.

Source: docs/service/triggers.md#calls, docs/service/triggers.md#triggers-service.

The name of a trigger's account-address member contains the service's name (`Vocabulary.account_address_member`). The
models therefore have no field for this member, and keep it as an extra member.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from svcnb.protocol.limits import RUNS_PAGE_DEFAULT, RUNS_PAGE_MAX
from svcnb.protocol.wire.base import Request, Response

Kind = Literal["webhook", "schedule", "chain_event"]
"""Kind of a trigger: a webhook request, a schedule or an event on a chain starts the runs."""

ChainName = Literal["ethereum", "base", "arbitrum", "bsc", "polygon"]
"""Name of a chain that a chain_event trigger can watch."""

Status = Literal["queued", "running", "retrying", "success", "failed"]
"""State of a run.

The service shows ``retrying`` only if its configuration enables this state. Otherwise, a run that waits for another
attempt has the state ``running``.
"""

CHAIN_IDS: dict[ChainName, int] = {"ethereum": 1, "base": 8453, "arbitrum": 42161, "bsc": 56, "polygon": 137}
"""Chain ids, with the names of the chains as keys."""

OPEN_STATUSES: frozenset[str] = frozenset({"queued", "running", "retrying"})
"""States of a run that has not finished."""

_Limit = Annotated[int, Field(ge=0, le=2**31 - 1)]


class CreateTrigger(Request):
    """Body of ``POST /api/triggers``, which creates a trigger."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    name: str = Field(description="Name of the trigger. The name must not be blank.")
    kind: Kind
    action_code: str = Field(description="Source of the action.")
    usage_api_key: str = Field(
        description="Usage key that the runs use. The service never returns the key.", repr=False
    )
    default_params: Any = Field(
        default_factory=dict,
        description="Default parameters of every run. Fields of the event override these parameters.",
    )
    max_runs_per_minute: _Limit | None = Field(
        None, description="Maximum number of webhook requests in any 60 s. Default: 60."
    )
    max_queued_runs: _Limit | None = Field(
        None, description=("Maximum number of queued and running runs. Default: 100.")
    )
    config: Any = Field(default_factory=dict, description="Object with the settings of this kind of trigger.")


class PatchTrigger(Request):
    """Body of ``PATCH /api/triggers/{id}``. A member that is absent or null leaves the value unchanged."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    name: str | None = None
    kind: Kind | None = None
    action_code: str | None = None
    usage_api_key: str | None = Field(None, repr=False)
    default_params: Any = None
    max_runs_per_minute: _Limit | None = None
    max_queued_runs: _Limit | None = None
    config: Any = None
    enabled: bool | None = None


class Trigger(Response):
    """Trigger in a response. The response never contains the usage key. Times are in RFC 3339 format."""

    id: str
    user_id: str = ""
    name: str = ""
    kind: Kind
    action_code: str = ""
    action_cid: str = ""
    default_params: dict[str, Any] = Field(default_factory=dict)
    max_runs_per_minute: int | None = None
    max_queued_runs: int | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True
    created_at: str = ""
    updated_at: str = ""


class TriggerRun(Response):
    """Run of a trigger. Times are in RFC 3339 format."""

    id: str
    trigger_id: str = ""
    started_at: str = Field("", description="Time when the service accepted the run, in RFC 3339 format.")
    finished_at: str | None = None
    status: Status
    input: Any = None
    response: Any = Field(None, description="Complete response of the run: response, logs and has_error.")
    error: str | None = Field(None, description="HTTP status and text of the failure, with the JavaScript stack.")
    attempt: int = Field(1, description="Number of attempts: 1 plus the number of retries.")


class RunsQuery(Request):
    """Query of ``GET /api/triggers/{id}/runs``, for one page of the runs of a trigger.

    The service replaces a ``limit`` or ``offset`` that is out of range with the nearest allowed number.
    """

    limit: int = Field(RUNS_PAGE_DEFAULT, description=f"Maximum number of runs to return, from 1 to {RUNS_PAGE_MAX}.")
    offset: int = Field(0, description="Number of the newest runs to skip.")


class RunPage(Response):
    """Response of ``GET /api/triggers/{id}/runs``, with the newest run first."""

    runs: list[TriggerRun]


class Accepted(Response):
    """Response to a webhook request (status 202), with the id of the queued run."""

    run_id: str
    status: Status = "queued"


class Me(Response):
    """Response of ``GET /api/me``: the user who approved the token of the request."""

    id: str
    email: str = ""


class TokenInfo(Response):
    """Information about a token for its owner. The service stores only a hash, so the token itself is not included."""

    id: str
    label: str = ""
    created_at: str = ""
    last_used_at: str | None = None
    revoked_at: str | None = None


class TriggerError(Response):
    """Body of an error of the triggers service. Only the emulator sends ``message``."""

    error: str = Field(description="Error code in snake_case, for example not_found.")
    message: str = ""
