"""Triggers panel, which creates, enables, disables and monitors actions that run automatically."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final, get_args

from svcnb.client import Client
from svcnb.client.aio.triggers import AsyncTriggersClient
from svcnb.client.errors import ConfigError, InvalidArgument, Unauthorized
from svcnb.client.models.triggers import Trigger, TriggerRun
from svcnb.client.resources import trigger_configs
from svcnb.client.resources.trigger_options import TriggerKind
from svcnb.client.triggers import TriggersClient
from svcnb.panels.base import Panel, command
from svcnb.panels.loop import BACKGROUND
from svcnb.panels.wire import field, parsed, pretty
from svcnb.protocol.action import Action
from svcnb.protocol.nesting import parse
from svcnb.protocol.wire import rejections
from svcnb.protocol.wire.triggers import ChainName
from svcnb.toolkit.cost import of_calls

WATCHED_RUNS: Final = 50
"""Maximum number of runs to show for one trigger, newest first."""

SHOWN_TIMES: Final = 5
"""Number of future times to show for a schedule."""

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")


class TriggersPanel(Panel, bundle="triggers"):
    """Panel that creates, enables and disables triggers, and shows their runs live.

    The widget's state is empty. The kernel sends webhook addresses and the input of runs only to the open panel, so
    notebooks do not save them. The kernel does not send the token. The address of a webhook is secret, because anyone
    with this address can start the trigger.

    Args:
        client: Client of the service. With the account key, the panel creates the group and the usage key of a new
            trigger. With any other key, the user must enter a usage key.
        triggers: Client of the triggers service, whose token the panel uses. By default, the panel creates a token,
            which the user approves in the panel.

    Raises:
        ConfigError: The address of the triggers service is not set.
    """

    title = "Triggers"

    def __init__(self, client: Client, triggers: TriggersClient | None = None) -> None:
        self.triggers = TriggersClient(config=client.config) if triggers is None else triggers
        self._begun = False
        super().__init__(client)

    @cached_property
    def awaited(self) -> AsyncTriggersClient:
        """Async client for the panel's commands. It uses the same triggers service and the same token as `triggers`."""
        told = self.triggers
        return AsyncTriggersClient(told._access.url, token=told.token, config=told._config)  # noqa: SLF001 - our own client

    def close(self) -> None:
        """Closes the panel and its connections. A client that was passed as ``triggers`` stays open."""
        if "awaited" in self.__dict__:
            BACKGROUND.submit(self.awaited.close())
            del self.awaited
        super().close()

    # --- authorisation ------------------------------------------------------------------------------------------

    @command
    async def begin(self) -> dict[str, Any]:
        """Returns the user who approved the token, or the address of the approval page if no user has approved it.

        The address of the page contains only the token's hash.
        """
        who = await self.awaited.who()
        if who is None:
            return {"approved": False, "page": self.triggers.approval_url}
        if not self._begun:
            self._begun = True
            self.record(f"triggers = svcnb.TriggersClient({self.awaited._access.url!r})\ntriggers.authorize()")  # noqa: SLF001 - our own client
        cost = str(of_calls({"groups.create": 1, "usage_keys.create": 1})).partition(":")[0]
        return {"approved": True, "email": who.email, "chains": list(get_args(ChainName)), "cost": cost}

    @command
    async def approved(self) -> dict[str, Any]:
        """Waits until the user approves the token, and returns the result of `begin`."""
        self.channel.progress("Waiting for the approval")
        await self.awaited.authorize(open_page=lambda _page: None)
        return await self.begin()

    # --- triggers -----------------------------------------------------------------------------------------------

    @command
    async def read(self) -> list[dict[str, Any]]:
        """Returns the triggers, newest first."""
        return [self._row(each) for each in await self.awaited.list()]

    def _row(self, trigger: Trigger) -> dict[str, Any]:
        return {
            "id": trigger.id,
            "name": trigger.name,
            "kind": trigger.kind,
            "when": _when(trigger),
            "enabled": trigger.enabled,
            "cid": trigger.action_cid,
            "address": self.triggers.webhook_url(trigger) if trigger.kind == "webhook" else "",
        }

    @command
    async def schedule(self, cron: str) -> dict[str, Any]:
        """Returns a description of a schedule, and its next times by the service's clock."""
        found = trigger_configs.preview_cron(cron, self.client.now(), SHOWN_TIMES)
        return {"says": found.sentence, "times": [f"{tick:%a %Y-%m-%d %H:%M:%S} UTC" for tick in found.times]}

    @command
    async def event(self, signature: str) -> dict[str, Any]:
        """Returns the topic hash, the arguments and the warnings of an event signature."""
        found = trigger_configs.preview_event(signature)
        return {"says": f"topic {found.topic0}", "arguments": [*found.arguments], "warnings": [*found.warnings]}

    @command
    async def create(
        self, *, name: str, kind: TriggerKind, source: str, params: str, config: dict[str, Any], usage_key: str
    ) -> dict[str, Any]:
        """Creates and returns a trigger.

        Without a usage key, the method first creates a group that permits the action, and a key for this group.

        Args:
            name: Name of the trigger.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            source: JavaScript source of the action.
            params: JSON text of the object with the default parameters of every run. Empty without parameters.
            config: Settings for this kind of trigger.
            usage_key: Usage key that can execute the action. For an empty string, the method creates a key that can
                only execute this action.
        """
        if not name.strip():
            with field("name"):
                raise InvalidArgument("the trigger name is empty", hint="Enter a name for the trigger.")
        given = _settings(kind, config)
        with field("source"):
            Action(source)
        with field("params"):
            default = _object(params)
        # Pass only the values that the user entered.
        options: dict[str, Any] = {"config": given} | ({"default_params": default} if default else {})
        shown = "".join(f", {name}={value!r}" for name, value in options.items() if value)
        if usage_key.strip():
            with field("usage_key", ConfigError, Unauthorized):
                # The triggers service accepts any string as a key, but each run would fail with an invalid key.
                await anext(self.service.with_key(usage_key).groups.iter(), None)
            made = await self.awaited.create(name, source, usage_key, kind, **options)
            self.record(
                f"import os\ntriggers.create({name!r}, {source!r}, os.environ['SVC_USAGE_KEY'], {kind!r}{shown})"
            )
        else:
            made = await self.awaited.create_for(self.service, source, name=name, kind=kind, **options)
            self.record(f"triggers.create_for(svc, {source!r}, name={name!r}, kind={kind!r}{shown})")
        return self._row(made)

    @command
    async def switch(self, trigger: str, on: bool) -> dict[str, Any]:  # noqa: FBT001 - arguments of commands are named
        """Enables or disables a trigger, and returns its new settings."""
        changed = await self.awaited.update(trigger, enabled=on)
        self.record(f"triggers.update({trigger!r}, enabled={on})")
        return self._row(changed)

    @command
    async def remove(self, trigger: str) -> None:
        """Deletes a trigger and its runs."""
        await self.awaited.delete(trigger)
        self.record(f"triggers.delete({trigger!r})")

    # --- runs ---------------------------------------------------------------------------------------------------

    @command
    async def runs(self, trigger: str) -> list[dict[str, Any]]:
        """Returns the newest runs of a trigger, without their input and output."""
        return [_run(each) for each in await self.awaited.runs(trigger, limit=WATCHED_RUNS)]

    @command
    async def run(self, trigger: str, run: str) -> dict[str, Any]:
        """Returns one run with its input, output and logs."""
        found = next((each for each in await self.awaited.runs(trigger, limit=None) if each.id == run), None)
        if found is None:
            raise InvalidArgument("this run is no longer stored", hint="Refresh the list.")
        shown = {"input": pretty(found.input), "result": pretty(found.result) if found.ok else "", "logs": found.logs}
        return _run(found) | shown | {"error": found.error or ""}

    @command
    async def fire(self, trigger: str, body: str) -> dict[str, str]:
        """Sends a POST request to a webhook, and returns the id of the run.

        Args:
            trigger: Id of the trigger.
            body: Body of the request. JSON text is sent as JSON, and other text as text. An empty body is sent as an
                empty JSON object.
        """
        try:
            content: Any = parse(body) if body.strip() else {}
        except ValueError:
            content = body
        accepted = await self.awaited.fire(trigger, content)
        self.record(f"triggers.fire({trigger!r}, {content!r})")
        return {"run": accepted.run_id}


