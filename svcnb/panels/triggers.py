"""Triggers: actions that run by themselves, made, switched and watched."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Final, get_args

from svcnb.client import Client
from svcnb.client.aio.triggers import AsyncTriggersClient
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.triggers import Trigger, TriggerRun
from svcnb.client.resources import trigger_flows
from svcnb.client.resources.trigger_options import TriggerKind
from svcnb.client.triggers import TriggersClient
from svcnb.panels.base import Panel, command
from svcnb.panels.loop import BACKGROUND
from svcnb.protocol.nesting import parse
from svcnb.protocol.wire.triggers import ChainName
from svcnb.toolkit.cost import of_calls

WATCHED_RUNS: Final = 50
"""Runs of one trigger that are shown, the newest."""

SHOWN_TIMES: Final = 5
"""Next times of a schedule that are shown."""


class TriggersPanel(Panel, bundle="triggers"):
    """Makes triggers, switches them on and off, and shows their runs as they arrive.

    The panel's state is empty: tokens, addresses of webhooks (whoever knows one can post) and what runs received are
    told to the open panel alone, and no notebook saves them.

    Args:
        client: The service, with the account's master key to make the group and the key of a new trigger.
        triggers: A client of the triggers service, whose token it uses; by default a new token, which somebody
            approves from the panel.

    Raises:
        ConfigError: There is no address of a triggers service.
    """

    title = "Triggers"

    def __init__(self, client: Client, triggers: TriggersClient | None = None) -> None:
        if triggers is not None and not isinstance(triggers, TriggersClient):
            raise InvalidArgument(
                f"triggers is a {type(triggers).__name__}", hint="Pass a svcnb.TriggersClient, or leave it out."
            )
        self.triggers = TriggersClient(config=client.config) if triggers is None else triggers
        self._begun = False
        super().__init__(client)

    @cached_property
    def awaited(self) -> AsyncTriggersClient:
        """The same triggers service to await in commands, with the same token."""
        told = self.triggers
        return AsyncTriggersClient(told._door.url, token=told.token, config=told._config)  # noqa: SLF001 - its twin

    def close(self) -> None:
        """Ends the panel and its connections; the client of the triggers service that it was given stays open."""
        awaited: AsyncTriggersClient | None = self.__dict__.pop("awaited", None)
        if awaited is not None:
            BACKGROUND.submit(awaited.close())
        super().close()

    # --- being let in -------------------------------------------------------------------------------------------

    @command
    async def begin(self) -> dict[str, Any]:
        """Says who is let in; if nobody, where the token is approved. That page's address holds only its hash."""
        who = await self.awaited.who()
        if who is None:
            return {"approved": False, "page": self.triggers.approval_url}
        self._introduce()
        return {"approved": True, "email": who.email, "chains": list(get_args(ChainName)), "cost": _cost_of_new()}

    @command
    async def approved(self) -> dict[str, Any]:
        """Waits until somebody has approved the token."""
        self.channel.progress("Waiting for the approval")
        await self.awaited.authorize(open_page=lambda _page: None)
        return await self.begin()

    def _introduce(self) -> None:
        if not self._begun:
            self._begun = True
            self.record(f"triggers = svcnb.TriggersClient({self.awaited._door.url!r})\ntriggers.authorize()")  # noqa: SLF001 - our own client

    # --- triggers -----------------------------------------------------------------------------------------------

    @command
    async def read(self) -> list[dict[str, Any]]:
        """The triggers, newest first."""
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
        """Says in words when a schedule fires, and its next times by the service's clock."""
        found = trigger_flows.preview_cron(cron, self.client.now(), SHOWN_TIMES)
        return {"says": found.sentence, "times": [f"{tick:%a %Y-%m-%d %H:%M:%S} UTC" for tick in found.times]}

    @command
    async def event(self, signature: str) -> dict[str, Any]:
        """Says what an event signature means."""
        found = trigger_flows.preview_event(signature)
        return {"says": f"topic {found.topic0}", "arguments": [*found.arguments], "warnings": [*found.warnings]}

    @command
    async def create(
        self, *, name: str, kind: TriggerKind, source: str, params: str, config: dict[str, Any], usage_key: str
    ) -> dict[str, Any]:
        """Makes a trigger; without a usage key also a group that permits the action and a key that only executes there.

        Args:
            name: What people call it.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            source: The action.
            params: JSON of an object that every run's params start from; empty for none.
            config: Settings of the kind.
            usage_key: A key that may execute the action; empty to make one.
        """
        given = _settings(kind, config)
        default = _object(params)
        # What is left out is no argument.
        options: dict[str, Any] = {"config": given} | ({"default_params": default} if default else {})
        shown = "".join(f", {name}={value!r}" for name, value in options.items() if value)
        if usage_key.strip():
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
        """Lets a trigger fire, or not."""
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
        """The newest runs of a trigger, without what they received and answered."""
        return [_run(each) for each in await self.awaited.runs(trigger, limit=WATCHED_RUNS)]

    @command
    async def run(self, trigger: str, run: str) -> dict[str, Any]:
        """One run with what it received, answered and logged."""
        found = next((each for each in await self.awaited.runs(trigger, limit=None) if each.id == run), None)
        if found is None:
            raise InvalidArgument("this run is no longer kept", hint="Look at the list again.")
        shown = {"input": _json(found.input), "result": _json(found.result) if found.ok else "", "logs": found.logs}
        return _run(found) | shown | {"error": found.error or ""}

    @command
    async def fire(self, trigger: str, body: str) -> dict[str, str]:
        """Posts to a webhook as its sender would: JSON if it is that, else text."""
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
            return "when somebody posts"


def _settings(kind: str, told: dict[str, Any]) -> dict[str, Any]:
    """The settings of a kind, checked as the client checks them."""
    match kind:
        case "webhook":
            return {}
        case "schedule":
            return trigger_flows.schedule_config(str(told.get("cron", "")))
        case "chain_event":
            block = str(told.get("start_block") or "").strip() or None
            names = ("chain", "contract_address", "event_signature")
            chain, contract, event = (str(told.get(name, "")).strip() for name in names)
            begin = int(block) if block is not None and block.isdecimal() else block
            return trigger_flows.chain_config(chain, contract, event, None, begin)
    raise InvalidArgument(f"there are no triggers of kind {kind!r}", hint="webhook, schedule or chain_event.")


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        found = parse(text)
    except ValueError as error:
        raise InvalidArgument(f"the default parameters are no JSON: {error}", hint='For example {"limit": 5}') from None
    if not isinstance(found, dict):
        raise InvalidArgument("the default parameters are no JSON object", hint='For example {"limit": 5}')
    return found


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _cost_of_new() -> str:
    return str(of_calls({"groups.create": 1, "usage_keys.create": 1})).partition(":")[0]
