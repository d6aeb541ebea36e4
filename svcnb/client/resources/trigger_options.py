"""Types of the arguments of `TriggersClient`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import ActionRef
from svcnb.client.secret import Secret

TriggerKind: TypeAlias = Literal["webhook", "schedule", "chain_event"]
UsageKeySecret: TypeAlias = UsageKey | Secret | str
"""A usage key with its secret: the object that the creation method returned, or the text of the key."""


class TriggerOptions(TypedDict, total=False):
    """Options of every new trigger.

    Attributes:
        default_params: JSON object with default parameters. The fields of the run's input replace fields with the same
            name.
        max_runs_per_minute: Maximum number of webhook requests in any 60 seconds. None means 60.
        max_queued_runs: Maximum number of queued and running runs. None means 100.
    """

    default_params: Mapping[str, Any] | None
    max_runs_per_minute: int | None
    max_queued_runs: int | None


class TriggerChanges(TriggerOptions, total=False):
    """Options of `TriggersClient.update`.

    Attributes:
        name: New name of the trigger.
        action: The new action or its source. If you pass an action, also pass ``usage_key``.
        usage_key: The key that the runs use.
        kind: The new kind: ``webhook``, ``schedule`` or ``chain_event``.
        config: The new settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``.
        enabled: Whether the trigger starts runs.
    """

    name: str
    action: ActionRef
    usage_key: UsageKeySecret
    kind: TriggerKind
    config: Mapping[str, Any]
    enabled: bool
