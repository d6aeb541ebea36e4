"""Requests and responses of the triggers service (specification 4.5; reference facts 10).

A trigger's account-address member contains the service's name (`Vocabulary.account_address_member`). So it is not a
field here, but one of the extra members.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from svcnb.protocol.limits import RUNS_PAGE_DEFAULT, RUNS_PAGE_MAX
from svcnb.protocol.wire.base import Request, Response

Kind = Literal["webhook", "schedule", "chain_event"]
"""Source of a trigger's runs."""

ChainName = Literal["ethereum", "base", "arbitrum", "bsc", "polygon"]
"""Chains that a chain_event trigger can watch."""

Status = Literal["queued", "running", "retrying", "success", "failed"]
"""State of a run. ``retrying`` is shown only if the service is configured to; otherwise such runs are shown as
running."""

CHAIN_IDS: dict[ChainName, int] = {"ethereum": 1, "base": 8453, "arbitrum": 42161, "bsc": 56, "polygon": 137}
"""Chain ids by name."""

OPEN_STATUSES: frozenset[str] = frozenset({"queued", "running", "retrying"})
"""States that are not final."""

_Limit = Annotated[int, Field(ge=0, le=2**31 - 1)]


class CreateTrigger(Request):
    """Body of ``POST /api/triggers``."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="Any text that is not blank.")
    kind: Kind
    action_code: str = Field(description="Source of the action.")
    usage_api_key: str = Field(description="Key that the runs use; never shown again.", repr=False)
    default_params: Any = Field(default_factory=dict, description="Object that every run's params start from.")
    max_runs_per_minute: _Limit | None = Field(None, description="Webhook posts in any 60 s; none means 60.")
    max_queued_runs: _Limit | None = Field(None, description="Runs that may wait or run; none means 100.")
    config: Any = Field(default_factory=dict, description="Object of the kind's own settings.")


class PatchTrigger(Request):
    """Body of ``PATCH /api/triggers/{id}``: absent or null members stay unchanged."""

    model_config = ConfigDict(extra="allow")

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
    """A trigger as the service shows it; the usage key is never part of it."""

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
    """One run of a trigger."""

    id: str
    trigger_id: str = ""
    started_at: str = Field("", description="When it was admitted, RFC 3339.")
    finished_at: str | None = None
    status: Status
    input: Any = None
    response: Any = Field(None, description="The whole answer of the execution: response, logs, has_error.")
    error: str | None = Field(None, description="HTTP status and text of the failure, with the JavaScript stack.")
    attempt: int = Field(1, description="1, and one more for every retry.")


class RunsQuery(Request):
    """Query of ``GET /api/triggers/{id}/runs``; values outside a range are clamped to it."""

    limit: int = Field(RUNS_PAGE_DEFAULT, description=f"Most runs, 1 to {RUNS_PAGE_MAX}.")
    offset: int = Field(0, description="Newest runs left out.")


class RunPage(Response):
    """Response of ``GET /api/triggers/{id}/runs``, newest first."""

    runs: list[TriggerRun]


class Accepted(Response):
    """Response 202 to a webhook."""

    run_id: str
    status: Status = "queued"


class Me(Response):
    """Response of ``GET /api/me``."""

    id: str
    email: str = ""


class TokenInfo(Response):
    """A token as its owner sees it; the service never had the token itself."""

    id: str
    label: str = ""
    created_at: str = ""
    last_used_at: str | None = None
    revoked_at: str | None = None


class TriggerError(Response):
    """Every failure of the triggers service."""

    error: str = Field(description="Code in snake_case, for example not_found.")
    message: str = ""