def _run(run: TriggerRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "status": run.status,
        "attempt": run.attempt,
        "started": f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC" if run.started_at else "",
        "seconds": None if run.seconds is None else round(run.seconds, 3),
        "brief": (run.error or "").partition("\n")[0],
    }


def _when(trigger: Trigger) -> str:
    match trigger.kind:
        case "schedule":
            return str(trigger.config.get("cron", ""))
        case "chain_event":
            return f"{trigger.config.get('event_signature', '')} on {trigger.config.get('chain', '')}"
        case _:
            return "on each POST request"


def _settings(kind: str, told: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings for a kind of trigger, after the same checks as in the client."""
    match kind:
        case "webhook":
            return {}
        case "schedule":
            with field("cron"):
                return trigger_configs.schedule_config(str(told.get("cron", "")))
        case "chain_event":
            block = str(told.get("start_block") or "").strip() or None
            names = ("chain", "contract_address", "event_signature")
            chain, contract, event = (str(told.get(name, "")).strip() for name in names)
            with field("contract_address"):
                if not _ADDRESS.fullmatch(contract):
                    raise InvalidArgument(
                        f"invalid address {contract!r}", hint="Enter the address of the contract: 0x and 40 hex digits."
                    )
            with field("start_block"):
                if block is not None and not block.isdecimal():
                    raise InvalidArgument(
                        f"invalid block {block!r}", hint="Enter a block number, or leave the field empty."
                    )
            with field("event_signature"):
                return trigger_configs.chain_config(chain, contract, event, None, None if block is None else int(block))
    raise InvalidArgument(f"unknown kind of trigger {kind!r}", hint="Choose webhook, schedule or chain_event.")


def _object(text: str) -> dict[str, Any]:
    found = parsed(text, "the default parameters") if text.strip() else {}
    if not isinstance(found, dict):
        raise InvalidArgument(
            f"the default parameters are {rejections.shown(found)}: expected a JSON object",
            hint='Enter a JSON object, for example {"limit": 5}.',
        )
    return found
